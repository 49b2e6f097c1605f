"""From stored units to figures: means as papers take them, intervals that admit that folds overlap, honest choices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np
from scipy.stats import t as student

from pwlr.experiments.store import Unit

__all__ = ["Cell", "Figure", "at_k", "best_on_test", "cells", "chosen_inside", "figure_of"]


@dataclass(frozen=True)
class Figure:
    """An accuracy with what is needed to judge it.

    Attributes
    ----------
    mean : float
        Over repetitions, each the mean of its folds.
    std : float
        Of the repetitions' means, as the paper prints it (divided by their number); NaN with one repetition.
    low, high : float
        Corrected resampled 95 % interval: the variance of a fold is not divided by the number of folds alone, because
        training parts overlap (Nadeau and Bengio 2003).
    repetitions, folds : int
        Complete repetitions, and folds of each.
    k : tuple of str
        The (k1, k2) in use, ("", "") where there is none, ("*", "*") where each fold chose its own.
    selected_on_test : bool
        Whether k is the best of several by this very figure.
    """

    mean: float
    std: float
    low: float
    high: float
    repetitions: int
    folds: int
    k: tuple[str, str]
    selected_on_test: bool = False


def figure_of(units: Iterable[Unit], k: tuple[str, str], *, selected_on_test: bool = False) -> Figure | None:
    """Average the units of one variant; None if no repetition is complete."""
    by_repetition: dict[int, list[float]] = defaultdict(list)
    for unit in units:
        by_repetition[unit.repetition].append(unit.accuracy)
    n_folds = max(map(len, by_repetition.values()), default=0)
    complete = [folds for _, folds in sorted(by_repetition.items()) if len(folds) == n_folds]
    if not complete:
        return None
    accuracy = np.array(complete)
    means = accuracy.mean(axis=1)
    low, high = _interval(accuracy.ravel(), n_folds)
    std = float(means.std()) if len(means) > 1 else math.nan
    return Figure(float(means.mean()), std, low, high, len(means), n_folds, k, selected_on_test)


def _interval(accuracy: np.ndarray[tuple[int], np.dtype[np.float64]], n_folds: int) -> tuple[float, float]:
    n, mean = len(accuracy), float(accuracy.mean())
    if n < 2 or n_folds < 2:
        return math.nan, math.nan
    # of each split, 1 graph is tested for (folds - 1) that are learnt from
    half = student.ppf(0.975, n - 1) * math.sqrt((1 / n + 1 / (n_folds - 1)) * accuracy.var(ddof=1))
    return mean - half, mean + half


def at_k(units: Iterable[Unit], k: tuple[str, str]) -> Figure | None:
    """Take the units of one (k1, k2)."""
    return figure_of((unit for unit in units if (unit.k1, unit.k2) == k), k)


def best_on_test(units: Iterable[Unit]) -> Figure | None:
    """Take the (k1, k2) with the best mean on the test folds, as the paper does; marked as such."""
    by_k: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        by_k[unit.k1, unit.k2].append(unit)
    # a run that was killed leaves more repetitions of some k than of others: all compete on the same
    shared = set.intersection(*({unit.repetition for unit in group} for group in by_k.values())) if by_k else set()
    figures = [
        figure_of((unit for unit in group if unit.repetition in shared), k, selected_on_test=len(by_k) > 1)
        for k, group in by_k.items()
    ]
    return max((f for f in figures if f is not None), key=_better(lambda f: f.mean), default=None)


def chosen_inside(units: Iterable[Unit]) -> Figure | None:
    """Let every fold take the (k1, k2) with the best score on its own training part; ties go to the smaller k.

    Folds for which a (k1, k2) of the others is missing are left out: they would choose from fewer.
    """
    by_fold: dict[tuple[int, int], list[Unit]] = defaultdict(list)
    for unit in units:
        by_fold[unit.repetition, unit.fold].append(unit)
    several = {(unit.k1, unit.k2) for group in by_fold.values() for unit in group}
    chosen = [max(group, key=_unit_order) for group in by_fold.values() if len(group) == len(several)]
    return figure_of(chosen, ("*", "*") if len(several) > 1 else next(iter(several), ("", "")))


def _unit_order(unit: Unit) -> tuple[float, float, float]:
    k1, k2 = (float(k or 0) for k in (unit.k1, unit.k2))
    return (-math.inf if unit.selection is None else unit.selection, -(k1 + k2), -k1)


def _better(score: Callable[[Figure], float]) -> Callable[[Figure], tuple[float, float, float]]:
    def order(figure: Figure) -> tuple[float, float, float]:
        k1, k2 = (float(k or 0) for k in figure.k)
        return score(figure), -(k1 + k2), -k1

    return order


# -- what there is -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """All units of one data set, recipe, protocol, variant and (k1, k2), and the hours that they took."""

    dataset: str
    recipe: str
    run_id: str
    variant: str
    k1: str
    k2: str
    figure: Figure
    hours: float


def cells(units: Iterable[Unit]) -> Iterator[Cell]:
    """Summarize units cell by cell; they must come in key order, as a store yields them."""
    for _, group in groupby(units, attrgetter("dataset", "recipe", "run_id", "variant", "k1", "k2")):
        together = list(group)
        one = together[0]
        figure = figure_of(together, (one.k1, one.k2))
        if figure is not None:
            hours = sum(unit.seconds for unit in together) / 3600
            yield Cell(one.dataset, one.recipe, one.run_id, one.variant, one.k1, one.k2, figure, hours)
