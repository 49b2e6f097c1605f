"""Stratified cross-validation of graph classifiers: everything that is chosen is chosen on the training folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from pwlr.errors import DatasetError, OptionError
from pwlr.estimators import PAPER_VARIANTS, PWLRClassifier
from pwlr.graphs import GraphBatch

__all__ = [
    "BASELINES",
    "FoldResult",
    "Score",
    "check_classes",
    "check_seed",
    "methods_to_compare",
    "run_folds",
    "splits",
    "summarize",
]

OURS = "PWLRClassifier"
MAJORITY = "majority class"
SIZE = "number of nodes and edges"
BASELINES = (MAJORITY, SIZE)


@dataclass(frozen=True)
class FoldResult:
    """What one method did on one fold."""

    method: str
    repetition: int
    fold: int
    accuracy: float
    n_columns: int | None
    chosen: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """A method's accuracy over all folds.

    ``std_of_folds`` is over single folds; ``std_of_repetitions`` over the means of whole repetitions, as papers print
    it, and None with one repetition.
    """

    method: str
    mean: float
    std_of_folds: float
    std_of_repetitions: float | None
    n_columns: float | None
    n_folds: int


def graph_sizes(graphs: GraphBatch) -> NDArray[np.int64]:
    """Return the numbers of nodes and of edges of every graph."""
    return np.column_stack([np.diff(graphs.node_ptr), np.diff(graphs.edge_ptr)])


class SizeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Baseline: a forest that sees nothing but the numbers of nodes and of edges of a graph."""

    def __init__(self, n_estimators: int = 200, random_state: Any = None, n_jobs: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: GraphBatch, y: NDArray[Any]) -> SizeClassifier:
        """Fit on graphs and their classes."""
        self.forest_ = RandomForestClassifier(self.n_estimators, random_state=self.random_state, n_jobs=self.n_jobs)
        self.forest_.fit(graph_sizes(X), y)
        self.classes_ = self.forest_.classes_
        return self

    def predict(self, X: GraphBatch) -> NDArray[Any]:
        """Return the class of each graph."""
        return np.asarray(self.forest_.predict(graph_sizes(X)))


class MajorityClassifier(DummyClassifier):  # type: ignore[misc]
    """Baseline: always the most frequent class of the training graphs."""

    def fit(self, X: GraphBatch, y: NDArray[Any]) -> MajorityClassifier:
        """Look at the classes alone."""
        super().fit(np.zeros((len(X), 1)), y)
        return self

    def predict(self, X: GraphBatch) -> NDArray[Any]:
        """Return the same class for every graph."""
        return np.asarray(super().predict(np.zeros((len(X), 1))))


def methods_to_compare(
    k: Any = "multiscale", *, variants: bool = True, random_state: int = 0, n_jobs: int | None = None, **options: Any
) -> dict[str, Any]:
    """Return ours, the paper's six at the same k, and the two baselines, ready to fit."""
    common = {"k": k, "random_state": random_state, "n_jobs": n_jobs, "unseen": "ignore", **options}
    methods: dict[str, Any] = {OURS: PWLRClassifier(**common)}
    if variants:
        methods |= {name: PWLRClassifier(**{**common, **variant}) for name, variant in PAPER_VARIANTS.items()}
    methods[SIZE] = SizeClassifier(random_state=random_state, n_jobs=n_jobs)
    methods[MAJORITY] = MajorityClassifier(strategy="most_frequent")
    return methods


def check_classes(graphs: GraphBatch, n_folds: int) -> NDArray[Any]:
    """Return the classes, if they can be told apart by cross-validation at all."""
    if len(graphs) == 0:
        raise DatasetError(f"{graphs.name or 'the input'} holds no graphs: there is nothing to classify")
    if graphs.y is None:
        raise DatasetError(
            f"{graphs.name or 'these graphs'}: no classes to learn; a TU set needs NAME_graph_labels.txt"
        )
    if n_folds < 2:
        raise OptionError(f"folds={n_folds} cannot hold anything out: use at least 2")
    classes, sizes = np.unique(graphs.y, return_counts=True)
    if len(classes) < 2:
        raise DatasetError(f"all {len(graphs)} graphs are of class {classes[0]}: there is nothing to tell apart")
    if graphs.y.dtype.kind == "f" and len(classes) > max(20, len(graphs) // 2):
        raise DatasetError(
            f"y holds {len(classes)} different numbers for {len(graphs)} graphs: that is no set of classes"
        )
    if sizes.min() < n_folds:
        smallest = classes[np.argmin(sizes)]
        remedy = f"use at most {sizes.min()} folds" if sizes.min() > 1 else "leave it out, one graph cannot be held out"
        held = "1 graph" if sizes.min() == 1 else f"{sizes.min()} graphs"
        raise OptionError(f"class {smallest} has {held}, fewer than the {n_folds} folds: {remedy}")
    return graphs.y


def check_seed(seed: int, repetitions: int) -> None:
    """Refuse seeds that NumPy has no generator for; each repetition takes the next one."""
    if seed < 0 or seed + repetitions > 2**32:
        raise OptionError(f"seed {seed} with {repetitions} repetitions is out of range: use one from 0 to 2**32 - 1")


def splits(y: NDArray[Any], n_folds: int, repetitions: int, seed: int) -> Iterator[tuple[int, int, Any, Any]]:
    """Yield (repetition, fold, training graphs, test graphs); they hang on the seed and the classes alone."""
    for repetition in range(repetitions):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed + repetition)
        for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
            yield repetition, fold, train, test


def run_folds(
    graphs: GraphBatch,
    methods: Mapping[str, Any],
    *,
    n_folds: int = 10,
    repetitions: int = 1,
    seed: int = 0,
    after_each: Callable[[FoldResult], None] = lambda _: None,
) -> list[FoldResult]:
    """Fit every method on every training part and count the hits on the part held out."""
    y = check_classes(graphs, n_folds)
    results = []
    for repetition, fold, train, test in splits(y, n_folds, repetitions, seed):
        for name, method in methods.items():
            fitted = clone(method).fit(graphs[train], y[train])
            result = FoldResult(
                name,
                repetition,
                fold,
                float(np.mean(fitted.predict(graphs[test]) == y[test])),
                fitted.layout_.n_columns if hasattr(fitted, "layout_") else None,
                dict(getattr(fitted, "best_params_", {})),
            )
            results.append(result)
            after_each(result)
    return results


def summarize(results: list[FoldResult]) -> list[Score]:
    """Average over folds and repetitions, one score a method, in the order in which methods first appear."""
    scores = []
    for method in dict.fromkeys(result.method for result in results):
        mine = [result for result in results if result.method == method]
        accuracy = np.array([result.accuracy for result in mine])
        repetition = np.array([result.repetition for result in mine])
        means = np.array([accuracy[repetition == r].mean() for r in np.unique(repetition)])
        widths = [result.n_columns for result in mine if result.n_columns is not None]
        scores.append(
            Score(
                method,
                float(accuracy.mean()),
                float(accuracy.std(ddof=1)),
                float(means.std(ddof=1)) if len(means) > 1 else None,
                float(np.mean(widths)) if widths else None,
                len(mine),
            )
        )
    return scores
