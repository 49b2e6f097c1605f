"""The paper's result tables again: what is printed, what we measure by its protocol, and by an honest one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pwlr.datasets import load_dataset
from pwlr.errors import OptionError
from pwlr.estimators import PAPER_VARIANTS, SEARCH_GRID
from pwlr.experiments.ablation import ABLATIONS
from pwlr.experiments.evaluate import OURS, Plan, Study, k_text
from pwlr.experiments.protocol import MAJORITY, SIZE, check_classes
from pwlr.experiments.published import Column, PrintedCell, doubt_records, published_result
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit
from pwlr.experiments.summary import Figure, at_k, best_on_test, chosen_inside
from pwlr.experiments.twins import find_twins, representatives

__all__ = ["GRIDS", "METHODS", "QUICK", "ResultRow", "plan_of", "result_rows", "study_of"]

GridName = Literal["printed", "small", "full"]
GRIDS = ("printed", "small", "full")
METHODS = (*PAPER_VARIANTS, OURS, SIZE, MAJORITY)
QUICK = ("MUTAG", "PTC_FR", "BZR_MD")
"""Columns whose recipe is verified and which take a few minutes."""

_FULL = tuple(itertools.product(range(30), range(30)))


@dataclass(frozen=True)
class ResultRow:
    """One method on one column: printed, and measured under each protocol."""

    column: str
    method: str
    printed: PrintedCell | None
    paper: Figure | None
    nested: Figure | None
    marks: tuple[str, ...]

    @property
    def difference(self) -> float | None:
        """How many printed standard deviations ours lies above the printed figure, both by the paper's protocol."""
        if self.printed is None or self.paper is None or not self.printed.std:
            return None
        return (100 * self.paper.mean - self.printed.mean) / self.printed.std


def study_of(column: Column, recipe: str, spec: Spec, data_dir: str | None = None) -> Study:
    """Load the graphs of a column, with the choice about isomorphic copies carried out."""
    graphs = load_dataset(column.dataset, recipe, data_dir=data_dir)
    groups = None
    if spec.twins != "keep":
        twins = find_twins(graphs)
        if spec.twins == "group":
            groups = twins.group
        else:
            graphs = graphs[np.sort(representatives(twins))]
    check_classes(graphs, spec.folds)
    return Study(graphs, column.name, recipe, column.node_features, groups)


def plan_of(column: str, spec: Spec, grid: GridName, repetitions: int, methods: Iterable[str] = METHODS) -> Plan:
    """Say which (k1, k2) to evaluate for each variant.

    ``printed`` takes the paper's own setting under ``paper``. Under ``nested`` that setting must not be used, since it
    was chosen on test folds; there it means the small grid.
    """
    if grid not in GRIDS:
        raise OptionError(f"grid={grid!r} is not known: choose one of {', '.join(map(repr, GRIDS))}")
    wanted = list(methods)
    unknown = [method for method in wanted if method not in METHODS and method not in ABLATIONS]
    if unknown:
        raise OptionError(f"variant {unknown[0]!r} is not known: choose from {', '.join(METHODS)}")
    pairs: dict[str, Sequence[tuple[float, float]]] = {}
    for variant in (method for method in wanted if method in PAPER_VARIANTS):
        cell = published_result(column, variant)
        if grid == "full":
            pairs[variant] = _FULL
        elif grid == "small" or spec.protocol == "nested":
            pairs[variant] = SEARCH_GRID
        elif cell is not None and cell.k1 is not None and cell.k2 is not None:
            pairs[variant] = [(cell.k1, cell.k2)]
    return Plan(pairs, repetitions, tuple(method for method in wanted if method not in PAPER_VARIANTS))


def result_rows(
    columns: Iterable[str],
    recipe: str,
    specs: Mapping[str, Spec],
    store: Store,
    grid: GridName = "printed",
    repetitions: int | None = None,
    methods: Sequence[str] = METHODS,
) -> list[ResultRow]:
    """Read the rows of the table from the store; what was not run is None.

    Repetitions beyond the wanted number are left aside, and so is every (k1, k2) outside the grid: the table does not
    depend on what else a store holds.
    """
    rows = []
    for column in columns:
        for method in methods:
            printed = published_result(column, method)
            figures = {
                protocol: _figure(_units(store, spec, column, recipe, method, repetitions), spec, method, printed, grid)
                for protocol, spec in specs.items()
            }
            marks = tuple(doubt.mark for doubt in doubt_records(column, method))
            row = ResultRow(column, method, printed, figures.get("paper"), figures.get("nested"), marks)
            if row.printed or row.paper or row.nested:
                rows.append(row)
    return rows


def _units(store: Store, spec: Spec, column: str, recipe: str, method: str, repetitions: int | None) -> list[Unit]:
    wanted: dict[str, Any] = {"run_id": spec.run_id, "dataset": column, "recipe": recipe, "variant": method}
    units = store.units(**wanted)
    return [unit for unit in units if repetitions is None or unit.repetition < repetitions]


def _figure(
    units: Sequence[Unit], spec: Spec, method: str, printed: PrintedCell | None, grid: GridName
) -> Figure | None:
    if method not in PAPER_VARIANTS:
        return at_k(units, ("", ""))
    if spec.protocol == "paper" and grid == "printed":
        return None if printed is None else at_k(units, (str(printed.k1), str(printed.k2)))
    among = {(k_text(k1), k_text(k2)) for k1, k2 in (_FULL if grid == "full" else SEARCH_GRID)}
    found = [unit for unit in units if (unit.k1, unit.k2) in among]
    if {(unit.k1, unit.k2) for unit in found} != among:
        return None  # the best of a part of the grid is no figure of the grid
    return best_on_test(found) if spec.protocol == "paper" else chosen_inside(found)
