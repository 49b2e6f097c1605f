"""`pwlr results`: what a store of results holds, as a table in the terminal or in a file."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common
from pwlr.errors import OptionError

if TYPE_CHECKING:
    from pwlr.experiments.store import Store
    from pwlr.experiments.summary import Cell

SUFFIXES = (".csv", ".json", ".md", ".tex")
Specs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Listing:
    """The same lines twice: as records for machines, and as they are shown."""

    title: str
    records: list[dict[str, Any]]
    headings: tuple[str, ...]
    rows: list[list[str]]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("results", epilog="Example:  pwlr results --dataset MUTAG -o mutag.tex")(results)


def results(
    store: Path = typer.Option(Path("pwlr-results.sqlite"), help="File of the results, as pwlr reproduce made it."),
    dataset: str | None = typer.Option(None, help="Only these columns of the paper, separated by commas."),
    recipe: str | None = typer.Option(None, help="Only these recipes, separated by commas."),
    protocol: str | None = typer.Option(None, help="Only paper, or only nested."),
    variant: str | None = typer.Option(None, help="Only these variants, separated by commas."),
    run_id: str | None = typer.Option(None, help="Only these protocols, by their hash, separated by commas."),
    units: bool = typer.Option(False, "--units", help="Every evaluated fold instead of a line for each k."),
    protocols: bool = typer.Option(False, "--protocols", help="The protocols that were run, in full."),
    output: Path | None = typer.Option(None, "-o", "--output", help="File to write: .csv, .json, .md or .tex."),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """List, filter and export the results of a store."""
    if output is not None and output.suffix not in SUFFIXES:
        raise OptionError(f"{output}: what to write is told by the ending: use one of {', '.join(SUFFIXES)}")
    if units and protocols:
        raise OptionError("--units and --protocols are two listings: ask for one at a time")
    wanted = {"dataset": dataset, "recipe": recipe, "variant": variant, "run_id": run_id}
    wanted = {column: value for column, value in wanted.items() if value is not None}
    if protocols and wanted.keys() - {"run_id"}:
        raise OptionError("--protocols can be filtered by --protocol and --run-id alone")
    listing = _listing(_opened(store), wanted, protocol, units=units, protocols=protocols)
    if output is not None:
        _export(listing, output)
        typer.echo(f"{output}: {len(listing.records):,} lines", err=json_output)
    if json_output:
        common.print_json(listing.records)
    elif output is None:
        _print(listing)


def _opened(path: Path) -> Store:
    """Open a store that is there; listing must not make one."""
    from pwlr.experiments.store import Store

    if not path.exists():
        raise OptionError(f"{path} does not exist: pwlr reproduce makes it, or name another file with --store")
    if path.is_dir() or not path.stat().st_size:
        raise OptionError(f"{path} is no file of results: name the one that pwlr reproduce made with --store")
    return Store(path)


def _listing(
    store: Store, wanted: Mapping[str, str | None], protocol: str | None, *, units: bool, protocols: bool
) -> Listing:
    specs = _specs(store, protocol, wanted.get("run_id"))
    if protocols:
        listing = _of_protocols(specs)
    else:
        columns = {column: value.split(",") for column, value in wanted.items() if value is not None}
        found = store.units(**{**columns, "run_id": list(specs)})
        if units:
            listing = _of_units([asdict(unit) for unit in found])
        else:
            from pwlr.experiments.summary import cells

            listing = _of_cells(list(cells(found)), specs)
    if not listing.records:
        chosen = protocol is not None or wanted
        raise OptionError(
            f"{store.path} holds no results {'that match' if chosen else 'yet'}: "
            + ("pwlr results without a filter lists all" if chosen else "pwlr reproduce measures some")
        )
    return listing


def _specs(store: Store, protocol: str | None, run_id: str | None) -> dict[str, Mapping[str, Any]]:
    """Return the protocols to look at, by their hash."""
    if protocol not in (None, "paper", "nested"):
        raise OptionError(f"--protocol {protocol} is not known: choose paper or nested")
    hashes = None if run_id is None else run_id.split(",")
    return {
        found: spec
        for found, spec in store.protocols().items()
        if protocol in (None, spec["protocol"]) and (hashes is None or found in hashes)
    }


def _of_cells(found: list[Cell], specs: Specs) -> Listing:
    def order(cell: Cell) -> tuple[Any, ...]:
        steps = (float(cell.k1 or -1), float(cell.k2 or -1))
        return cell.dataset, cell.recipe, specs[cell.run_id]["protocol"], cell.run_id, cell.variant, steps

    records, rows = [], []
    for cell in sorted(found, key=order):
        figure, spec = cell.figure, specs[cell.run_id]
        named = {
            "dataset": cell.dataset,
            "recipe": cell.recipe,
            "protocol": spec["protocol"],
            "run_id": cell.run_id,
            "twins": spec["twins"],
            "variant": cell.variant,
        }
        numbers = {name: _known(getattr(figure, name)) for name in ("mean", "std", "low", "high")}
        records.append(
            {
                **named,
                "k1": cell.k1,
                "k2": cell.k2,
                "repetitions": figure.repetitions,
                "folds": figure.folds,
                **numbers,
                "hours": cell.hours,
            }
        )
        k = f"{cell.k1},{cell.k2}" if cell.k1 else ""
        runs = f"{figure.repetitions} x {figure.folds}"
        rows.append([*named.values(), k, runs, *_in_words(numbers), f"{cell.hours:.3f}"])
    headings = ("data set", "recipe", "protocol", "run id", "twins", "variant", "k", "runs", "accuracy %", "95 %")
    return Listing("Results", records, (*headings, "hours"), rows)


def _known(value: float) -> float | None:
    """Turn the NaN of what one repetition leaves open into None, which every format can write."""
    return None if math.isnan(value) else value


def _in_words(numbers: Mapping[str, float | None]) -> list[str]:
    """Write accuracy and interval in per cent."""
    percent = {name: "" if value is None else f"{100 * value:.2f}" for name, value in numbers.items()}
    spread = f" ± {percent['std']}" if percent["std"] else ""
    return [percent["mean"] + spread, f"{percent['low']} to {percent['high']}" if percent["low"] else ""]


def _of_units(records: list[dict[str, Any]]) -> Listing:
    headings = tuple(records[0]) if records else ()
    return Listing("Evaluated folds", records, headings, [[_text(value) for value in r.values()] for r in records])


def _of_protocols(specs: Specs) -> Listing:
    names = ("protocol", "folds", "inner_folds", "tree_counts", "seed", "twins")
    records = [{"run_id": run_id, **{name: spec.get(name) for name in names}} for run_id, spec in specs.items()]
    return Listing("Protocols", records, ("run_id", *names), [[_text(v) for v in r.values()] for r in records])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


# -- files -------------------------------------------------------------------------------------------------------------


def _export(listing: Listing, path: Path) -> None:
    """Write the listing in the format that the ending names, whole or not at all."""
    writers = {".csv": _as_csv, ".json": _as_json, ".md": _as_markdown, ".tex": _as_latex}
    with common.written_whole(path) as temporary:
        temporary.write_text(writers[path.suffix](listing), encoding="utf-8")


def _as_csv(listing: Listing) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(listing.records[0])
    writer.writerows([_text(value) for value in record.values()] for record in listing.records)
    return text.getvalue()


def _as_json(listing: Listing) -> str:
    return common.as_json(listing.records)


def _as_markdown(listing: Listing) -> str:
    from pwlr.viz.page import Page, Section, to_markdown

    return to_markdown(Page("Results of pwlr", sections=[Section(listing.title, listing.headings, listing.rows)]))


_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "\n": " ",
}


def _as_latex(listing: Listing) -> str:
    """Write a tabular of booktabs; the text of every cell is escaped."""

    def line(cells: list[str] | tuple[str, ...]) -> str:
        # a bracket that opens a row would be read as an option of the line break before it
        return (
            " & ".join(f"{{{_escaped(cell)}}}" if cell.startswith("[") else _escaped(cell) for cell in cells) + r" \\"
        )

    body = [line(row) for row in listing.rows]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{'l' * len(listing.headings)}}}",
            r"\toprule",
            line(listing.headings),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _print(listing: Listing) -> None:
    """Print the lines; what is the same in all of them is said once, above."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    columns = list(zip(listing.headings, zip(*listing.rows, strict=True), strict=True)) if listing.rows else []
    alike = [(heading, cells[0]) for heading, cells in columns if len(cells) > 1 and len(set(cells)) == 1]
    told = {heading for heading, _ in alike}
    if alike:
        console.print(", ".join(f"{heading}: {escape(cell)}" for heading, cell in alike))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    shown = [(heading, cells) for heading, cells in columns if heading not in told]
    for heading, _ in shown:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("k", "runs", "accuracy %", "95 %"))
    for row in zip(*(cells for _, cells in shown), strict=True):
        table.add_row(*map(escape, row))
    console.print(table)
