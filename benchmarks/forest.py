"""Time choosing the number of trees by cross-validation: our one forest a fold against scikit-learn.

Usage: ``python benchmarks/forest.py [--shapes MUTAG PTC_FR ...] [--data FILE.npz ...] [--repeats 3] [--no-grid]``

One outer fold: 9 tenths of the rows train, 5 inner folds choose `n_estimators` among 10, 25, 50, 100, 150 and 200, the
winner is fitted on all of them and scored on the last tenth. Three ways give the same choice and the same score:

- ``twin``: `pwlr.forest.grow_forest`, 200 trees an inner fold, all six numbers read off as prefixes;
- ``prefixes``: the same idea with scikit-learn's own trees;
- ``grid``: `GridSearchCV` over a `RandomForestClassifier`, as everybody writes it.

The data are synthetic, in the shape of four real sets of graph features (triples of count, sum and sum of squares);
``--data`` takes real ones, arrays `X` and `y` in an .npz file. Prints JSON: CPU seconds of the fastest repeats.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _common import report
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from pwlr.forest import available, grow_forest

GRID = [10, 25, 50, 100, 150, 200]
SEED = 0
SHAPES = {  # rows, columns, mean count per kind
    "MUTAG": (188, 28, 1.5),
    "PTC_FR": (351, 72, 0.6),
    "PROTEINS": (1113, 620, 0.15),
    "NCI1": (4110, 129, 0.4),
}
Outcome = tuple[int, float]


def synthetic(rows: int, columns: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts, and sums and sums of squares of that many heights; two classes that depend on some of them."""
    rng = np.random.default_rng(SEED)
    kinds = -(-columns // 3)
    counts = rng.poisson(rate * rng.gamma(1.0, 1.0, kinds), (rows, kinds)).astype(np.float64)
    height = rng.uniform(0.2, 1.0, (rows, kinds))
    X = np.hstack([counts, counts * height, counts * height**2])[:, :columns].astype(np.float32)
    signal = counts[:, : max(3, kinds // 4)] @ rng.standard_normal(max(3, kinds // 4))
    return X, (signal + signal.std() * rng.standard_normal(rows) > np.median(signal)).astype(np.int64)


def inner(X: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The folds that ``GridSearchCV(cv=5)`` uses for a classifier."""
    return list(StratifiedKFold(5).split(X, y))


def twin(X: np.ndarray, y: np.ndarray, rest: np.ndarray, truth: np.ndarray) -> Outcome:
    """Our forests."""
    right = np.zeros(len(GRID))
    for train, test in inner(X, y):
        forest = grow_forest(X[train], y[train], n_trees=GRID[-1], random_state=SEED, engine="twin")
        right += np.mean(forest.staged_predict(X[test], GRID) == y[test], axis=1)
    chosen = GRID[int(np.argmax(right))]
    forest = grow_forest(X, y, n_trees=chosen, random_state=SEED, engine="twin")
    return chosen, float(np.mean(forest.predict(rest) == truth))


def prefixes(X: np.ndarray, y: np.ndarray, rest: np.ndarray, truth: np.ndarray) -> Outcome:
    """Scikit-learn's trees, grown once an inner fold."""
    right = np.zeros(len(GRID))
    for train, test in inner(X, y):
        model = RandomForestClassifier(GRID[-1], random_state=SEED).fit(X[train], y[train])
        votes = np.cumsum([tree.predict_proba(X[test]) for tree in model.estimators_], axis=0)
        for k, count in enumerate(GRID):
            right[k] += np.mean(model.classes_[np.argmax(votes[count - 1] / count, axis=1)] == y[test])
    chosen = GRID[int(np.argmax(right))]
    model = RandomForestClassifier(chosen, random_state=SEED).fit(X, y)
    return chosen, float(model.score(rest, truth))


def grid(X: np.ndarray, y: np.ndarray, rest: np.ndarray, truth: np.ndarray) -> Outcome:
    """The usual way."""
    search = GridSearchCV(RandomForestClassifier(random_state=SEED), {"n_estimators": GRID}, cv=5).fit(X, y)
    return search.best_params_["n_estimators"], float(search.score(rest, truth))


def cpu_seconds(task: Callable[[], Outcome], repeats: int) -> tuple[float, Outcome]:
    """Fastest of some runs, and what they gave."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        outcome = task()
        times.append(time.process_time() - start)
    return min(times), outcome


def compare(X: np.ndarray, y: np.ndarray, repeats: int, *, with_grid: bool) -> dict[str, object]:
    """All ways on one data set; those that take minutes run once."""
    train, test = next(StratifiedKFold(10, shuffle=True, random_state=SEED).split(X, y))
    arguments = (X[train], y[train], X[test], y[test])
    ours, outcome = cpu_seconds(lambda: twin(*arguments), repeats)
    result: dict[str, object] = {"rows": len(X), "columns": X.shape[1], "chosen": outcome[0], "score": outcome[1]}
    result["twin_seconds"] = round(ours, 4)
    for name, way in {"prefixes": prefixes, "grid": grid}.items():
        if name == "grid" and not with_grid:
            continue
        seconds, same = cpu_seconds(lambda way=way: way(*arguments), 1)  # type: ignore[misc]
        result[f"{name}_seconds"] = round(seconds, 2)
        result[f"{name}_to_twin"] = round(seconds / ours, 1)
        result[f"{name}_agrees"] = same == outcome
    return result


def main() -> None:
    """Run what is asked for, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--data", nargs="*", type=Path, default=[], help=".npz files with X and y")
    parser.add_argument("--repeats", type=int, default=3, help="of our side; scikit-learn runs once")
    parser.add_argument("--no-grid", action="store_true", help="leave out GridSearchCV, which takes minutes")
    options = parser.parse_args()
    agrees = available()  # compiles
    results: dict[str, object] = {}
    for name in options.shapes:
        results[name] = compare(*synthetic(*SHAPES[name]), options.repeats, with_grid=not options.no_grid)
    for path in options.data:
        with np.load(path) as arrays:
            results[path.stem] = compare(arrays["X"], arrays["y"], options.repeats, with_grid=not options.no_grid)
    print(json.dumps(results, indent=2))
    report("forest", {"twin_agrees": agrees, "results": results})


if __name__ == "__main__":
    main()
