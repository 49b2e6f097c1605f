"""The forest twin against scikit-learn: the same trees, votes and scores, to the last bit."""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier

from pwlr import forest as forest_module
from pwlr.forest import Forest, available, fit_sklearn_forest, grow_forest

needs_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the twin is compiled code")
Data = tuple[np.ndarray, np.ndarray]

NODE_ARRAYS = {
    "children_left": "children_left",
    "children_right": "children_right",
    "feature": "feature",
    "threshold": "threshold",
    "impurity": "impurity",
    "n_node_samples": "n_node_samples",
    "weighted_n_node_samples": "weighted_n_node_samples",
    "missing_go_to_left": "missing_go_to_left",
}


def genuine(X: Any, y: Any, n_trees: int, seed: int, **parameters: Any) -> RandomForestClassifier:
    """Scikit-learn's own fit; few trees leave rows without out-of-bag votes, which it warns about."""
    parameters.setdefault("oob_score", parameters.get("bootstrap", True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return RandomForestClassifier(n_trees, random_state=seed, **parameters).fit(X, y)


def assert_same_trees(forest: Forest, model: RandomForestClassifier) -> None:
    assert forest.n_trees == len(model.estimators_)
    assert forest.seeds.tolist() == [tree.random_state for tree in model.estimators_]
    assert forest.max_depths.tolist() == [tree.tree_.max_depth for tree in model.estimators_]
    for t, estimator in enumerate(model.estimators_):
        part = slice(forest.tree_offsets[t], forest.tree_offsets[t + 1])
        tree = estimator.tree_
        assert part.stop - part.start == tree.node_count
        for ours, theirs in NODE_ARRAYS.items():
            np.testing.assert_array_equal(
                getattr(forest, ours)[part], getattr(tree, theirs), err_msg=f"{ours}, tree {t}"
            )
        np.testing.assert_array_equal(forest.value[part], tree.value[:, 0, :])


def assert_same_answers(forest: Forest, model: RandomForestClassifier, X: Any) -> None:
    np.testing.assert_array_equal(forest.classes, model.classes_)
    np.testing.assert_array_equal(forest.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    np.testing.assert_array_equal(forest.feature_importances(), model.feature_importances_)
    if forest.bootstrap:
        np.testing.assert_array_equal(forest.oob_decision_function(), model.oob_decision_function_)
        assert forest.oob_score() == model.oob_score_


def check(X: Any, y: Any, n_trees: int = 12, seed: int = 0, **parameters: Any) -> None:
    """Grow both ways, compare everything."""
    twin = grow_forest(X, y, n_trees=n_trees, random_state=seed, engine="twin", **parameters)
    model = genuine(X, y, n_trees, seed, **parameters)
    assert_same_trees(twin, model)
    assert_same_answers(twin, model, X)


def counts(rows: int, columns: int, classes: int, seed: int, rate: float = 0.5) -> Data:
    """Sparse counts with ties, duplicated rows and constant columns; the labels depend on the first columns."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rate, (rows, columns)).astype(np.float64)
    X[:, columns // 2] = 3.0
    X[: rows // 4] = X[rows // 4 : 2 * (rows // 4)]
    y = (X[:, 0] + X[:, columns - 1] + rng.integers(0, 3, rows)).astype(np.int64) % classes
    return X, y


@pytest.fixture(autouse=True)
def _fresh_self_check() -> Iterator[None]:
    """A test that spoils the self-check must not spoil the next one."""
    yield
    forest_module.available.cache_clear()


# --- the same trees ---------------------------------------------------------------------------------------------------


@needs_jit
@pytest.mark.parametrize("classes", [1, 2, 3, 7])
@pytest.mark.parametrize("shape", [(40, 5), (150, 30), (300, 9)])
def test_counts_with_ties_duplicates_and_constants(shape: tuple[int, int], classes: int) -> None:
    X, y = counts(*shape, classes, seed=sum(shape))
    check(X, y, seed=classes)


@needs_jit
@pytest.mark.parametrize("classes", [2, 4])
def test_continuous_columns(classes: int) -> None:
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((400, 6))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = -np.abs(X[:, 2])
    check(X, rng.integers(0, classes, 400), n_trees=8, seed=11)


@needs_jit
def test_wide_sparse_counts() -> None:
    X, y = counts(200, 2500, 2, seed=5, rate=0.03)
    X[:, ::7] *= -0.37
    check(X, y, n_trees=6, seed=3)


@needs_jit
def test_tall_enough_for_the_lists_of_nonzero_entries() -> None:
    rng = np.random.default_rng(9)
    X = rng.poisson(0.1, (900, 12)) * rng.standard_normal((900, 12))
    X[:, 3] = rng.standard_normal(900)
    check(X, (X.sum(axis=1) + rng.standard_normal(900) > 0).astype(int), n_trees=8, seed=1)


@needs_jit
def test_more_distinct_values_than_the_bitmap_summarises_word_by_word() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9000, 2))
    check(X, (X[:, 0] * X[:, 1] > 0).astype(int), n_trees=2, seed=4)


@needs_jit
@pytest.mark.slow
def test_more_rows_than_16_bit_ranks_hold() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((70_000, 2))
    check(X, (X[:, 0] > 0).astype(int), n_trees=1, seed=4)


@needs_jit
def test_many_classes_on_many_rows_leave_the_packed_sums() -> None:
    rng = np.random.default_rng(8)
    X = rng.poisson(1.0, (600, 8)).astype(float)
    check(X, rng.integers(0, 40, 600), n_trees=4, seed=5)


@needs_jit
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_tiny(rows: int, classes: int) -> None:
    X = np.arange(2.0 * rows).reshape(rows, 2)
    for seed in range(5):
        check(X, np.arange(rows) % classes, n_trees=5, seed=seed)


@needs_jit
def test_one_feature() -> None:
    X, y = counts(60, 1, 3, seed=1, rate=3.0)
    X[:, 0] = np.random.default_rng(0).poisson(3.0, 60)
    check(X, y)


@needs_jit
def test_only_constant_columns() -> None:
    check(np.full((20, 4), 2.5), np.arange(20) % 2)


@needs_jit
@pytest.mark.parametrize("gap", [1e-8, 4e-8, 9e-8, 1.1e-7, 2e-7])
def test_values_nearer_than_scikit_learn_tells_apart(gap: float) -> None:
    rng = np.random.default_rng(3)
    X = (rng.integers(0, 12, (80, 5)) * gap).astype(np.float32)  # chains of ties: each near the next, the ends apart
    X[:, 4] += rng.integers(0, 3, 80)
    check(X, rng.integers(0, 2, 80), n_trees=10, seed=8)


@needs_jit
def test_extreme_values() -> None:
    rng = np.random.default_rng(4)
    big = np.finfo(np.float32).max
    X = rng.choice([-big, -1e30, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1e-7, 1.0, 1e30, big], (120, 6))
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums X to look for infinities
        check(X, rng.integers(0, 3, 120), n_trees=10, seed=8)


@needs_jit
@pytest.mark.parametrize("max_features", ["sqrt", "log2", None, 1, 3, 0.34, 1.0, 100])
def test_max_features(max_features: Any) -> None:
    X, y = counts(80, 10, 2, seed=6)
    check(X, y, max_features=max_features)


@needs_jit
def test_without_bootstrap() -> None:
    X, y = counts(120, 10, 3, seed=7)
    check(X, y, bootstrap=False)
    with pytest.raises(ValueError, match="bootstrap=True"):
        grow_forest(X, y, n_trees=2, random_state=0, bootstrap=False).oob_score()


@needs_jit
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_real_data(load: Any) -> None:
    X, y = load(return_X_y=True)
    check(X[::2], y[::2], n_trees=10, seed=20)
    twin = grow_forest(X[::2], y[::2], n_trees=10, random_state=20, engine="twin")
    assert_same_answers(twin, genuine(X[::2], y[::2], 10, 20), X[1::2])


@needs_jit
@pytest.mark.parametrize(
    "labels", [["no", "yes"], [-1, 1], [0.0, 2.0], [True, False]], ids=lambda labels: type(labels[0]).__name__
)
def test_labels(labels: list[Any]) -> None:
    X, y = counts(60, 6, 2, seed=1)
    check(X, np.array(labels)[y])


@needs_jit
def test_string_labels_in_a_list_and_in_objects() -> None:
    X, y = counts(60, 6, 3, seed=1)
    named = np.array(["oak", "elm", "fir"])[y]
    check(X, named.tolist())
    check(X, named.astype(object))


@needs_jit
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_small_matrices(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 14), "rows"), data.draw(st.integers(1, 6), "columns")
    value = st.sampled_from([-2.0, -0.5, 0.0, 0.0, 0.0, 1e-7, 1.0, 1.0 + 1e-7, 3.0])
    X = np.array(data.draw(st.lists(value, min_size=rows * columns, max_size=rows * columns), "X")).reshape(
        rows, columns
    )
    y = data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows), "y")
    check(X, y, n_trees=4, seed=data.draw(st.integers(0, 2**32 - 1), "seed"))


@needs_jit
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_grow_the_same_trees(n_jobs: int) -> None:
    X, y = counts(150, 12, 3, seed=3)
    alone = grow_forest(X, y, n_trees=17, random_state=5, engine="twin")
    together = grow_forest(X, y, n_trees=17, random_state=5, n_jobs=n_jobs, engine="twin")
    for name in (*NODE_ARRAYS, "value", "tree_offsets", "max_depths", "seeds"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(together, name), err_msg=name)


# --- prefixes ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grown() -> tuple[Forest, Data]:
    X, y = counts(160, 14, 3, seed=2)
    y = np.array(["a", "b", "c"])[y]
    return grow_forest(X, y, n_trees=40, random_state=77), (X, y)


@pytest.mark.parametrize("n_trees", [1, 2, 7, 25, 40])
def test_a_prefix_is_the_smaller_forest(grown: tuple[Forest, Data], n_trees: int) -> None:
    forest, (X, y) = grown
    model = genuine(X, y, n_trees, 77)
    other = counts(90, 14, 3, seed=4)[0]
    np.testing.assert_array_equal(forest.predict_proba(other, n_trees), model.predict_proba(other))
    np.testing.assert_array_equal(forest.predict(other, n_trees), model.predict(other))
    np.testing.assert_array_equal(forest.feature_importances(n_trees), model.feature_importances_)
    np.testing.assert_array_equal(forest.oob_decision_function(n_trees), model.oob_decision_function_)
    assert forest.oob_score(n_trees) == model.oob_score_


def test_stages_in_any_order(grown: tuple[Forest, Data]) -> None:
    forest, (X, _) = grown
    wanted = [25, 1, 40, 25]
    np.testing.assert_array_equal(forest.staged_predict(X, wanted), [forest.predict(X, t) for t in wanted])
    np.testing.assert_array_equal(forest.staged_predict_proba(X, wanted), [forest.predict_proba(X, t) for t in wanted])
    np.testing.assert_array_equal(forest.staged_oob_score(wanted), [forest.oob_score(t) for t in wanted])
    np.testing.assert_array_equal(
        forest.staged_oob_decision_function(wanted), [forest.oob_decision_function(t) for t in wanted]
    )
    assert forest.staged_predict(X, []).shape == (0, len(X))


@pytest.mark.parametrize("n_trees", [0, -1, 41])
def test_stages_that_are_not_there(grown: tuple[Forest, Data], n_trees: int) -> None:
    forest, (X, _) = grown
    with pytest.raises(ValueError, match=f"index 0 is {n_trees}, but the forest has 40 trees"):
        forest.predict(X, n_trees)


def test_even_votes_go_to_the_first_class() -> None:
    forest = grow_forest(np.ones((4, 2)), ["b", "a", "b", "a"], n_trees=3, random_state=0, bootstrap=False)
    assert forest.predict_proba([[1.0, 1.0]]).tolist() == [[0.5, 0.5]]
    assert forest.predict([[1.0, 1.0]]).tolist() == ["a"]


def test_predicting_with_missing_values_as_scikit_learn_does(grown: tuple[Forest, Data]) -> None:
    forest, (X, y) = grown
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_array_equal(forest.predict_proba(holes), genuine(X, y, 40, 77).predict_proba(holes))


def test_predicting_sparse_rows(grown: tuple[Forest, Data]) -> None:
    forest, (X, _) = grown
    np.testing.assert_array_equal(forest.predict(csr_matrix(X)), forest.predict(X))


def test_predicting_other_columns(grown: tuple[Forest, Data]) -> None:
    forest, (X, _) = grown
    with pytest.raises(ValueError, match="X has 13 columns, but the forest was grown on 14"):
        forest.predict(X[:, 1:])


def test_forest_survives_pickling(grown: tuple[Forest, Data]) -> None:
    forest, (X, _) = grown
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forest)).predict_proba(X), forest.predict_proba(X))


# --- the genuine article ----------------------------------------------------------------------------------------------


@needs_jit
@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_fit_sklearn_forest_is_a_fitted_forest(classes: int, bootstrap: bool) -> None:
    X, y = counts(90, 11, classes, seed=classes)
    ours = fit_sklearn_forest(X, y, n_trees=15, random_state=3, bootstrap=bootstrap, oob_score=bootstrap, engine="twin")
    theirs = genuine(X, y, 15, 3, bootstrap=bootstrap, n_jobs=1)
    assert type(ours) is RandomForestClassifier
    assert ours.get_params() == theirs.get_params()
    assert vars(ours).keys() == vars(theirs).keys()
    assert pickle.loads(pickle.dumps(ours)).predict(X).tolist() == theirs.predict(X).tolist()
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    for one, other in zip(ours.estimators_samples_, theirs.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, other)
    for name, value in vars(theirs).items():
        assert type(getattr(ours, name)) is type(value), name
    for one, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        assert one.get_params() == other.get_params()
        assert {name: type(value) for name, value in vars(one).items()} == {
            name: type(value) for name, value in vars(other).items()
        }
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        state, expected = one.tree_.__getstate__(), other.tree_.__getstate__()
        assert state["nodes"].tobytes() == expected["nodes"].tobytes()
        assert state["values"].tobytes() == expected["values"].tobytes()
        assert state["max_depth"] == expected["max_depth"]


@pytest.mark.parametrize("engine", ["auto", "sklearn"])
def test_column_names_are_kept(engine: Any) -> None:
    X, y = counts(30, 3, 2, seed=1)
    frame = pd.DataFrame(X, columns=["one", "two", "three"])
    model = fit_sklearn_forest(frame, y, n_trees=3, random_state=0, engine=engine)
    assert model.feature_names_in_.tolist() == ["one", "two", "three"]
    np.testing.assert_array_equal(model.predict_proba(frame), genuine(frame, y, 3, 0).predict_proba(frame))


@needs_jit
def test_warm_start_continues_a_twin() -> None:
    X, y = counts(60, 8, 2, seed=1)
    model = fit_sklearn_forest(X, y, n_trees=5, random_state=0, engine="twin")
    model.set_params(n_estimators=9, warm_start=True).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), genuine(X, y, 9, 0).predict_proba(X))


# --- who grows --------------------------------------------------------------------------------------------------------


@needs_jit
def test_available(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pwlr"):
        assert available()
    assert caplog.records == []


@needs_jit
def test_fallback_says_so_once_and_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the twin must not grow anything")

    X, y = counts(80, 9, 3, seed=1)
    forest_module.available.cache_clear()
    monkeypatch.setattr(forest_module, "_first_difference", lambda: "threshold")
    monkeypatch.setattr(forest_module, "_grow_twin", refuse)
    with caplog.at_level(logging.INFO, logger="pwlr"):
        forest = grow_forest(X, y, n_trees=50, random_state=4)
        model = fit_sklearn_forest(X, y, n_trees=50, random_state=4, oob_score=True)
    assert [record.getMessage() for record in caplog.records] == [
        "forests are grown by scikit-learn itself, which is slower: threshold"
    ]
    expected = genuine(X, y, 50, 4)
    assert_same_trees(forest, expected)
    assert_same_answers(forest, expected, X)
    np.testing.assert_array_equal(model.oob_decision_function_, expected.oob_decision_function_)


@needs_jit
def test_the_self_check_notices_other_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = forest_module._grow_twin

    def sloppy(task: Any) -> Forest:
        forest = honest(task)
        threshold = forest.threshold.copy()
        threshold[0] = np.nextafter(threshold[0], 1e9)
        object.__setattr__(forest, "threshold", threshold)
        return forest

    monkeypatch.setattr(forest_module, "_grow_twin", sloppy)
    assert "nodes" in (forest_module._first_difference() or "")


@needs_jit
def test_the_self_check_survives_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("nodes")

    monkeypatch.setattr(forest_module, "_to_sklearn", broken)
    assert "KeyError" in (forest_module._first_difference() or "")


def test_compiler_switched_off_means_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    X, y = counts(30, 4, 2, seed=1)
    assert_same_trees(grow_forest(X, y, n_trees=3, random_state=0), genuine(X, y, 3, 0))
    with pytest.raises(ValueError, match="compiler is switched off"):
        grow_forest(X, y, n_trees=3, random_state=0, engine="twin")


@pytest.mark.parametrize("engine", ["auto", "sklearn"])
def test_sparse_matrices_give_the_same_trees(engine: Any) -> None:
    for seed in range(5):
        X, y = counts(150, 20, 3, seed, rate=0.2)
        X[:, ::2] *= -0.75
        X[:, ::3] *= 6e-8  # some nearer to zero than scikit-learn tells apart
        forest = grow_forest(csr_matrix(X), y, n_trees=6, random_state=seed, engine=engine)
        model = genuine(csr_matrix(X), y, 6, seed)
        assert_same_trees(forest, model)
        assert_same_answers(forest, model, csr_matrix(X))


@needs_jit
def test_missing_values_are_left_to_scikit_learn() -> None:
    X, y = counts(60, 7, 2, seed=1)
    X[3, 2] = np.nan
    forest = grow_forest(X, y, n_trees=6, random_state=1)
    model = genuine(X, y, 6, 1)
    assert_same_trees(forest, model)
    assert_same_answers(forest, model, X)
    with pytest.raises(ValueError, match="X has missing values"):
        grow_forest(X, y, n_trees=6, random_state=1, engine="twin")


def test_refusals() -> None:
    X, y = counts(20, 3, 2, seed=1)
    with pytest.raises(ValueError, match="n_trees is 0"):
        grow_forest(X, y, n_trees=0, random_state=0)
    with pytest.raises(ValueError, match="engine is 'fast'"):
        grow_forest(X, y, n_trees=1, random_state=0, engine="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"max_features is 1\.5"):
        grow_forest(X, y, n_trees=1, random_state=0, max_features=1.5)
    with pytest.raises(ValueError, match=r"[Ii]nfinity"):
        grow_forest(np.where(X > 1, np.inf, X), y, n_trees=1, random_state=0)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        grow_forest(X, y[:-1], n_trees=1, random_state=0)
    with pytest.raises(ValueError, match="continuous"):
        grow_forest(X, y + 0.5 * X[:, 0] + 0.1, n_trees=1, random_state=0)
    with pytest.raises(TypeError):
        grow_forest(X, y, n_trees=1, random_state=None)  # type: ignore[arg-type]
