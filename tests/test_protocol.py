"""The cross-validation: what is held out stays held out, baselines are what they say, and the sums are right."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import pwlr
from pwlr import PAPER_VARIANTS, DatasetError, GraphBatch, OptionError, PWLRClassifier
from pwlr.experiments import protocol
from pwlr.experiments.protocol import MAJORITY, OURS, SIZE, FoldResult, run_folds, splits, summarize


@pytest.fixture(scope="module")
def mutag() -> GraphBatch:
    graphs = pwlr.load_dataset("MUTAG")
    return graphs.replace(ids=np.arange(len(graphs)))


# -- splits ------------------------------------------------------------------------------------------------------------


def listed(*arguments):
    return [(r, f, train.tolist(), test.tolist()) for r, f, train, test in splits(*arguments)]


def test_every_graph_is_held_out_once_in_each_repetition(mutag):
    for n_folds in (2, 3, 10):
        found = listed(mutag.y, n_folds, 3, 0)
        assert [(r, f) for r, f, _, _ in found] == [(r, f) for r in range(3) for f in range(n_folds)]
        for repetition in range(3):
            held_out = [graph for r, _, _, test in found if r == repetition for graph in test]
            assert sorted(held_out) == list(range(188))
        for _, _, train, test in found:
            assert sorted([*train, *test]) == list(range(188))


def test_splits_are_stratified(mutag):
    for _, _, train, test in splits(mutag.y, 10, 2, 5):
        for label in (-1, 1):
            share = np.mean(mutag.y == label)
            assert abs(np.sum(mutag.y[test] == label) - share * len(test)) <= 1
            assert abs(np.sum(mutag.y[train] == label) - share * len(train)) <= 1


def test_splits_hang_on_the_seed_and_the_classes_alone(mutag):
    first = listed(mutag.y, 5, 2, 7)
    np.random.seed(99)  # noqa: NPY002 - the old global generator must not matter
    assert listed(mutag.y, 5, 2, 7) == first
    names = np.where(mutag.y > 0, "active", "a none")
    assert [part[2:] for part in listed(names, 5, 2, 7)] != []
    assert listed(mutag.y * 10, 5, 2, 7) == first
    assert listed(mutag.y, 5, 2, 8) != first
    assert listed(mutag.y, 5, 2, 7)[:5] != [(0, *part[1:]) for part in first[5:]]
    assert [part[1:] for part in listed(mutag.y, 5, 1, 8)] == [part[1:] for part in first[5:]]


# -- what a method gets to see -----------------------------------------------------------------------------------------


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers what it was shown; tells nothing."""

    seen: list = []  # of the class: the protocol clones methods  # noqa: RUF012

    def fit(self, X, y):
        self.known_ = {"fit": (X.ids.tolist(), y.tolist(), X.y.tolist())}
        self.seen.append(self.known_)
        return self

    def predict(self, X):
        self.known_["predict"] = X.ids.tolist()
        return np.zeros(len(X))


@pytest.fixture
def spy():
    Spy.seen.clear()
    return Spy()


def test_no_method_sees_what_it_is_scored_on(mutag, spy):
    run_folds(mutag, {"spy": spy}, n_folds=5, repetitions=2, seed=1)
    assert len(Spy.seen) == 10
    for (_, _, train, test), known in zip(splits(mutag.y, 5, 2, 1), Spy.seen, strict=True):
        graphs, y, own_y = known["fit"]
        assert graphs == train.tolist()
        assert known["predict"] == test.tolist()
        assert not set(graphs) & set(known["predict"])
        assert y == own_y == mutag.y[train].tolist()
    assert not hasattr(spy, "known_")  # a clone is fitted, never the method itself


def test_layouts_and_searches_see_the_training_graphs_alone(mutag):
    methods = {
        "typed": PWLRClassifier(n_estimators=3, random_state=0),
        "searched": PWLRClassifier(k="search", search_grid=[(0, 0), (1, 1)], n_estimators=40, random_state=0),
    }
    results = run_folds(mutag, methods, n_folds=3)
    for (_, fold, train, test), typed, searched in zip(
        splits(mutag.y, 3, 1, 0), results[::2], results[1::2], strict=True
    ):
        assert typed.fold == searched.fold == fold
        ours = methods["typed"].fit(mutag[train], mutag.y[train])
        assert typed.n_columns == ours.layout_.n_columns
        assert typed.accuracy == ours.score(mutag[test], mutag.y[test])
        assert typed.chosen == ours.best_params_
        alone = methods["searched"].fit(mutag[train], mutag.y[train])
        assert searched.chosen == alone.best_params_
        assert searched.accuracy == alone.score(mutag[test], mutag.y[test])


def test_a_leak_would_be_seen(mutag):
    """A forest shown everything would score near 1; the honest protocol is far from it on labels without meaning."""
    shuffled = mutag.replace(y=np.random.default_rng(0).permutation(mutag.y))
    model = PWLRClassifier(n_estimators=50, random_state=0)
    assert model.fit(shuffled, shuffled.y).score(shuffled, shuffled.y) > 0.85
    methods = {OURS: model, MAJORITY: protocol.methods_to_compare()[MAJORITY]}
    ours, majority = summarize(run_folds(shuffled, methods, n_folds=10, repetitions=2))
    assert majority.mean == pytest.approx(125 / 188, abs=0.01)
    # a forest without anything to go by guesses in proportion: 0.665 squared and 0.335 squared are 0.55
    assert 0.45 < ours.mean < majority.mean + 0.03


def test_results_come_in_order_and_are_told_one_by_one(mutag):
    told = []
    methods = {"first": Spy(), "second": Spy()}
    results = run_folds(mutag, methods, n_folds=2, repetitions=2, after_each=told.append)
    assert told == results
    assert [(result.repetition, result.fold, result.method) for result in results] == [
        (r, f, name) for r in range(2) for f in range(2) for name in methods
    ]
    assert all(result.accuracy == 0 and result.n_columns is None and result.chosen == {} for result in results)


def test_the_same_run_twice_and_with_threads(mutag):
    def run(**options):
        methods = protocol.methods_to_compare([(0, 0), (1, 1)], variants=False, n_estimators=20, **options)
        return run_folds(mutag, methods, n_folds=3, seed=4)

    assert run() == run() == run(n_jobs=2)
    assert run(random_state=1) != run()


# -- methods -----------------------------------------------------------------------------------------------------------


def test_methods_to_compare():
    methods = protocol.methods_to_compare((1, 12), random_state=3, n_jobs=2, tau=0.5)
    assert list(methods) == [OURS, *PAPER_VARIANTS, SIZE, MAJORITY]
    common = {"k": (1, 12), "random_state": 3, "n_jobs": 2, "tau": 0.5}
    for name in (OURS, *PAPER_VARIANTS):
        options = methods[name].get_params()
        assert {key: options[key] for key in common} == common
    assert methods[OURS].representation == "typed"
    for name, options in PAPER_VARIANTS.items():
        assert {key: methods[name].get_params()[key] for key in options} == options
    assert list(protocol.methods_to_compare(variants=False)) == [OURS, SIZE, MAJORITY]
    assert set(protocol.BASELINES) == {SIZE, MAJORITY}


def test_the_majority_baseline_is_the_majority_rate():
    graphs = GraphBatch.from_networkx([nx.path_graph(3)] * 50, y=["many"] * 35 + ["few"] * 15)
    results = run_folds(graphs, {MAJORITY: protocol.methods_to_compare()[MAJORITY]}, n_folds=5)
    assert [result.accuracy for result in results] == [0.7] * 5
    assert summarize(results)[0].mean == 0.7
    assert summarize(results)[0].std_of_folds == 0


def test_the_size_baseline_sees_sizes_alone():
    """Two shapes of equal size are one to it; two sizes are two."""
    size = protocol.methods_to_compare()[SIZE]
    one_size = [nx.path_graph(6), nx.star_graph(5)]  # 6 nodes and 5 edges both
    graphs = GraphBatch.from_networkx(one_size * 20, y=[0, 1] * 20)
    size.fit(graphs, graphs.y)
    assert len(set(size.predict(graphs).tolist())) == 1
    assert PWLRClassifier(n_estimators=10, random_state=0).fit(graphs, graphs.y).score(graphs, graphs.y) == 1
    for shapes in ([nx.path_graph(6), nx.path_graph(7)], [nx.path_graph(6), nx.cycle_graph(6)]):
        graphs = GraphBatch.from_networkx(shapes * 20, y=[0, 1] * 20)
        assert size.fit(graphs, graphs.y).score(graphs, graphs.y) == 1
        # labels, weights and attributes are nothing to it
        more = graphs.replace(node_labels=np.arange(graphs.n_nodes) % 3, weights=graphs.weights * 2)
        np.testing.assert_array_equal(size.predict(more), graphs.y)


# -- sums by hand ------------------------------------------------------------------------------------------------------


def result(method, repetition, fold, accuracy, n_columns=None):
    return FoldResult(method, repetition, fold, accuracy, n_columns)


def test_summarize():
    results = [
        result("a", 0, 0, 0.5, 10),
        result("b", 0, 0, 1.0),
        result("a", 0, 1, 0.7, 20),
        result("b", 0, 1, 1.0),
        result("a", 1, 0, 0.8, 10),
        result("b", 1, 0, 1.0),
        result("a", 1, 1, 1.0, 12),
        result("b", 1, 1, 1.0),
    ]
    a, b = summarize(results)
    assert (a.method, b.method) == ("a", "b")
    assert a.mean == pytest.approx(0.75)
    # deviations -0.25, -0.05, 0.05, 0.25: squares sum to 0.13, over 3
    assert a.std_of_folds == pytest.approx(np.sqrt(0.13 / 3))
    # repetitions have 0.6 and 0.9: deviations 0.15, over 1
    assert a.std_of_repetitions == pytest.approx(np.sqrt(2 * 0.15**2))
    assert a.n_columns == 13
    assert a.n_folds == 4
    assert (b.mean, b.std_of_folds, b.std_of_repetitions, b.n_columns) == (1, 0, 0, None)


def test_summarize_one_repetition():
    (score,) = summarize([result("a", 0, 0, 0.25), result("a", 0, 1, 0.75)])
    assert score.mean == 0.5
    assert score.std_of_folds == pytest.approx(np.sqrt(0.125))
    assert score.std_of_repetitions is None


def test_summarize_nothing():
    assert summarize([]) == []


# -- classes that cannot be cross-validated ----------------------------------------------------------------------------


def paths(y):
    return GraphBatch.from_networkx([nx.path_graph(3)] * len(y), y=y, name="SET")


def test_classes_that_will_not_do():
    graphs = paths([0, 1] * 5)
    np.testing.assert_array_equal(protocol.check_classes(graphs, 5), graphs.y)
    with pytest.raises(DatasetError, match=r"SET: no classes to learn.*NAME_graph_labels\.txt"):
        protocol.check_classes(graphs.replace(y=None), 5)
    with pytest.raises(DatasetError, match="these graphs: no classes"):
        protocol.check_classes(graphs.replace(y=None, name=""), 5)
    with pytest.raises(DatasetError, match="all 4 graphs are of class 7"):
        protocol.check_classes(paths([7] * 4), 2)
    with pytest.raises(OptionError, match="class 0 has 5 graphs, fewer than the 10 folds: use at most 5 folds"):
        protocol.check_classes(graphs, 10)
    with pytest.raises(OptionError, match="leave it out, one graph cannot be held out"):
        protocol.check_classes(paths([0, 0, 0, "1"]), 2)
    with pytest.raises(OptionError, match="folds=1 cannot hold anything out"):
        protocol.check_classes(graphs, 1)
    with pytest.raises(DatasetError, match="50 different numbers for 50 graphs"):
        protocol.check_classes(paths(np.linspace(0, 1, 50)), 2)
    with pytest.raises(DatasetError, match="graph"):
        protocol.check_classes(paths([0, 1])[:0], 2)
