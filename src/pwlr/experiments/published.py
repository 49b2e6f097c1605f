"""The figures printed in the paper, what each column was made from, and what is known against a figure.

All of it is data, in ``data/published.json``; `scripts/build_published.py` carries the figures there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from pwlr.datasets import dataset_info
from pwlr.errors import OptionError

__all__ = [
    "STD_DDOF",
    "Column",
    "Doubt",
    "PrintedCell",
    "TwoValues",
    "columns",
    "dimension_doubt",
    "doubt_records",
    "doubts",
    "find_column",
    "printed_dimensions",
    "printed_example",
    "printed_methods",
    "published_result",
    "two_values",
]


@dataclass(frozen=True)
class Column:
    """A column of the paper's result tables, and which graphs and node features it stands for.

    Attributes
    ----------
    name : str
        As in published_results.json: ``BZR`` is labels only, ``BZR+attributes`` labels and attributes.
    title : str
        As printed.
    dataset, node_features, recipe : str
        The TU set, and the options with which the printed figures of the method come about.
    recipe_status : "verified", "inferred" or "guessed"
        How sure the recipe is; from the catalogue of data sets.
    printed_in : str
        Label of the table in the LaTeX source.
    """

    name: str
    title: str
    dataset: str
    node_features: str
    recipe: str
    recipe_status: str
    printed_in: str


@dataclass(frozen=True)
class PrintedCell:
    """A printed accuracy in per cent, as mean and standard deviation over repetitions (`STD_DDOF`).

    Attributes
    ----------
    mean, std : float
    k1, k2 : int or None
        Of the method's own rows: the setting that the paper reports.
    bold : bool
        Whether it is printed in bold.
    note : str or None
    shared_with : tuple of str
        The columns over which the paper prints this one cell; empty for a cell of its own.
    """

    mean: float
    std: float
    k1: int | None = None
    k2: int | None = None
    bold: bool = False
    note: str | None = None
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class Doubt:
    """Something known against a printed figure: a short mark for tables, one sentence, and where it comes from."""

    mark: str
    says: str
    source: str


@dataclass(frozen=True)
class TwoValues:
    """A figure for which the main text prints another (mean, std) than the appendix, None where one has none."""

    column: str
    method: str
    main_text: tuple[float, float] | None
    appendix: tuple[float, float] | None


@cache
def _published() -> dict[str, Any]:
    text = resources.files("pwlr").joinpath("data", "published.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


STD_DDOF: int = _published()["std"]["ddof"]
"""The printed deviations divide by the number of repetitions less this."""


# -- result tables -----------------------------------------------------------------------------------------------------


def columns() -> list[Column]:
    """Return the columns of the result tables, in the order of the paper."""
    return [find_column(name) for name in _published()["columns"]]


def find_column(name: str) -> Column:
    """Return a column by its name."""
    known = _published()["columns"]
    if name not in known:
        raise OptionError(f"the paper has no column {name!r}: choose one of {', '.join(known)}")
    entry = known[name]
    return Column(name=name, recipe_status=dataset_info(entry["dataset"]).recipes[entry["recipe"]], **entry)


def printed_methods(column: str) -> list[str]:
    """Return the methods for which a column prints a figure, in the order of the paper."""
    return list(_published()["results"][find_column(column).name])


def published_result(column: str, method: str) -> PrintedCell | None:
    """Return the printed figure of a method, or None where the paper prints none.

    Parameters
    ----------
    column : str
        Name of a column, see `columns`.
    method : str
        ``"PWLR-H0"``, ``"PWLR-OPT-H0+H1"``, ``"WL"``, ...; see `printed_methods`.

    Examples
    --------
    >>> published_result("MUTAG", "PWLR-H0")
    PrintedCell(mean=89.52, std=0.9, k1=1, k2=12, bold=False, note=None, shared_with=())
    """
    cell = _published()["results"][find_column(column).name].get(method)
    if cell is None:
        return None
    values = {key: value for key, value in cell.items() if key != "shared_cell"}
    return PrintedCell(**values, shared_with=tuple(cell.get("shared_cell", ())))


def two_values() -> list[TwoValues]:
    """Return the figures for which main text and appendix differ."""

    def pair(values: list[float] | None) -> tuple[float, float] | None:
        return None if values is None else (values[0], values[1])

    entries = _published()["main_text"]["differs_from_appendix"]
    return [TwoValues(e["dataset"], e["method"], pair(e["main"]), pair(e["appendix"])) for e in entries]


# -- what is known against a figure ------------------------------------------------------------------------------------


def doubts(column: str, method: str) -> list[str]:
    """Return a sentence for everything that is known against a printed figure; nothing where none is printed."""
    return [doubt.says for doubt in doubt_records(column, method)]


def doubt_records(column: str, method: str) -> list[Doubt]:
    """Return what is known against a printed figure, each with a mark and its source."""
    cell = published_result(column, method)
    if cell is None:
        return []
    found = [
        _as_doubt(entry)
        for entry in _published()["doubts"]
        if _matches(column, entry["columns"])
        and _matches(method, entry["methods"])
        and cell.mean <= entry.get("mean_at_most", cell.mean)
    ]
    if cell.shared_with:
        says = f"one cell printed over the columns {', '.join(cell.shared_with)}"
        found.append(Doubt("shared-cell", says, "published_results.json, shared_cell"))
    return found


def dimension_doubt(dataset: str, quantity: str) -> Doubt | None:
    """Return why a figure of the dimension table is not the one that is counted, where that is known."""
    for entry in _published()["dimension_doubts"]:
        if _matches(dataset, entry["datasets"]) and _matches(quantity, entry["quantities"]):
            return Doubt("dimension", entry["says"], entry["source"])
    return None


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _as_doubt(entry: Mapping[str, Any]) -> Doubt:
    return Doubt(entry["mark"], entry["says"], entry["source"])


# -- the other tables --------------------------------------------------------------------------------------------------


def printed_dimensions() -> dict[str, dict[str, float | dict[str, int] | None]]:
    """Return the dimension table by data set and quantity.

    None stands for "-" or N/A; ``{"at_least": n}`` for a printed lower bound.
    """
    return {dataset: dict(entry["values"]) for dataset, entry in _published()["dimensions"].items()}


def printed_example() -> dict[str, Any]:
    """Return the digits of the worked example, the degree pairs printed over them, and notes on those."""
    return {**_published()["example"], "notes": _published()["example_notes"]}
