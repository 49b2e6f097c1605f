"""`PWLRTransformer` and `PWLRClassifier`: what is fitted, what is chosen and on which graphs, and what is refused."""

import itertools
import json
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

import pwlr
from pwlr import (
    PAPER_VARIANTS,
    GraphBatch,
    GraphFormatError,
    OptionError,
    PWLRClassifier,
    PWLRTransformer,
    UnseenWarning,
)
from pwlr.estimators import SEARCH_GRID
from pwlr.method.diffusion import MULTISCALE

VARIANTS = {"typed": {}, **{name: dict(options) for name, options in PAPER_VARIANTS.items()}}


@pytest.fixture(scope="module")
def mutag() -> GraphBatch:
    return pwlr.load_dataset("MUTAG")


@pytest.fixture(scope="module")
def graphs(mutag) -> GraphBatch:
    return mutag[::3]


@pytest.fixture(scope="module")
def others(mutag) -> GraphBatch:
    return mutag[1::3]


def classifier(**options) -> PWLRClassifier:
    return PWLRClassifier(**{"n_estimators": 20, "random_state": 0, "unseen": "ignore", **options})


def searching(**options) -> PWLRClassifier:
    """Enough trees that every graph is out of some bag, so scikit-learn has nothing to warn about."""
    return classifier(**{"k": "search", "n_estimators": 40, **options})


# -- nothing to choose -------------------------------------------------------------------------------------------------


def test_the_default_is_typed_at_multiscale_k_and_a_forest_of_200(mutag):
    fitted = PWLRClassifier(random_state=0).fit(mutag, mutag.y)
    assert fitted.best_params_ == {"k": MULTISCALE, "representation": "typed", "homology": "h0+h1"}
    assert MULTISCALE == ((0, 0), (1, 1), (4, 4))
    assert fitted.selection_table_ == {}
    assert fitted.node_features_ == "labels"
    assert isinstance(fitted.forest_, RandomForestClassifier)
    assert fitted.forest_.get_params() == {
        **RandomForestClassifier(200).get_params(),
        "random_state": fitted.forest_.random_state,
        "n_jobs": fitted.forest_.n_jobs,
    }
    assert fitted.layout_.names == PWLRTransformer().fit(mutag).layout_.names
    assert fitted.score(mutag, mutag.y) > 0.98


def test_it_has_learnt_something(mutag):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(classifier(n_estimators=50), mutag, mutag.y, cv=folds)
    assert scores.mean() > 0.85  # the majority has 0.665, numbers of nodes and edges give 0.84


@pytest.mark.parametrize(
    ("k", "best"),
    [((1, 12), (1, 12)), ([(1, 12)], (1, 12)), ([[0, 1], [2, 0]], ((0, 1), (2, 0))), ((np.inf, 0), (np.inf, 0))],
)
def test_a_given_k_is_what_is_used(k, best, graphs):
    fitted = classifier(k=k).fit(graphs, graphs.y)
    assert fitted.best_params_["k"] == best
    assert fitted.selection_table_ == {}
    assert {name.partition("@")[2] for name in fitted.get_feature_names_out()} - {""} == {
        f"{k1},{k2}" for k1, k2 in np.atleast_2d(np.array(best, dtype=object))
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_forest_is_scikit_learns_on_the_transformers_vectors(variant, graphs, others):
    fitted = classifier(k=[(0, 0), (2, 3)], **VARIANTS[variant]).fit(graphs, graphs.y)
    transformer = PWLRTransformer(k=[(0, 0), (2, 3)], unseen="ignore", **VARIANTS[variant])
    X = transformer.fit_transform(graphs)
    forest = RandomForestClassifier(20, random_state=fitted.forest_.random_state).fit(X, graphs.y)
    for batch in (graphs, others):
        vectors = transformer.transform(batch)
        np.testing.assert_array_equal(fitted.predict_proba(batch), forest.predict_proba(vectors))
        np.testing.assert_array_equal(fitted.predict(batch), forest.predict(vectors))
        # pwlr makes the vectors float32, scikit-learn casts float64 ones: the same
        single = clone(transformer).set_params(dtype=np.float32).fit(graphs).transform(batch)
        np.testing.assert_array_equal(single, vectors.astype(np.float32))
        np.testing.assert_array_equal(fitted.forest_.predict_proba(single), forest.predict_proba(vectors))
    np.testing.assert_array_equal(fitted.feature_importances_, forest.feature_importances_)


@pytest.mark.parametrize(
    "options",
    [
        {"representation": "degree-pairs", "stats": "moments"},
        {"representation": "degree-pairs", "tau": 0.25},
        {"representation": "sorted", "tau": 7.0},
        {"min_graphs": 9},
        {"p": np.inf},
        {"node_features": "degree"},
        {"edge_weights": "max-degree"},
        {"homology": "h1"},
        {"backend": "numpy"},
    ],
    ids=repr,
)
def test_every_option_reaches_the_vectors(options, graphs):
    fitted = classifier(k=(1, 2), **options).fit(graphs, graphs.y)
    transformer = PWLRTransformer(k=(1, 2), **options)
    X = transformer.fit_transform(graphs)
    assert fitted.layout_.names == transformer.layout_.names
    forest = RandomForestClassifier(20, random_state=fitted.forest_.random_state).fit(X, graphs.y)
    np.testing.assert_array_equal(fitted.predict_proba(graphs), forest.predict_proba(X))
    plain = PWLRTransformer(k=(1, 2), **{key: options[key] for key in options if key == "representation"})
    assert options == {"backend": "numpy"} or not np.array_equal(plain.fit_transform(graphs), X)


def test_random_state(graphs, others):
    first, same, other = (
        classifier(random_state=seed).fit(graphs, graphs.y).predict_proba(others) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    stream = np.random.RandomState(7)
    model = classifier(random_state=stream)
    drawn = [model.fit(graphs, graphs.y).predict_proba(others) for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()  # one stream goes on, as in scikit-learn's own forests
    again = classifier(random_state=np.random.RandomState(7)).fit(graphs, graphs.y).predict_proba(others)
    np.testing.assert_array_equal(again, drawn[0])
    free = [classifier(random_state=None).fit(graphs, graphs.y).predict_proba(others) for _ in range(2)]
    assert (free[0] != free[1]).any()


def test_the_global_generator_is_left_alone(graphs):
    np.random.seed(5)  # noqa: NPY002 - the old global generator is what is looked at
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    searching(search_grid=[(0, 0), (1, 1)]).fit(graphs, graphs.y).predict(graphs)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("variant", ["typed", "PWLR-H0+H1", "PWLR-OPT-H1"])
def test_shares_and_importances_sum_to_one(variant, graphs, others):
    fitted = classifier(**VARIANTS[variant]).fit(graphs, graphs.y)
    shares = fitted.predict_proba(others)
    assert shares.shape == (len(others), 2)
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-12)
    names = fitted.get_feature_names_out()
    assert fitted.feature_importances_.shape == names.shape == (fitted.layout_.n_columns,)
    assert (fitted.feature_importances_ >= 0).all()
    np.testing.assert_allclose(fitted.feature_importances_.sum(), 1, rtol=0, atol=1e-12)
    assert names.tolist() == fitted.layout_.names


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("options", [{}, {"k": "search", "search_grid": [(0, 0), (2, 1)], "n_estimators": 40}])
def test_threads_change_no_bit(n_jobs, options, graphs, others):
    one, many = (classifier(n_jobs=n, **options).fit(graphs, graphs.y) for n in (None, n_jobs))
    np.testing.assert_array_equal(many.predict_proba(others), one.predict_proba(others))
    np.testing.assert_array_equal(many.feature_importances_, one.feature_importances_)
    assert many.best_params_ == one.best_params_
    for column, values in one.selection_table_.items():
        np.testing.assert_array_equal(many.selection_table_[column], values)


def test_backends_agree(graphs, others):
    numpy, numba, auto = (
        classifier(backend=backend, n_estimators=50).fit(graphs, graphs.y) for backend in ("numpy", "numba", "auto")
    )
    # heights differ in their last digits, which may move a threshold between two graphs
    assert np.mean(numpy.predict(others) == numba.predict(others)) > 0.95
    np.testing.assert_array_equal(auto.predict_proba(others), numba.predict_proba(others))


def test_graphs_alone_and_together(graphs, others):
    fitted = classifier().fit(graphs, graphs.y)
    together = fitted.predict_proba(others)
    np.testing.assert_array_equal(np.concatenate([fitted.predict_proba(graph) for graph in others]), together)
    np.testing.assert_array_equal(fitted.predict_proba(others[::-1])[::-1], together)
    repeated = fitted.predict_proba(others[[0] * 50])
    np.testing.assert_array_equal(repeated, np.tile(together[0], (50, 1)))


# -- the search --------------------------------------------------------------------------------------------------------


def test_the_default_grid(graphs):
    steps = (0, 1, 3, 8, 20)
    assert set(SEARCH_GRID) == set(itertools.product(steps, steps))
    fitted = searching(representation="degree-pairs").fit(graphs, graphs.y)
    table = fitted.selection_table_
    assert set(table) == {"k1", "k2", "representation", "homology", "n_columns", "oob_score"}
    assert sorted(zip(table["k1"].tolist(), table["k2"].tolist(), strict=True)) == sorted(SEARCH_GRID)
    assert all(len(column) == 25 for column in table.values())
    assert ((table["oob_score"] > 0) & (table["oob_score"] <= 1)).all()
    best = np.flatnonzero(table["oob_score"] == table["oob_score"].max())
    chosen = min(((table["k1"][i], table["k2"][i]) for i in best), key=lambda k: (sum(k), k[0]))
    assert fitted.best_params_ == {"k": chosen, "representation": "degree-pairs", "homology": "h0+h1"}


def test_the_search_ends_in_the_classifier_of_the_chosen_k(graphs, others):
    fitted = searching(search_grid=[(0, 0), (1, 3), (20, 0)]).fit(graphs, graphs.y)
    fixed = searching(k=fitted.best_params_["k"]).fit(graphs, graphs.y)
    np.testing.assert_array_equal(fitted.predict_proba(others), fixed.predict_proba(others))


def test_scores_are_out_of_bag_scores_of_the_same_forests(graphs):
    grid = [(0, 0), (1, 3), (np.inf, 1), (2, np.inf)]
    fitted = searching(search_grid=grid).fit(graphs, graphs.y)
    table = fitted.selection_table_
    assert {(k1, k2) for k1, k2 in zip(table["k1"], table["k2"], strict=True)} == set(grid)
    for k1, k2, width, score in zip(*(table[name] for name in ("k1", "k2", "n_columns", "oob_score")), strict=True):
        X = PWLRTransformer(k=(k1, k2)).fit_transform(graphs)
        seed = fitted.forest_.random_state
        forest = RandomForestClassifier(40, random_state=seed, oob_score=True, bootstrap=True).fit(X, graphs.y)
        assert X.shape[1] == width
        np.testing.assert_allclose(score, forest.oob_score_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", list(itertools.permutations([(0, 3), (2, 0), (1, 1)])))
def test_ties_go_to_the_smaller_sum_then_to_the_smaller_k1(order):
    # complete graphs without labels: all heights are 0 for all k, all vectors are equal, all candidates tie
    cliques = GraphBatch.from_networkx([nx.complete_graph(n) for n in (2, 3, 4, 5) * 8], y=[0, 0, 1, 1] * 8)
    fitted = searching(search_grid=[*order, (4, 0), (0, 4)]).fit(cliques, cliques.y)
    table = fitted.selection_table_
    assert len(set(table["oob_score"].tolist())) == 1
    assert fitted.best_params_["k"] == (1, 1)
    assert list(zip(table["k1"].tolist(), table["k2"].tolist(), strict=True)) == [
        (1, 1),
        (2, 0),
        (0, 3),
        (0, 4),
        (4, 0),
    ]


def test_ties_between_representations_go_to_the_first_of_the_paper():
    cycles = GraphBatch.from_networkx([nx.cycle_graph(n) for n in (3, 4, 9, 10) * 8], y=[0, 0, 1, 1] * 8)
    fitted = searching(representation="search", search_grid=[(1, 0), (0, 1)]).fit(cycles, cycles.y)
    table = fitted.selection_table_
    best = int(np.argmax(table["oob_score"]))
    assert fitted.best_params_ == {
        "k": (0, 1),
        "representation": table["representation"][best],
        "homology": table["homology"][best],
    }
    assert (table["k1"][:6] == 0).all()
    assert (table["k1"][6:] == 1).all()
    paper = [(options["representation"], options["homology"]) for options in PAPER_VARIANTS.values()]
    assert list(zip(table["representation"], table["homology"], strict=True)) == paper * 2


def test_the_search_of_a_representation(graphs, others):
    at_two = classifier(k=[(0, 1), (2, 2)], representation="search", n_estimators=40).fit(graphs, graphs.y)
    table = at_two.selection_table_
    assert set(table) == {"representation", "homology", "n_columns", "oob_score"}
    assert len(table["oob_score"]) == 6
    best = int(np.argmax(table["oob_score"]))
    assert at_two.best_params_ == {
        "k": ((0, 1), (2, 2)),
        "representation": table["representation"][best],
        "homology": table["homology"][best],
    }
    fixed = classifier(**at_two.best_params_, n_estimators=40).fit(graphs, graphs.y)
    np.testing.assert_array_equal(at_two.predict_proba(others), fixed.predict_proba(others))


def test_widths_in_the_table(graphs):
    table = classifier(k=(1, 1), representation="search", n_estimators=40).fit(graphs, graphs.y).selection_table_
    widths = {
        (options["representation"], options["homology"]): PWLRTransformer(k=(1, 1), **options)
        .fit(graphs)
        .n_features_out_
        for options in PAPER_VARIANTS.values()
    }
    found = zip(table["representation"], table["homology"], table["n_columns"], strict=True)
    assert {(representation, homology): width for representation, homology, width in found} == widths


def test_the_search_sees_the_training_graphs_alone(mutag):
    """Whatever else there is in the batch that the training graphs were cut from, the choice is the same."""
    train, test = np.arange(0, 188, 2), np.arange(1, 188, 2)
    grid = [(0, 0), (1, 1), (3, 8)]
    cut = searching(search_grid=grid).fit(mutag[train], mutag.y[train])
    relabelled = mutag.replace(y=np.where(np.isin(np.arange(188), test), -mutag.y, mutag.y))
    again = searching(search_grid=grid).fit(relabelled[train], relabelled.y[train])
    for column, values in cut.selection_table_.items():
        np.testing.assert_array_equal(again.selection_table_[column], values)
    np.testing.assert_array_equal(again.predict_proba(mutag[test]), cut.predict_proba(mutag[test]))


def test_a_search_among_one_is_no_search(graphs):
    for grid in ([(2, 3)], [(2, 3), (2.0, 3)], np.array([[2, 3]])):
        fitted = searching(search_grid=grid).fit(graphs, graphs.y)
        assert fitted.selection_table_ == {}
        assert fitted.best_params_["k"] == (2, 3)


def test_any_listing_of_pairs_is_a_grid(graphs):
    grids = (itertools.product(range(2), range(2)), [[0, 0], [0, 1], [1, 0], [1, 1]], np.array(list(np.ndindex(2, 2))))
    tables = [searching(search_grid=grid).fit(graphs, graphs.y).selection_table_ for grid in grids]
    for table in tables:
        np.testing.assert_array_equal(table["oob_score"], tables[0]["oob_score"])
        assert table["k1"].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("grid", [[], [(1, 2, 3)], [1, 2], [(0, -1)], [(0, 1.5)], [("a", "b")], 5, "multiscale"])
def test_a_bad_grid_is_refused(grid, graphs):
    with pytest.raises(OptionError, match=r"search_grid|k[12]="):
        searching(search_grid=grid).fit(graphs, graphs.y)


@pytest.mark.parametrize("k", ["multiscale", (1, 1), [(0, 0), (1, 1)]])
def test_a_grid_without_a_search_is_refused(k, graphs):
    with pytest.raises(OptionError, match=r"search_grid.*k='search'"):
        classifier(k=k, search_grid=[(0, 0)]).fit(graphs, graphs.y)


def test_the_transformer_searches_nothing(graphs):
    for options in ({"k": "search"}, {"representation": "search"}):
        with pytest.raises(OptionError, match="'search'"):
            PWLRTransformer(**options).fit(graphs)
    with pytest.raises(OptionError, match=r"\(k1, k2\)"):  # what may stand there is more than 'multiscale'
        PWLRTransformer(k="search").fit(graphs)


def test_too_few_trees_for_the_search_are_said_once_or_never(graphs):
    """Scikit-learn warns for every forest that some graphs are in all bags; 25 times the same helps nobody."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        searching(n_estimators=5, search_grid=[(0, i) for i in range(4)]).fit(graphs, graphs.y)
    assert len(caught) <= 1


# -- graphs that are not like those of the fit -------------------------------------------------------------------------


def test_searching_graphs_without_cycles():
    """The H1 candidates have no columns at all there; that must not end the search."""
    trees = GraphBatch.from_networkx([nx.path_graph(3), nx.star_graph(5)] * 20, y=[0, 1] * 20)
    fitted = searching(representation="search", search_grid=[(0, 0), (1, 1)]).fit(trees, trees.y)
    assert fitted.score(trees, trees.y) == 1
    assert fitted.best_params_["homology"] != "h1"


@pytest.mark.parametrize("representation", ["sorted", "degree-pairs", "typed"])
def test_vectors_without_any_column(representation):
    """Nothing is known about such graphs, so the most frequent class is the answer; scikit-learn's forest refuses."""
    trees = GraphBatch.from_networkx([nx.empty_graph(2)] * 20, y=[0] * 12 + [1] * 8)
    fitted = classifier(representation=representation, homology="h1").fit(trees, trees.y)
    assert (fitted.predict(trees) == 0).all()
    assert fitted.predict_proba(trees).shape == (20, 2)


def test_labels_of_another_type_are_refused(graphs):
    words = graphs.replace(node_labels=graphs.node_labels.astype(str), node_label_names=None)
    without = graphs.replace(node_labels=None, node_label_names=None)
    fitted = classifier().fit(graphs, graphs.y)
    with pytest.raises(GraphFormatError, match=r"fitted on graphs with node labels: integers.*these have.*strings"):
        fitted.predict(words)
    with pytest.raises(GraphFormatError, match="node labels: none"):
        fitted.predict(without)
    with pytest.raises(GraphFormatError, match="edge labels: none"):
        PWLRTransformer().fit(graphs).transform(graphs.replace(edge_labels=None, edge_label_names=None))
    with pytest.raises(GraphFormatError, match=r"node labels: none.*these have node labels: integers"):
        PWLRTransformer().fit(without).transform(graphs)


def test_label_types_matter_only_where_labels_are_used(graphs):
    """Lists and degree pairs hold heights alone: labels of another type give the same ones."""
    words = graphs.replace(node_labels=graphs.node_labels.astype(str), node_label_names=None)
    for representation in ("sorted", "degree-pairs"):
        transformer = PWLRTransformer(representation=representation).fit(graphs)
        np.testing.assert_array_equal(transformer.transform(words), transformer.transform(graphs))


@pytest.mark.parametrize("representation", ["typed", "sorted", "degree-pairs"])
@pytest.mark.parametrize("node_features", ["attributes", "both"])
def test_another_number_of_attributes_is_refused(representation, node_features, graphs, rng):
    three, two = (graphs.replace(node_attributes=rng.normal(size=(graphs.n_nodes, width))) for width in (3, 2))
    fitted = classifier(representation=representation, node_features=node_features).fit(three, three.y)
    with pytest.raises(GraphFormatError, match=r"3 node attributes; these have 2"):
        fitted.predict(two)
    with pytest.raises(GraphFormatError, match=r"3 node attributes; these have 0"):
        fitted.predict(graphs)
    labelled = PWLRTransformer(node_features="labels").fit(three)
    np.testing.assert_array_equal(labelled.transform(two), labelled.transform(three))


def test_auto_features_are_settled_at_fit(graphs, rng):
    bare = graphs.replace(node_labels=None, node_label_names=None)
    measured = bare.replace(node_attributes=rng.normal(size=(bare.n_nodes, 1)))
    assert PWLRTransformer().fit(graphs).node_features_ == "labels"
    assert PWLRTransformer().fit(measured).node_features_ == "attributes"
    assert PWLRTransformer().fit(bare).node_features_ == "degree"
    assert (
        PWLRTransformer().fit(graphs.replace(node_attributes=np.ones((graphs.n_nodes, 2)))).node_features_ == "labels"
    )
    by_degree = PWLRTransformer(representation="sorted").fit(bare)
    np.testing.assert_array_equal(by_degree.transform(measured), by_degree.transform(bare))
    with pytest.raises(OptionError, match="needs node labels"):
        PWLRTransformer(representation="sorted").fit(graphs).transform(bare)


def ring_with_tail(n: int) -> nx.Graph:
    graph = nx.cycle_graph(n)
    graph.add_edge(0, n)
    return graph


@pytest.mark.parametrize(
    ("representation", "words"),
    [("sorted", r"longer H[01] list than the fitted \d+ \(graph 1"), ("degree-pairs", r"graph 1: \(2, 4\)|\(4, 4\)")],
)
def test_unseen(representation, words):
    known = [nx.cycle_graph(4), ring_with_tail(4)]
    bigger = [nx.cycle_graph(4), nx.complete_bipartite_graph(4, 4)]
    options = {"representation": representation, "k": (0, 1)}
    with pytest.warns(UnseenWarning, match=words):
        warned = PWLRTransformer(**options).fit(known).transform(bigger)
    ignored = PWLRTransformer(unseen="ignore", **options).fit(known).transform(bigger)
    np.testing.assert_array_equal(warned, ignored)
    strict = PWLRTransformer(unseen="error", **options).fit(known)
    with pytest.raises(pwlr.UnseenError, match=words):
        strict.transform(bigger)
    np.testing.assert_array_equal(strict.transform(known), PWLRTransformer(**options).fit_transform(known))
    model = PWLRClassifier(n_estimators=5, random_state=0, **options).fit(known * 5, [0, 1] * 5)
    with pytest.warns(UnseenWarning):
        model.predict(bigger)


@pytest.mark.parametrize("n_jobs", [None, 2, 4])
@pytest.mark.parametrize("representation", ["sorted", "degree-pairs"])
def test_warnings_count_graphs_over_the_whole_batch(n_jobs, representation):
    transformer = PWLRTransformer(k=(0, 0), representation=representation, homology="h0", n_jobs=n_jobs)
    transformer.fit([nx.cycle_graph(4)] * 4)
    strange = [nx.cycle_graph(4)] * 9 + [nx.complete_bipartite_graph(3, 4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transformer.transform(strange)
    assert len(caught) == 1  # one for the batch, not one for each thread
    assert "graph 9: " in str(caught[0].message)


@pytest.mark.parametrize("n_jobs", [None, 2, 4])
def test_options_look_at_the_whole_batch(n_jobs, graphs):
    def weights(batch):
        assert len(batch) == len(graphs)
        return np.linspace(1, 2, batch.n_edges)

    one = PWLRTransformer(edge_weights=weights).fit_transform(graphs)
    np.testing.assert_array_equal(PWLRTransformer(edge_weights=weights, n_jobs=n_jobs).fit_transform(graphs), one)
    measured = graphs.replace(edge_attributes=np.r_[np.ones(graphs.n_edges - 1), 0])
    with pytest.raises(GraphFormatError, match=f"graph {len(graphs) - 1}: edge .* has weight inf"):
        PWLRTransformer(edge_weights="reciprocal", n_jobs=n_jobs).fit_transform(measured)


def test_typed_falls_back_and_says_nothing():
    transformer = PWLRTransformer(k=(0, 1), unseen="error").fit([nx.cycle_graph(4), ring_with_tail(4)] * 3)
    X = transformer.transform([nx.complete_graph(6)])
    names = transformer.get_feature_names_out().tolist()
    assert X[0, names.index("nodes")] == 6
    assert X[0, names.index("h0")] == 5
    assert X[0, names.index("h1")] == 10
    assert X[0].sum() == 21  # nothing but the totals is known of such edges


def test_lists_are_cut_at_the_largest_heights():
    transformer = PWLRTransformer(k=(0, 0), representation="sorted", homology="h0", unseen="ignore")
    labelled = GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3), (3, 4)]], node_labels=[["a", "a", "b"], ["a", "b", "b", "b", "b"]]
    )
    X = transformer.fit(labelled[0]).transform(labelled)
    np.testing.assert_array_equal(X, [[1.0, 3.0], [1.0, 1.0]])


# -- memory ------------------------------------------------------------------------------------------------------------

PEAK = """
import json, resource, sys
import pwlr
graphs = pwlr.load_dataset("DD", data_dir=sys.argv[1])
fitted = pwlr.PWLRClassifier(n_estimators=50, random_state=0, n_jobs=2).fit(graphs, graphs.y)
print(json.dumps({
    "graphs": len(graphs),
    "kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    "columns": fitted.layout_.n_columns,
    "score": fitted.score(graphs[:100], graphs.y[:100]),
}))
"""


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in kilobytes on Linux alone")
def test_dd_fits_in_two_gigabytes(data_dir):
    run = subprocess.run([sys.executable, "-c", PEAK, data_dir], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert found["graphs"] == 1178
    assert found["kilobytes"] < 2_000_000
    assert found["columns"] <= 11_780
    assert found["score"] > 0.9
