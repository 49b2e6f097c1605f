"""The command line: one file a command; each parses, calls and prints, and computes nothing itself."""

from __future__ import annotations

import sys
import warnings

import typer

from pwlr.cli import classify, datasets, doctor, embed, reproduce, results

__all__ = ["app", "main"]

app = typer.Typer(
    name="pwlr",
    help="Graphs in, explainable numbers out: the PWLR graph representation.",
    epilog="Start with:  pwlr classify   (188 real molecules are built in)",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (classify, embed, reproduce, results, datasets, doctor):
    command.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        from pwlr import __version__

        typer.echo(f"pwlr {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Hold the options of `pwlr` itself."""


def main() -> None:
    """Run a command; bad input ends in one sentence and exit code 2, never in a traceback."""
    from pwlr.cli.common import say_and_exit, say_warning

    warnings.showwarning = say_warning
    try:
        app()
    except KeyboardInterrupt:
        typer.echo("pwlr: stopped", err=True)
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - sorted out, and anything unknown is raised again
        say_and_exit(error)
