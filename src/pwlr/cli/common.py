"""What commands share: reading INPUT and --k, telling errors, showing progress, writing files whole or not at all."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from pwlr.errors import OptionError, PwlrError

if TYPE_CHECKING:
    from pwlr.graphs import GraphBatch

INPUT_HELP = "Name of a data set, or a folder or zip in the TU format."
RECIPE_HELP = "How the data set is read: plain, as-written or as-published (see docs)."
DATA_DIR_HELP = "Folder to look for data sets in first; next are $PWLR_DATA_DIR, the cache and the TUDataset site."
K_HELP = "Steps: multiscale, one pair like 1,12 or several like 0,0:1,1:4,4; inf is legal."
REPAIR_HELP = "Mend instead of refuse: drop-self-loops, merge-duplicates or mirror-one-way; may be repeated."
JOBS_HELP = "Threads; -1 uses all cores. The numbers do not depend on it."
JSON_HELP = "Print JSON for machines on standard output."


def say_and_exit(error: Exception) -> NoReturn:
    """Print one sentence and exit with 2 for what a user can mend; raise everything else again."""
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away, e.g. `| head`
        sys.exit(0)
    if isinstance(error, OSError) and error.filename is not None:
        typer.echo(f"pwlr: {error.filename}: {error.strerror}", err=True)
        sys.exit(2)
    if isinstance(error, PwlrError | OSError | MemoryError):
        typer.echo(f"pwlr: {str(error) or type(error).__name__}", err=True)
        sys.exit(2)
    raise error


def say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one sentence, without the line of source that raised it."""
    typer.echo(f"pwlr: warning: {message}", err=True)


def read_input(
    source: str, recipe: str = "plain", data_dir: str | None = None, repair: list[str] | None = None
) -> GraphBatch:
    """Load what INPUT names."""
    from pwlr.datasets import load_dataset

    return load_dataset(source, recipe, data_dir=data_dir, repair=repair or ())


def read_k(text: str, *, search: bool = False) -> Any:
    """Read --k."""
    if text == "multiscale" or (search and text == "search"):
        return text
    try:
        pairs = [tuple(_steps(steps) for steps in pair.split(",")) for pair in text.split(":")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError
    except ValueError:
        choices = "multiscale, search, " if search else "multiscale, "
        raise OptionError(
            f"--k {text} is not understood: give {choices}a pair like 1,12 or several like 0,0:1,1"
        ) from None
    return pairs if len(pairs) > 1 else pairs[0]


def _steps(text: str) -> float:
    return float("inf") if text.strip() in ("inf", "infinity") else int(text)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error if that is a terminal; yields what moves it on."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps=1: bar.advance(task, steps)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes that name only when the block ends well."""
    if not path.parent.is_dir():
        raise OptionError(f"the folder {path.parent} does not exist: make it first, or write somewhere else")
    if path.is_dir():
        raise OptionError(f"{path} is a folder: name a file in it")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    except OSError as error:
        raise OptionError(f"cannot write to the folder {path.parent}: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files for the owner alone; give the file the permissions that a plain write would have
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def made_folder(path: Path) -> Path:
    """Make a folder for a report."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OptionError(f"{path} is a file: name a folder for the report") from None
    except OSError as error:
        raise OptionError(f"cannot make the folder {path}: {error.strerror}") from None
    return path


def print_json(record: Any) -> None:
    """Print a record as JSON on standard output."""
    typer.echo(json.dumps(record, indent=2, default=_plain))


def as_json(record: Any) -> str:
    """Return a record as JSON text."""
    return json.dumps(record, indent=2, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays into Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def commit() -> dict[str, str]:
    """Return the commit of the checkout that runs, if it is one."""
    import subprocess

    def git(*words: str) -> str:
        folder = Path(__file__).parent
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)  # an environment may lie inside another repository
        return {"commit": git("rev-parse", "--short=12", "HEAD")}
    except (OSError, subprocess.CalledProcessError):
        return {}


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on."""
    import platform
    from importlib.metadata import version

    names = ("numpy", "scipy", "scikit-learn", "numba")
    from pwlr import __version__

    return {"pwlr": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}
