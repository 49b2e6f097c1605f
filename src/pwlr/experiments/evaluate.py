"""Evaluate units: the vectors of a whole grid from one pass, folds on all cores, every forest read at all tree counts.

The walk: for each (k1, k2) of an event row the six variants are columns of two tables, filled once for all graphs. A
unit's forest sees of them the rows of its training part and, under ``nested``, the columns that these rows fix. Units
that the store has are left out; finished ones are written a cell at a time.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from pwlr.engine import Filtering, event_rows
from pwlr.errors import OptionError
from pwlr.estimators import PAPER_VARIANTS
from pwlr.experiments.ablation import ABLATIONS, FULL
from pwlr.experiments.protocol import MAJORITY, SIZE, graph_sizes
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit
from pwlr.forest import Engine, announce, grow_forest
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import Grid
from pwlr.method.kinds import Survey, component_counts, edge_kinds
from pwlr.method.vectors import Accumulator, FeatureLayout, LayoutOptions

__all__ = ["OURS", "Fold", "Plan", "Study", "estimate", "folds_of", "k_text", "left_to_do", "run"]

OURS = FULL
"""Our own variant: `typed` at multiscale k, with nothing to choose."""

Pair = tuple[float, float]
Table = NDArray[np.float32]


@dataclass(frozen=True)
class Fold:
    """One split into training and test graphs, and the seed of all forests on it."""

    repetition: int
    fold: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


@dataclass(frozen=True)
class Study:
    """Graphs with their classes, under the name by which results are stored."""

    graphs: GraphBatch
    dataset: str
    recipe: str
    node_features: str = "auto"
    groups: NDArray[np.int64] | None = None  # of isomorphic copies, where the protocol keeps them together

    @property
    def y(self) -> NDArray[Any]:
        """The classes."""
        if self.graphs.y is None:
            raise OptionError(f"{self.dataset} has no classes to learn")
        return self.graphs.y


@dataclass(frozen=True)
class Plan:
    """What to evaluate: for each variant its (k1, k2), and how many repetitions."""

    pairs: Mapping[str, Collection[Pair]]
    repetitions: int = 10
    extras: tuple[str, ...] = (OURS, SIZE, MAJORITY)


def k_text(steps: float) -> str:
    """Write a number of steps as the store does."""
    return "inf" if math.isinf(steps) else str(int(steps))


def folds_of(study: Study, spec: Spec, repetitions: int) -> list[Fold]:
    """Return all splits; they hang on the seed, the classes and the choice about twins alone."""
    folds = []
    for repetition in range(repetitions):
        options = {"n_splits": spec.folds, "shuffle": True, "random_state": spec.seed + repetition}
        splitter = StratifiedKFold(**options) if study.groups is None else StratifiedGroupKFold(**options)
        parts = splitter.split(np.zeros(len(study.y)), study.y, study.groups)
        for number, (train, test) in enumerate(parts):
            seed = int(np.random.SeedSequence([spec.seed, repetition, number]).generate_state(1)[0] >> 1)
            folds.append(Fold(repetition, number, train, test, seed))
    return folds


# -- tables of vectors -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Columns:
    """Where the columns of a variant stand in its table, and which graphs could fill each of them."""

    representation: str
    positions: NDArray[np.int64]
    possible: NDArray[np.bool_]  # graphs by columns: does this graph have that list entry or that degree pair

    def seen_by(self, train: NDArray[np.int64]) -> NDArray[np.int64]:
        """Columns that a layout fitted on the training graphs would have."""
        return self.positions[self.possible[train].any(axis=0)]


class _Tables:
    """Both representations of the paper for all graphs, at any (k1, k2)."""

    def __init__(self, study: Study, variants: Iterable[str]) -> None:
        survey = Survey.of(study.graphs)
        self._graphs, self._survey = study.graphs, survey
        self.columns = {variant: self._find(variant) for variant in variants}

    def at(self, pair: Pair, row: Any) -> dict[str, Table]:
        """Fill the tables at one (k1, k2)."""
        tables = {}
        for representation in {columns.representation for columns in self.columns.values()}:
            accumulator = Accumulator(self._layout(representation, pair), self._graphs)
            accumulator.add(row)
            tables[representation] = accumulator.dense(np.float32)
        return tables

    def _layout(self, representation: Any, pair: Pair) -> FeatureLayout:
        return FeatureLayout.from_survey(self._survey, LayoutOptions((pair,), representation))

    def _find(self, variant: str) -> _Columns:
        options = PAPER_VARIANTS[variant]
        layout = self._layout(options["representation"], (0, 0))
        widths = [layout.group_width(closes) for closes in (False, True)]
        possible = [self._possible(layout, closes) for closes in (False, True)]
        first = {"h0": [0], "h1": [1], "h0+h1": [0, 1]}[options["homology"]]
        starts = [0, widths[0]]
        positions = np.concatenate([starts[group] + np.arange(widths[group]) for group in first])
        return _Columns(options["representation"], positions, np.hstack([possible[group] for group in first]))

    def _possible(self, layout: FeatureLayout, closes: bool) -> NDArray[np.bool_]:
        batch = self._graphs
        if layout.options.representation == "sorted":
            h0 = np.diff(batch.node_ptr) - component_counts(batch)
            lengths = np.diff(batch.edge_ptr) - h0 if closes else h0
            return np.asarray(np.arange(layout.lengths[closes]) < lengths[:, None])
        kinds = edge_kinds(batch)
        possible = np.zeros((batch.n_graphs, len(layout.edge_kinds)), dtype=bool)
        possible[batch.edge_graph, layout.edge_kinds.find(kinds)[kinds.of_each]] = True
        return possible


# -- one unit ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Outcome:
    accuracy: float
    selection: float | None
    n_columns: int
    n_trees: int
    seconds: float


def _evaluate(X: Table, y: NDArray[Any], columns: _Columns, spec: Spec, engine: Engine, fold: Fold) -> _Outcome:
    """Choose the number of trees on the training part, then count the hits on the part held out."""
    start = time.perf_counter()
    # the paper's vectors are as long as the longest graph of the whole set; an honest layout knows the training part
    chosen = columns.positions if spec.protocol == "paper" else columns.seen_by(fold.train)
    X_train, X_test = _at_least_one_column(X[fold.train][:, chosen]), _at_least_one_column(X[fold.test][:, chosen])
    y_train, counts = y[fold.train], list(spec.tree_counts)
    forest = grow_forest(X_train, y_train, n_trees=max(counts), random_state=fold.seed, engine=engine)
    if spec.protocol == "paper":
        scores = _inner_scores(X_train, y_train, fold.seed, spec, engine)
    else:
        scores = np.asarray(forest.staged_oob_score(counts))
    best = int(np.argmax(scores))
    hits = forest.predict(X_test, n_trees=counts[best]) == y[fold.test]
    return _Outcome(float(np.mean(hits)), float(scores[best]), len(chosen), counts[best], time.perf_counter() - start)


def _inner_scores(X: Table, y: NDArray[Any], seed: int, spec: Spec, engine: Engine) -> NDArray[np.float64]:
    """Mean inner accuracy at every tree count, as `GridSearchCV` takes it; one forest an inner fold serves all."""
    counts = list(spec.tree_counts)
    accuracies = []
    for train, test in StratifiedKFold(spec.inner_folds).split(X, y):
        forest = grow_forest(X[train], y[train], n_trees=max(counts), random_state=seed, engine=engine)
        accuracies.append((forest.staged_predict(X[test], counts) == y[test]).mean(axis=1))
    return np.asarray(np.mean(accuracies, axis=0))


def _at_least_one_column(X: Table) -> Table:
    return np.ascontiguousarray(X) if X.shape[1] else np.zeros((len(X), 1), dtype=np.float32)


def _evaluate_extra(study: Study, variant: str, fold: Fold, engine: Engine) -> _Outcome:
    """Evaluate what has nothing to choose: ours, whole or with a part taken away, and the two baselines."""
    start = time.perf_counter()
    y_train, y_test = study.y[fold.train], study.y[fold.test]
    if variant == MAJORITY:
        classes, sizes = np.unique(y_train, return_counts=True)
        hits = y_test == classes[np.argmax(sizes)]
        return _Outcome(float(np.mean(hits)), None, 0, 0, time.perf_counter() - start)
    train, test = study.graphs[fold.train], study.graphs[fold.test]
    if variant == SIZE:
        X_train, X_test = (graph_sizes(part).astype(np.float32) for part in (train, test))
    else:
        X_train, X_test = ABLATIONS[variant].vectors(train, test, study.node_features)
    n_trees = 200
    forest = grow_forest(X_train, y_train, n_trees=n_trees, random_state=fold.seed, engine=engine)
    hits = forest.predict(X_test) == y_test
    return _Outcome(float(np.mean(hits)), None, X_train.shape[1], n_trees, time.perf_counter() - start)


# -- all units ---------------------------------------------------------------------------------------------------------


def run(
    study: Study,
    spec: Spec,
    plan: Plan,
    store: Store,
    *,
    versions: Mapping[str, Any],
    n_jobs: int | None = -1,
    engine: Engine = "auto",
    after_cell: Callable[[int, float], None] = lambda *_: None,
) -> None:
    """Evaluate what the store does not have yet and write it there, one (k1, k2) of one variant at a time.

    ``after_cell(units, seconds)`` is told how many units were just written and how long they took on the clock.
    """
    store.add_protocol(spec)
    announce(left_to_do(study, spec, plan, store) * max(spec.tree_counts))
    folds = folds_of(study, spec, plan.repetitions)
    done = store.done(run_id=spec.run_id, dataset=study.dataset, recipe=study.recipe)
    pool = Parallel(n_jobs=n_jobs, prefer="threads")
    for key, evaluate in _cells(study, spec, plan, done, folds, engine):
        pending = [fold for fold in folds if (*key, fold.repetition, fold.fold) not in done]
        start = time.perf_counter()
        outcomes = pool(delayed(evaluate)(fold) for fold in pending)
        store.add(
            _unit(spec, study, key, fold, outcome, versions) for fold, outcome in zip(pending, outcomes, strict=True)
        )
        after_cell(len(pending), time.perf_counter() - start)


def left_to_do(study: Study, spec: Spec, plan: Plan, store: Store) -> int:
    """Count the units that the store does not have."""
    return sum(_left(study, spec, plan, store).values())


def _left(study: Study, spec: Spec, plan: Plan, store: Store) -> Counter[str]:
    """Count by variant the units that the store does not have."""
    done = store.done(run_id=spec.run_id, dataset=study.dataset, recipe=study.recipe)
    keys = [(variant, "", "") for variant in plan.extras]
    keys += [(variant, *_texts(pair)) for variant, pairs in plan.pairs.items() for pair in pairs]
    places = [(repetition, fold) for repetition in range(plan.repetitions) for fold in range(spec.folds)]
    return Counter(key[0] for key in keys for place in places if (*key, *place) not in done)


def estimate(
    study: Study, spec: Spec, plan: Plan, store: Store, *, n_jobs: int | None = -1, engine: Engine = "auto"
) -> float:
    """Estimate the seconds that a run will take, from one unit of each variant that has something left to do."""
    left = _left(study, spec, plan, store)
    announce(left.total() * max(spec.tree_counts))
    first = {variant: list(pairs)[:1] for variant, pairs in plan.pairs.items() if left[variant]}
    extras = tuple(variant for variant in plan.extras if left[variant])
    fold = folds_of(study, spec, 1)[0]
    cells = list(_cells(study, spec, Plan(first, 1, extras), (), [fold], engine))
    for _, evaluate in cells[:1]:
        evaluate(fold)  # what compiles or loads does so once, not in every unit
    seconds = sum(left[key[0]] * evaluate(fold).seconds for key, evaluate in cells)
    return float(seconds / effective_n_jobs(n_jobs))


_Key = tuple[str, str, str]  # variant, k1, k2


def _cells(
    study: Study, spec: Spec, plan: Plan, done: Collection[Any], folds: Sequence[Fold], engine: Engine
) -> Iterator[tuple[_Key, Callable[[Fold], _Outcome]]]:
    """Yield every cell that lacks a fold, and how to evaluate one; the grid is walked only where it is needed."""

    def lacking(key: _Key) -> bool:
        return any((*key, fold.repetition, fold.fold) not in done for fold in folds)

    for variant in plan.extras:
        if lacking((variant, "", "")):
            yield (variant, "", ""), partial(_evaluate_extra, study, variant, engine=engine)
    wanted = {(variant, *_texts(pair)): pair for variant, pairs in plan.pairs.items() for pair in pairs}
    missing = {key: pair for key, pair in wanted.items() if lacking(key)}
    if not missing:
        return
    tables = _Tables(study, plan.pairs)
    for row in event_rows(study.graphs, Grid.of_pairs(missing.values()), Filtering(study.node_features)):
        for k2 in row.k2:
            here = [variant for variant in tables.columns if (variant, *_texts((row.k1, k2))) in missing]
            filled = tables.at((row.k1, k2), row) if here else {}
            for variant in here:
                columns = tables.columns[variant]
                evaluate = partial(_evaluate, filled[columns.representation], study.y, columns, spec, engine)
                yield (variant, *_texts((row.k1, k2))), evaluate


def _texts(pair: Pair) -> tuple[str, str]:
    return k_text(pair[0]), k_text(pair[1])


def _unit(spec: Spec, study: Study, key: _Key, fold: Fold, outcome: _Outcome, versions: Mapping[str, Any]) -> Unit:
    variant, k1, k2 = key
    return Unit(
        run_id=spec.run_id,
        dataset=study.dataset,
        recipe=study.recipe,
        variant=variant,
        k1=k1,
        k2=k2,
        repetition=fold.repetition,
        fold=fold.fold,
        accuracy=outcome.accuracy,
        selection=outcome.selection,
        n_test=len(fold.test),
        n_columns=outcome.n_columns,
        chosen={"n_trees": outcome.n_trees},
        seconds=outcome.seconds,
        versions=versions,
    )
