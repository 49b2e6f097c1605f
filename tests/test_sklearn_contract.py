"""The estimators as scikit-learn citizens.

scikit-learn skips its common checks for inputs that are not arrays, so they are brought here in two ways: its own
checks run on subclasses that read a table as graphs, and what a table cannot show is checked on graphs directly.
"""

import pickle
import threading
import warnings

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import get_tags, resample, shuffle
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

import pwlr
from pwlr import PAPER_VARIANTS, GraphBatch, OptionError, PWLRClassifier, PWLRTransformer
from pwlr.method.features import dense_codes

KINDS = {"transformer": PWLRTransformer, "classifier": PWLRClassifier}
VARIANTS = {
    "typed": {},
    **{name: dict(options) for name, options in PAPER_VARIANTS.items()},
    "pairs' moments": {"representation": "degree-pairs", "stats": "moments"},
}


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    return pwlr.load_dataset("MUTAG")[::4]


def make(kind: str, **options):
    if kind == "classifier":
        options = {"n_estimators": 10, "random_state": 0, **options}
    return KINDS[kind](**options)


def answers(estimator, X) -> np.ndarray:
    """Everything that an estimator says about graphs, as one array."""
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict_proba(X)


both = pytest.mark.parametrize("kind", KINDS)


# -- scikit-learn's own checks, on tables read as graphs ---------------------------------------------------------------


def paths(X: np.ndarray) -> GraphBatch:
    """One path for each row of a table; the numbers of the row sit on its nodes, behind one node with a 0."""
    edges = [[(i, i + 1) for i in range(X.shape[1])]] * len(X)
    return GraphBatch.from_edges(edges, node_attributes=[[[0.0], *([value] for value in row)] for row in X.tolist()])


class _TableInput(BaseEstimator):
    """Reads a table where pwlr reads graphs, and tells scikit-learn so; all else is pwlr's own."""

    def _settle(self, X):
        return super()._settle(paths(validate_data(self, X)))

    def _read(self, X):
        check_is_fitted(self)
        return super()._read(paths(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class TableTransformer(_TableInput, PWLRTransformer):
    pass


class TableClassifier(_TableInput, PWLRClassifier):
    pass


def own_checks():
    for options in ({}, {"representation": "sorted"}, {"representation": "degree-pairs", "k": (1, 2)}):
        yield from estimator_checks_generator(TableTransformer(**options))
    yield from estimator_checks_generator(TableClassifier(n_estimators=5))


def named(estimator, check):
    words = getattr(check, "func", check).__name__, *getattr(check, "keywords", {})
    return pytest.param(estimator, check, id="-".join([repr(estimator), *words]))


@pytest.mark.parametrize(
    ("estimator", "check"),
    # the check of the array API wants an environment variable to be set before SciPy is imported
    [named(estimator, check) for estimator, check in own_checks() if "array_api" not in repr(check)],
)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks warn and are warned on purpose
        check(estimator)


# -- parameters --------------------------------------------------------------------------------------------------------


NON_DEFAULTS = {
    "k": [(1, 2), (3, np.inf)],
    "homology": "h1",
    "representation": "degree-pairs",
    "stats": "moments",
    "min_graphs": 3,
    "node_features": "degree",
    "edge_weights": {0: 2.0, 1: 1.0},
    "p": 2.5,
    "tau": 0.5,
    "unseen": "ignore",
    "backend": "numpy",
    "n_jobs": 2,
}


def changed(kind):
    more = {"dtype": np.float32, "sparse_output": True}
    if kind == "classifier":
        more = {"search_grid": [(0, 1)], "n_estimators": 7, "random_state": np.random.RandomState(3)}
    return {**NON_DEFAULTS, **more}


@both
def test_every_parameter_can_be_set_and_comes_back_as_it_is(kind):
    options = changed(kind)
    assert set(options) == set(KINDS[kind]().get_params())
    built, later = KINDS[kind](**options), KINDS[kind]().set_params(**options)
    for estimator in (built, later):
        assert set(estimator.__dict__) == set(options)
        for name, value in options.items():
            assert getattr(estimator, name) is value
            assert estimator.get_params()[name] is value


@both
def test_nothing_is_validated_before_fit(kind, graphs):
    nonsense = object()
    names = KINDS[kind]().get_params()
    estimator = KINDS[kind](**dict.fromkeys(names, nonsense))
    assert all(value is nonsense for value in estimator.get_params().values())
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(graphs, graphs.y)


@both
def test_clone_is_equal_and_unfitted(kind, graphs):
    fitted = make(kind, **{**NON_DEFAULTS, "edge_weights": "unit"}).fit(graphs, graphs.y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    np.testing.assert_array_equal(answers(copy.fit(graphs, graphs.y), graphs), answers(fitted, graphs))


@both
def test_repr_shows_what_is_not_the_default(kind):
    name = KINDS[kind].__name__
    assert repr(KINDS[kind]()) == f"{name}()"
    assert repr(KINDS[kind](k=(1, 12), tau=0.5)) == f"{name}(k=(1, 12), tau=0.5)"
    assert repr(KINDS[kind](edge_weights={0: 2.0})) == f"{name}(edge_weights={{0: 2.0}})"
    assert repr(KINDS[kind](k=np.array([[0, 0], [1, 1]]), p=np.inf)).startswith(f"{name}(k=array([[0, 0],")


@both
def test_html_of_notebooks(kind, graphs):
    assert KINDS[kind].__name__ in make(kind).fit(graphs, graphs.y)._repr_html_()


@both
def test_unknown_parameters_are_refused(kind):
    with pytest.raises(TypeError, match="kk"):
        KINDS[kind](kk=(1, 1))
    with pytest.raises(ValueError, match="Invalid parameter 'kk'"):
        KINDS[kind]().set_params(kk=(1, 1))
    with pytest.raises(TypeError, match="positional"):
        KINDS[kind]((1, 1), "h0")  # all but k go by name


@both
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("k", "multi"),
        ("k", 3),
        ("k", (1, -1)),
        ("k", (1, 2.5)),
        ("k", (1, 2, 3)),
        ("k", []),
        ("k", [(1, 1), (1, 1)]),
        ("k", (1, True)),
        ("homology", "h2"),
        ("homology", None),
        ("representation", "opt"),
        ("stats", "mean"),
        ("min_graphs", 0),
        ("min_graphs", 1.5),
        ("min_graphs", "few"),
        ("node_features", "colour"),
        ("edge_weights", "heavy"),
        ("p", 0.5),
        ("p", "1"),
        ("p", np.nan),
        ("tau", np.inf),
        ("tau", "1"),
        ("unseen", "complain"),
        ("backend", "gpu"),
    ],
)
def test_bad_values_are_refused_at_fit(kind, option, value, graphs):
    with pytest.raises(OptionError, match=option):
        make(kind, **{option: value}).fit(graphs, graphs.y)


@both
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("node_features", "attributes"),
        ("node_features", "both"),
        ("edge_weights", "attribute"),
        ("edge_weights", "reciprocal"),
        ("edge_weights", {1: 2.0}),
        ("edge_weights", lambda _: np.ones(3)),
    ],
    ids=["attributes", "both", "attribute", "reciprocal", "label left out", "callable"],
)
def test_options_that_do_not_fit_the_graphs_are_refused(kind, option, value, graphs):
    with pytest.raises(OptionError, match=option):
        answers(make(kind, **{option: value}).fit(graphs, graphs.y), graphs)


# -- before, during and after fit --------------------------------------------------------------------------------------


@both
def test_nothing_is_there_before_fit(kind, graphs):
    estimator = make(kind)
    for method in ("transform", "predict", "predict_proba"):
        if hasattr(estimator, method):
            with pytest.raises(NotFittedError, match=KINDS[kind].__name__):
                getattr(estimator, method)(graphs)
    with pytest.raises(NotFittedError):
        estimator.get_feature_names_out()
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    fitted = set(vars(make(kind).fit(graphs, graphs.y))) - set(vars(estimator))
    assert fitted
    assert not any(hasattr(estimator, name) for name in [*fitted, "feature_importances_"])


@both
def test_fit_returns_self_and_adds_only_fitted_attributes(kind, graphs):
    estimator = make(kind, k=[(0, 0), (1, 1)])
    before = dict(vars(estimator))
    assert estimator.fit(graphs, graphs.y) is estimator
    check_is_fitted(estimator)
    for name, value in before.items():
        assert getattr(estimator, name) is value
    added = set(vars(estimator)) - set(before)
    assert all(name.endswith("_") or name.startswith("_") for name in added)


@both
def test_fit_forgets_the_fit_before(kind, graphs):
    estimator = make(kind, representation="sorted", k=(0, 1))
    first = answers(estimator.fit(graphs, graphs.y), graphs)
    other = GraphBatch.from_networkx([nx.cycle_graph(n) for n in (3, 4, 5, 6)], y=[0, 1, 0, 1])
    assert answers(estimator.fit(other, other.y), other).shape[0] == 4
    np.testing.assert_array_equal(answers(estimator.fit(graphs, graphs.y), graphs), first)


@both
def test_state_and_input_stay_as_they_are(kind, graphs):
    estimator = make(kind).fit(graphs, graphs.y)
    twin = pwlr.load_dataset("MUTAG")[::4]
    before, bits = dict(vars(estimator)), {name: pickle.dumps(value) for name, value in vars(estimator).items()}
    answers(estimator, graphs)
    if kind == "classifier":
        estimator.predict(graphs)
    assert vars(estimator).keys() == before.keys()
    assert all(getattr(estimator, name) is value for name, value in before.items())
    # caches inside the layout may have filled; what it says must not have changed
    bits.pop("layout_")
    assert {name: pickle.dumps(getattr(estimator, name)) for name in bits} == bits
    assert graphs == twin


@both
@pytest.mark.parametrize("variant", VARIANTS)
def test_subsets_and_order_do_not_matter(kind, variant, graphs, rng):
    estimator = make(kind, k=[(0, 1), (2, 2)], **VARIANTS[variant]).fit(graphs, graphs.y)
    whole = answers(estimator, graphs)
    order = rng.permutation(len(graphs))
    np.testing.assert_array_equal(answers(estimator, graphs[order]), whole[order])
    np.testing.assert_array_equal(np.concatenate([answers(estimator, graph) for graph in graphs]), whole)
    halves = [answers(estimator, part) for part in (graphs[:20], graphs[20:])]
    np.testing.assert_array_equal(np.concatenate(halves), whole)


@pytest.mark.parametrize("variant", VARIANTS)
def test_fit_transform_is_fit_then_transform(variant, graphs):
    transformer = PWLRTransformer(**VARIANTS[variant])
    together = transformer.fit_transform(graphs, graphs.y)
    np.testing.assert_array_equal(together, PWLRTransformer(**VARIANTS[variant]).fit(graphs).transform(graphs))
    assert transformer.n_features_out_ == together.shape[1] == len(transformer.get_feature_names_out())


@both
@pytest.mark.parametrize("variant", ["typed", "PWLR-H0+H1", "PWLR-OPT-H0"])
def test_pickles_and_dumps_answer_with_the_same_bits(kind, variant, graphs, tmp_path):
    estimator = make(kind, **VARIANTS[variant]).fit(graphs, graphs.y)
    said = answers(estimator, graphs)
    joblib.dump(estimator, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(estimator)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(answers(copy, graphs), said)
        assert copy.get_feature_names_out().tolist() == estimator.get_feature_names_out().tolist()
        assert copy.get_params() == estimator.get_params()
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")  # as joblib's own worker processes read big arrays
    np.testing.assert_array_equal(answers(mapped, graphs), said)


def test_tags():
    for kind in KINDS:
        tags = get_tags(make(kind))
        assert not tags.input_tags.two_d_array
        assert not tags.input_tags.sparse
        assert tags.requires_fit
        assert tags.estimator_type == {"classifier": "classifier", "transformer": None}[kind]
        assert tags.target_tags.required == (kind == "classifier")
    assert is_classifier(PWLRClassifier())
    assert get_tags(PWLRClassifier()).classifier_tags.multi_class


# -- y -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        np.array(["mutagen", "harmless"]),
        np.array(["mutagen", "harmless"], dtype=object),
        np.array([7, -3]),
        np.array([7.0, -3.0]),
        np.array([True, False]),
    ],
    ids=["strings", "objects", "integers", "whole floats", "booleans"],
)
def test_classes_keep_their_names(names, graphs):
    y = names[(graphs.y > 0).astype(int)]
    fitted = make("classifier").fit(graphs, y)
    assert fitted.classes_.tolist() == sorted(names.tolist())
    predicted = fitted.predict(graphs)
    assert predicted.dtype == y.dtype
    assert set(predicted.tolist()) == set(names.tolist())
    np.testing.assert_array_equal(predicted, fitted.classes_[fitted.predict_proba(graphs).argmax(axis=1)])
    np.testing.assert_array_equal(fitted.score(graphs, y), np.mean(predicted == y))
    np.testing.assert_array_equal(make("classifier").fit(graphs, y.tolist()).predict(graphs), predicted)
    np.testing.assert_array_equal(make("classifier").fit(graphs, pd.Series(y)).predict(graphs), predicted)


def test_three_classes(graphs):
    y = np.array(["few", "some", "many"])[np.digitize(np.diff(graphs.node_ptr), [14, 20])]
    fitted = make("classifier", n_estimators=30).fit(graphs, y)
    assert fitted.predict_proba(graphs).shape == (len(graphs), 3)
    assert fitted.score(graphs, y) > 0.9


def test_one_class_is_learnt_as_a_forest_learns_it(graphs):
    y = np.full(len(graphs), "only")
    forest = RandomForestClassifier(10, random_state=0).fit(np.zeros((len(graphs), 1)), y)
    fitted = make("classifier").fit(graphs, y)
    assert fitted.classes_.tolist() == forest.classes_.tolist()
    np.testing.assert_array_equal(fitted.predict(graphs), forest.predict(np.zeros((len(graphs), 1))))
    np.testing.assert_array_equal(fitted.predict_proba(graphs), np.ones((len(graphs), 1)))


@pytest.mark.parametrize("kind_of_y", ["other length", "continuous", "missing", "two columns", "with NaN", "empty"])
def test_bad_y_is_refused(kind_of_y, graphs):
    y, words = {
        "other length": (graphs.y[:-1], r"\b47\b.*\b46\b"),
        "continuous": (np.linspace(0, 1, len(graphs)), "continuous"),
        "missing": (None, "y|classes"),
        "two columns": (np.column_stack([graphs.y, graphs.y]), "1d array"),
        "with NaN": (np.where(graphs.y > 0, np.nan, 0), "NaN"),
        "empty": ([], "47"),
    }[kind_of_y]
    with pytest.raises(ValueError, match=words):
        make("classifier").fit(graphs, y)


def test_a_column_of_classes_warns_and_works(graphs):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        fitted = make("classifier").fit(graphs, graphs.y[:, None])
    np.testing.assert_array_equal(fitted.predict(graphs), make("classifier").fit(graphs, graphs.y).predict(graphs))


def test_y_is_nothing_to_the_transformer(graphs):
    alone = PWLRTransformer().fit_transform(graphs)
    for y in (graphs.y, graphs.y[::-1], np.linspace(0, 1, len(graphs)), "anything"):
        np.testing.assert_array_equal(PWLRTransformer().fit_transform(graphs, y), alone)


# -- the company they keep ---------------------------------------------------------------------------------------------


def test_pipeline(graphs):
    model = make_pipeline(PWLRTransformer(), VarianceThreshold(), StandardScaler(), LogisticRegression(max_iter=500))
    model.fit(graphs, graphs.y)
    assert model.score(graphs, graphs.y) > 0.9
    names = model[:-1].get_feature_names_out()
    assert set(names) < set(model[0].get_feature_names_out())
    assert len(names) == model[-1].coef_.shape[1]
    by_hand = StandardScaler().fit_transform(VarianceThreshold().fit_transform(PWLRTransformer().fit_transform(graphs)))
    np.testing.assert_array_equal(model[:-1].transform(graphs), by_hand)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_sparse_vectors_go_where_dense_ones_go(variant, n_jobs, graphs):
    forest = RandomForestClassifier(10, random_state=0)
    shares = []
    for sparse in (False, True):
        vectors = PWLRTransformer(k=(1, 2), sparse_output=sparse, n_jobs=n_jobs, **VARIANTS[variant])
        shares.append(make_pipeline(vectors, clone(forest)).fit(graphs, graphs.y).predict_proba(graphs))
    np.testing.assert_array_equal(*shares)


def test_pipeline_of_sparse_vectors(graphs):
    keep = SelectKBest(chi2, k=50)
    model = make_pipeline(PWLRTransformer(sparse_output=True), keep, MaxAbsScaler(), LogisticRegression(C=9))
    assert model.fit(graphs, graphs.y).score(graphs, graphs.y) > 0.8


def test_pipeline_with_memory(graphs, tmp_path):
    steps = [("vectors", PWLRTransformer()), ("forest", RandomForestClassifier(5, random_state=0))]
    plain, cached = Pipeline(steps), Pipeline(steps, memory=str(tmp_path))
    for _ in range(2):
        np.testing.assert_array_equal(
            cached.fit(graphs, graphs.y).predict_proba(graphs), plain.fit(graphs, graphs.y).predict_proba(graphs)
        )


def test_feature_union(graphs):
    union = FeatureUnion(
        [
            ("lists", PWLRTransformer(k=(1, 12), representation="sorted")),
            ("pairs", PWLRTransformer(k=(0, 1), representation="degree-pairs", homology="h1")),
        ]
    )
    X = union.fit_transform(graphs)
    parts = [transformer.transform(graphs) for _, transformer in union.transformer_list]
    np.testing.assert_array_equal(X, np.hstack(parts))
    names = union.get_feature_names_out()
    assert names[0] == "lists__h0[0]@1,12"
    assert names[-1] == "pairs__h1[3,4]@0,1"
    assert len(names) == X.shape[1]


GRID = {"k": ["multiscale", (1, 2)], "representation": ["typed", "sorted"], "homology": ["h0", "h0+h1"]}


def searched(X, y, **options):
    model = PWLRClassifier(n_estimators=5, random_state=0, unseen="ignore")
    return GridSearchCV(model, GRID, cv=2, error_score="raise", **options).fit(X, y)


def test_grid_search(graphs):
    alone = searched(graphs, graphs.y)
    assert set(alone.best_params_) == set(GRID)
    scores = alone.cv_results_["mean_test_score"]
    assert len(scores) == 8
    np.testing.assert_array_equal(searched(graphs, graphs.y, n_jobs=2).cv_results_["mean_test_score"], scores)
    networkx = searched(graphs.to_networkx(), graphs.y, n_jobs=2)
    np.testing.assert_array_equal(networkx.cv_results_["mean_test_score"], scores)
    np.testing.assert_array_equal(
        networkx.best_estimator_.predict_proba(graphs), alone.best_estimator_.predict_proba(graphs)
    )


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_grid_search_around_threads(backend, graphs):
    """Two workers outside, two threads inside: the kernels must not share what only one may hold."""

    def scores(inner, outer):
        model = PWLRClassifier(n_estimators=5, random_state=0, n_jobs=inner)
        search = GridSearchCV(model, {"k": [(0, 0), (1, 1), (4, 4), "multiscale"]}, cv=3, n_jobs=outer)
        return search.fit(graphs, graphs.y).cv_results_["mean_test_score"]

    with joblib.parallel_config(backend=backend):
        np.testing.assert_array_equal(scores(2, 2), scores(None, None))


def test_two_threads_at_once(graphs):
    transformer = PWLRTransformer(k=[(0, 0), (5, 5), (np.inf, 1)]).fit(graphs)
    model = make("classifier").fit(graphs, graphs.y)
    vectors, shares = transformer.transform(graphs), model.predict_proba(graphs)
    found, start = {}, threading.Barrier(4)

    def work(name):
        start.wait()
        found[name] = [(transformer.transform(graphs), model.predict_proba(graphs)) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for pairs in found.values():
        for X, proba in pairs:
            np.testing.assert_array_equal(X, vectors)
            np.testing.assert_array_equal(proba, shares)


def test_cross_validation(graphs):
    folds = StratifiedKFold(3)
    scores = cross_val_score(make("classifier"), graphs, graphs.y, cv=folds)
    by_hand = [
        make("classifier").fit(graphs[train], graphs.y[train]).score(graphs[test], graphs.y[test])
        for train, test in folds.split(np.zeros(len(graphs)), graphs.y)
    ]
    np.testing.assert_array_equal(scores, by_hand)
    networkx = cross_val_score(make("classifier"), graphs.to_networkx(), graphs.y, cv=folds)
    np.testing.assert_array_equal(networkx, scores)
    assert cross_val_predict(make("classifier"), graphs, graphs.y, cv=folds).shape == graphs.y.shape


def test_shuffle_and_resample_keep_batches(graphs):
    mixed, y = shuffle(graphs, graphs.y, random_state=0)
    assert isinstance(mixed, GraphBatch)
    np.testing.assert_array_equal(mixed.y, y)
    drawn, y = resample(graphs, graphs.y, random_state=0)
    assert isinstance(drawn, GraphBatch)
    np.testing.assert_array_equal(drawn.y, y)


def test_in_the_ensembles_of_others(graphs):
    """Those that hand the input on as it is; bagging makes an array of it first and cannot work."""
    pair = [("typed", make("classifier")), ("lists", make("classifier", representation="sorted", unseen="ignore"))]
    for model in (
        VotingClassifier(pair, voting="soft"),
        StackingClassifier(pair, cv=3),
        OneVsRestClassifier(pair[0][1]),
    ):
        assert model.fit(graphs, graphs.y).score(graphs, graphs.y) > 0.8
    calibrated = CalibratedClassifierCV(make("classifier"), cv=3).fit(graphs, graphs.y)
    np.testing.assert_allclose(calibrated.predict_proba(graphs).sum(axis=1), 1)


def test_no_array_is_made_of_a_batch(graphs):
    """NumPy would take a batch of batches of batches apart until it gives up in words that help nobody."""
    with pytest.raises(TypeError, match="GraphBatch"):
        np.asarray(graphs)


def test_train_test_split_keeps_batches(graphs):
    train, test, y_train, y_test = train_test_split(graphs, graphs.y, random_state=0, stratify=graphs.y)
    assert isinstance(train, GraphBatch)
    assert isinstance(test, GraphBatch)
    assert len(train) + len(test) == len(graphs)
    np.testing.assert_array_equal(train.y, y_train)
    np.testing.assert_array_equal(test.y, y_test)


# -- what comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_names_are_unique_texts(variant, graphs):
    names = PWLRTransformer(k=[(0, 0), (1, 12), (np.inf, 3)], **VARIANTS[variant]).fit(graphs).get_feature_names_out()
    assert names.dtype == object
    assert all(type(name) is str and name for name in names)
    assert len(set(names)) == len(names)
    asked = PWLRTransformer(**VARIANTS[variant]).fit(graphs)
    np.testing.assert_array_equal(asked.get_feature_names_out(None), asked.get_feature_names_out())


def test_names_that_the_documentation_shows():
    graphs = pwlr.load_dataset("MUTAG")

    def names(**options):
        return PWLRTransformer(**options).fit(graphs).get_feature_names_out().tolist()

    lists = names(k=(1, 12), **PAPER_VARIANTS["PWLR-H0+H1"])
    assert lists == [f"h0[{i}]@1,12" for i in range(27)] + [f"h1[{i}]@1,12" for i in range(7)]
    assert "h1[3]@1,12" in lists
    pairs = names(k=(1, 12), **PAPER_VARIANTS["PWLR-OPT-H0"])
    assert "h0[2,3]@1,12" in pairs
    assert len(pairs) == 7
    several = names(k=[(0, 0), (np.inf, 2)], **PAPER_VARIANTS["PWLR-OPT-H1"])
    assert "h1[2,2]@0,0" in several
    assert "h1[2,2]@inf,2" in several
    moments = names(k=(1, 12), representation="degree-pairs", stats="moments")
    assert {"h0.count[2,3]@1,12", "h0.sum[2,3]@1,12", "h1.sumsq[2,3]@1,12"} < set(moments)
    typed = names()
    assert {"nodes", "h0", "h1", "nodes[C(3)]", "h1.count[C(2)-C(3):aromatic]@0,0"} < set(typed)
    assert "h0.sum[C(3)-N(3):single]@4,4" in typed
    # a graph's words never change a number
    plain = graphs.replace(node_label_names=None, edge_label_names=None)
    assert "h1.count[0(2)-0(3):0]@0,0" in PWLRTransformer().fit(plain).get_feature_names_out()
    np.testing.assert_array_equal(PWLRTransformer().fit_transform(plain), PWLRTransformer().fit_transform(graphs))


def test_the_totals_count_nodes_and_edges(graphs):
    X = PWLRTransformer().set_output(transform="pandas").fit_transform(graphs)
    np.testing.assert_array_equal(X["nodes"], np.diff(graphs.node_ptr))
    np.testing.assert_array_equal(X["h0"] + X["h1"], np.diff(graphs.edge_ptr))


@pytest.mark.parametrize("variant", VARIANTS)
def test_pandas_output(variant, graphs):
    transformer = PWLRTransformer(**VARIANTS[variant])
    plain = transformer.fit_transform(graphs)
    frame = clone(transformer).set_output(transform="pandas").fit_transform(graphs)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == transformer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    np.testing.assert_array_equal(transformer.set_output(transform="pandas").transform(graphs).to_numpy(), plain)


def test_polars_output(graphs):
    polars = pytest.importorskip("polars")
    frame = PWLRTransformer().set_output(transform="polars").fit_transform(graphs)
    assert isinstance(frame, polars.DataFrame)
    np.testing.assert_array_equal(frame.to_numpy(), PWLRTransformer().fit_transform(graphs))


def test_pandas_through_a_pipeline(graphs):
    model = make_pipeline(PWLRTransformer(k=(1, 1)), StandardScaler()).set_output(transform="pandas")
    frame = model.fit_transform(graphs)
    assert frame.columns.tolist() == PWLRTransformer(k=(1, 1)).fit(graphs).get_feature_names_out().tolist()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, "float32"])
def test_sparse_and_dense_output_are_equal(variant, dtype, graphs):
    options = {"k": [(0, 0), (2, 3)], "dtype": dtype, **VARIANTS[variant]}
    dense = PWLRTransformer(**options).fit_transform(graphs)
    sparse = PWLRTransformer(sparse_output=True, **options).fit_transform(graphs)
    assert isinstance(sparse, sp.csr_array)
    assert sparse.shape == dense.shape
    assert sparse.dtype == dense.dtype == np.dtype(dtype)
    assert sparse.has_canonical_format
    assert np.count_nonzero(sparse.data) == sparse.nnz
    np.testing.assert_array_equal(sparse.toarray(), dense)
    threads = PWLRTransformer(sparse_output=True, n_jobs=3, **options).fit_transform(graphs)
    np.testing.assert_array_equal(threads.toarray(), dense)
    full = PWLRTransformer(**{**options, "dtype": np.float64}).fit_transform(graphs)
    np.testing.assert_array_equal(dense, full.astype(dtype))  # all arithmetic is float64


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_jobs", [2, 3, 7, -1])
def test_threads_change_no_bit(variant, n_jobs, graphs):
    options = {"k": [(0, 0), (2, 3), (np.inf, 0)], **VARIANTS[variant]}
    one = PWLRTransformer(**options).fit_transform(graphs)
    np.testing.assert_array_equal(PWLRTransformer(n_jobs=n_jobs, **options).fit_transform(graphs), one)


def test_more_threads_than_graphs(graphs):
    few = graphs[:2]
    np.testing.assert_array_equal(PWLRTransformer(n_jobs=8).fit_transform(few), PWLRTransformer().fit_transform(few))


def test_graphs_without_columns_give_rows_without_columns():
    trees = [nx.path_graph(3), nx.star_graph(4)]
    assert PWLRTransformer(representation="sorted", homology="h1").fit_transform(trees).shape == (2, 0)
    assert PWLRTransformer(representation="degree-pairs").fit_transform([nx.empty_graph(3)]).shape == (1, 0)
    typed = PWLRTransformer().fit([nx.empty_graph(0), nx.empty_graph(2)])
    assert typed.transform([nx.empty_graph(2)])[0, typed.get_feature_names_out().tolist().index("nodes")] == 2


# -- what goes in ------------------------------------------------------------------------------------------------------


def inputs(graphs):
    boxed = np.empty(len(graphs), dtype=object)
    boxed[:] = graphs.to_networkx()
    return {
        "list of batches": list(graphs),
        "tuple of batches": (graphs[:10], graphs[10:]),
        "networkx": graphs.to_networkx(),
        "array of networkx": boxed,
        "igraph": graphs.to_igraph(),
        "grakel": graphs.to_grakel(),
        "generator": (graph for graph in graphs.to_networkx()),
    }


@both
@pytest.mark.parametrize("form", list(inputs(pwlr.load_dataset("MUTAG")[:1])))
def test_every_kind_of_input(kind, form, graphs):
    expected = answers(make(kind).fit(graphs, graphs.y), graphs)
    estimator = make(kind).fit(inputs(graphs)[form], graphs.y)
    np.testing.assert_array_equal(answers(estimator, inputs(graphs)[form]), expected)
    np.testing.assert_array_equal(answers(estimator, graphs), expected)


@both
def test_matrices_as_input(kind, graphs):
    bare = graphs.replace(node_labels=None, edge_labels=None)
    expected = answers(make(kind).fit(bare, bare.y), bare)
    for matrices in (bare.to_scipy(), [matrix.toarray() for matrix in bare.to_scipy()]):
        np.testing.assert_array_equal(answers(make(kind).fit(matrices, bare.y), matrices), expected)


@both
def test_labels_are_compared_by_value_not_by_code(kind, graphs):
    words = np.array(["C", "N", "O", "F", "I", "Cl", "Br"])
    named = graphs.replace(node_labels=words[graphs.node_labels], node_label_names=None)
    estimator = make(kind).fit(named, named.y)
    few = named[[3, 1]]  # fewer kinds: other codes inside the batch
    np.testing.assert_array_equal(answers(estimator, few), answers(estimator, named)[[3, 1]])
    assert len(dense_codes(few.node_labels)) < len(dense_codes(named.node_labels))


@both
@pytest.mark.parametrize("nothing", ["batch", "list"])
def test_no_graphs(kind, nothing, graphs):
    none = {"batch": graphs[:0], "list": []}[nothing]
    with pytest.raises(pwlr.GraphFormatError, match="no graphs"):
        make(kind).fit(none, [])
    if kind == "transformer":
        fitted = make(kind).fit(graphs)
        assert fitted.transform(none).shape == (0, fitted.n_features_out_)
        assert PWLRTransformer(sparse_output=True).fit(graphs).transform(none).shape == (0, fitted.n_features_out_)


@both
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (nx.path_graph(3), "wrap it in a list"),
        (np.eye(3), "wrap it in a list"),
        ("MUTAG", "load_dataset"),
        ([[(0, 1)]], "from_edges"),
        ([1, 2, 3], "graph 0 is an int"),
        ([nx.path_graph(3), None], "graph 1 is a NoneType"),
        (7, "graphs are an int"),
        (None, "graphs are a NoneType"),
    ],
    ids=["one networkx", "one matrix", "a name", "edge lists", "numbers", "a hole", "a number", "nothing"],
)
def test_wrong_input_is_refused_with_a_remedy(kind, wrong, words, graphs):
    with pytest.raises(pwlr.GraphFormatError, match=words):
        make(kind).fit(wrong, [0])
    with pytest.raises(pwlr.GraphFormatError, match=words):
        answers(make(kind).fit(graphs, graphs.y), wrong)
