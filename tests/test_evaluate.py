"""Units against scikit-learn called naively, against leaks, and across kills; see also tests/test_forest.py."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import astuple, replace

import networkx as nx
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from pwlr import GraphBatch, PWLRTransformer
from pwlr.datasets import load_dataset
from pwlr.engine import Filtering, event_rows
from pwlr.errors import OptionError
from pwlr.estimators import PAPER_VARIANTS
from pwlr.experiments import evaluate, tables
from pwlr.experiments.evaluate import OURS, Fold, Plan, Study, estimate, folds_of, k_text, left_to_do, run
from pwlr.experiments.protocol import MAJORITY, SIZE, graph_sizes
from pwlr.experiments.published import find_column
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit
from pwlr.experiments.summary import best_on_test, chosen_inside
from pwlr.experiments.twins import find_twins
from pwlr.method.diffusion import Grid

EXTRAS = (OURS, SIZE, MAJORITY)
PAIR = (1, 12)


@pytest.fixture(scope="module")
def mutag():
    return Study(load_dataset("MUTAG", "as-published"), "MUTAG", "as-published")


def trees_and_cycles(n_graphs, seed=0):
    """Graphs of distinct sizes, so that each has its own vector whatever the variant; the two classes differ a bit."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(n_graphs):
        graph = nx.random_labeled_tree(number + 5, seed=int(rng.integers(2**31)))
        for _ in range(8 if number == n_graphs - 1 else 1 + number % 2 * 2):  # the last has the most cycles
            graph.add_edge(*rng.choice(number + 5, 2, replace=False))
        graphs.append(graph)
    return GraphBatch.from_networkx(graphs, y=[0, 1] * (n_graphs // 2), name="TOY")


@pytest.fixture(scope="module")
def toy():
    return Study(trees_and_cycles(40), "TOY", "plain")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results.sqlite")


def measured(study, spec, plan, tmp_path, *, name="own.sqlite", **options):
    """The units of a run on a store of its own."""
    store = Store(tmp_path / name)
    run(study, spec, plan, store, versions={}, **{"n_jobs": 1, **options})
    return list(store.units())


def without_seconds(units):
    return [astuple(replace(unit, seconds=0.0, versions={})) for unit in units]


def vectors(study, variant, fitted_on, pair=PAIR):
    """What our estimators compute, float32 as forests take it."""
    transformer = PWLRTransformer(k=pair, **PAPER_VARIANTS[variant], unseen="ignore", dtype=np.float32)
    return transformer.fit(study.graphs[fitted_on]).transform(study.graphs)


# -- the same as scikit-learn called naively ---------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "number"), [(variant, n) for n, variant in enumerate(PAPER_VARIANTS)])
def test_paper_unit_is_what_grid_search_finds(variant, number, mutag, tmp_path):
    """The paper's protocol as its authors ran it: vectors of the whole set, GridSearchCV on the training part."""
    counts = (10, 25, 40)
    spec = Spec("paper", tree_counts=counts)
    folds = folds_of(mutag, spec, 1)[number : number + 2]
    X = vectors(mutag, variant, np.arange(len(mutag.y)))
    units = {u.fold: u for u in measured(mutag, spec, Plan({variant: [PAIR]}, 1, ()), tmp_path)}
    for fold in folds:
        forest = RandomForestClassifier(random_state=fold.seed)
        search = GridSearchCV(forest, {"n_estimators": list(counts)}, cv=5).fit(X[fold.train], mutag.y[fold.train])
        unit = units[fold.fold]
        assert unit.chosen == {"n_trees": search.best_params_["n_estimators"]}
        assert unit.accuracy == search.score(X[fold.test], mutag.y[fold.test])
        assert unit.selection == pytest.approx(search.best_score_, rel=1e-14)
        assert (unit.n_test, unit.n_columns) == (len(fold.test), X.shape[1])


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(("variant", "number"), [(variant, n) for n, variant in enumerate(PAPER_VARIANTS)])
def test_nested_unit_is_chosen_by_the_out_of_bag_score(variant, number, mutag, tmp_path):
    counts = (10, 25, 50)
    spec = Spec(tree_counts=counts)
    fold = folds_of(mutag, spec, 1)[number]
    X = vectors(mutag, variant, fold.train)  # the layout knows the training part alone
    X_train, y_train = X[fold.train], mutag.y[fold.train]
    forests = [RandomForestClassifier(n, random_state=fold.seed, oob_score=True).fit(X_train, y_train) for n in counts]
    best = max(forests, key=lambda forest: (forest.oob_score_, -forest.n_estimators))
    units = {u.fold: u for u in measured(mutag, spec, Plan({variant: [PAIR]}, 1, ()), tmp_path)}
    unit = units[fold.fold]
    assert unit.chosen == {"n_trees": best.n_estimators}
    assert unit.selection == best.oob_score_
    assert unit.accuracy == best.score(X[fold.test], mutag.y[fold.test])
    assert unit.n_columns == X.shape[1]


@pytest.mark.parametrize("variant", PAPER_VARIANTS)
def test_nested_columns_are_those_of_a_layout_fitted_on_the_training_graphs(variant, mutag, toy):
    """The columns are cut from tables that were filled for all graphs; nothing of the test part may show in them."""
    narrower = 0
    for study, pair in ((mutag, (2, 0)), (toy, (1, np.inf))):
        both = evaluate._Tables(study, [variant])
        (row,) = event_rows(study.graphs, Grid.of_pairs([pair]), Filtering(study.node_features))
        columns = both.columns[variant]
        table = both.at(pair, row)[columns.representation]
        for fold in folds_of(study, Spec(), 1):
            ours = table[:, columns.seen_by(fold.train)]
            np.testing.assert_array_equal(ours, vectors(study, variant, fold.train, pair))
            narrower += ours.shape[1] < len(columns.positions)
        np.testing.assert_array_equal(table[:, columns.positions], vectors(study, variant, slice(None), pair))
    assert narrower  # some test part holds what its training part does not


def test_what_has_nothing_to_choose(mutag, tmp_path):
    """Ours and the two baselines are those of `pwlr classify`, with the seeds of the splits."""
    spec = Spec()
    units = {(u.variant, u.fold): u for u in measured(mutag, spec, Plan({}, 1, EXTRAS), tmp_path)}
    assert len(units) == 30
    for fold in folds_of(mutag, spec, 1)[:2]:
        y_train, y_test = mutag.y[fold.train], mutag.y[fold.test]
        transformer = PWLRTransformer(unseen="ignore", dtype=np.float32).fit(mutag.graphs[fold.train])
        for variant, X in ((OURS, transformer.transform(mutag.graphs)), (SIZE, graph_sizes(mutag.graphs))):
            forest = RandomForestClassifier(200, random_state=fold.seed).fit(X[fold.train], y_train)
            unit = units[variant, fold.fold]
            assert unit.accuracy == forest.score(X[fold.test], y_test)
            assert (unit.n_columns, unit.chosen, unit.selection) == (X.shape[1], {"n_trees": 200}, None)
        unit = units[MAJORITY, fold.fold]
        assert unit.accuracy == np.mean(y_test == 1)
        assert (unit.k1, unit.k2, unit.n_columns) == ("", "", 0)


def test_a_variant_without_a_column_is_no_obstacle(tmp_path):
    """Trees close no cycle: H1 has no column, and the forest names the majority."""
    graphs = GraphBatch.from_networkx([nx.path_graph(n) for n in range(3, 23)], y=[0] * 14 + [1] * 6)
    units = measured(Study(graphs, "T", "plain"), Spec(folds=3), Plan({"PWLR-H1": [(0, 0)]}, 1, ()), tmp_path)
    assert [unit.n_columns for unit in units] == [0, 0, 0]
    assert np.mean([unit.accuracy for unit in units]) == pytest.approx(0.7, abs=0.05)


# -- what does not matter ----------------------------------------------------------------------------------------------


def n_cells(plan):
    return sum(map(len, plan.pairs.values())) + len(plan.extras)


def small_plan(repetitions=1):
    return Plan({variant: [(0, 0), (2, 3)] for variant in PAPER_VARIANTS}, repetitions, EXTRAS)


@pytest.mark.parametrize("protocol", ["paper", "nested"])
def test_scikit_learns_own_forest_gives_the_same_units(protocol, toy, tmp_path):
    spec = Spec(protocol, folds=2, inner_folds=2, tree_counts=(3, 6))
    plan = Plan({"PWLR-H0": [(1, 1)], "PWLR-OPT-H0+H1": [(1, 1)]}, 1, EXTRAS)
    runs = [measured(toy, spec, plan, tmp_path, name=engine, engine=engine) for engine in ("auto", "twin", "sklearn")]
    assert without_seconds(runs[0]) == without_seconds(runs[1]) == without_seconds(runs[2])


@pytest.mark.parametrize("protocol", ["paper", "nested"])
def test_the_number_of_threads_does_not_matter(protocol, toy, tmp_path):
    spec = Spec(protocol, folds=3, tree_counts=(3, 6))
    runs = [measured(toy, spec, small_plan(), tmp_path, name=f"{n}.sqlite", n_jobs=n) for n in (1, 3)]
    assert without_seconds(runs[0]) == without_seconds(runs[1])


def test_a_unit_does_not_depend_on_what_else_is_run(toy, tmp_path):
    """Alone, among others, or with more repetitions: the same unit."""
    spec = Spec(folds=3, tree_counts=(3, 6))
    among = measured(toy, spec, small_plan(2), tmp_path, name="among.sqlite")
    for variant, pair in (("PWLR-H1", (2, 3)), ("PWLR-OPT-H0", (0, 0))):
        alone = measured(toy, spec, Plan({variant: [pair]}, 1, ()), tmp_path, name=f"{variant}.sqlite")
        texts = tuple(map(k_text, pair))
        same = [u for u in among if u.variant == variant and (u.k1, u.k2) == texts and u.repetition == 0]
        assert without_seconds(alone) == without_seconds(same)


# -- splits ------------------------------------------------------------------------------------------------------------


def as_lists(folds):
    return [(f.repetition, f.fold, f.seed, f.train.tolist(), f.test.tolist()) for f in folds]


def test_splits_hang_on_seed_and_classes_alone(mutag):
    spec = Spec()
    first = as_lists(folds_of(mutag, spec, 2))
    others = Study(
        GraphBatch.from_networkx([nx.path_graph(2)] * len(mutag.y), y=mutag.y), "OTHER", "plain", "degree-only"
    )
    assert as_lists(folds_of(others, spec, 2)) == first
    assert as_lists(folds_of(mutag, Spec("paper", inner_folds=3, tree_counts=(1,)), 2)) == first
    assert as_lists(folds_of(mutag, spec, 3))[:20] == first  # a study can be extended
    assert as_lists(folds_of(mutag, Spec(seed=1), 2)) != first
    turned = replace(mutag, graphs=mutag.graphs.replace(y=mutag.y[::-1].copy()))
    assert as_lists(folds_of(turned, spec, 2)) != first


def test_splits_are_the_plain_stratified_ones(mutag):
    for repetition in (0, 1):
        plain = StratifiedKFold(10, shuffle=True, random_state=7 + repetition).split(mutag.y, mutag.y)
        ours = [fold for fold in folds_of(mutag, Spec(seed=7), 2) if fold.repetition == repetition]
        for fold, (train, test) in zip(ours, plain, strict=True):
            np.testing.assert_array_equal(fold.train, train)
            np.testing.assert_array_equal(fold.test, test)


def test_seeds_of_forests_are_pinned(mutag):
    """They are in every store there is: with other seeds nothing that was measured could be extended."""
    folds = folds_of(mutag, Spec(), 2)
    assert [fold.seed for fold in folds[:3]] == [1484405855, 1915600865, 1463396095]
    assert len({fold.seed for fold in folds}) == 20
    assert all(0 <= fold.seed < 2**31 for fold in folds)


@pytest.fixture
def copied(monkeypatch):
    """A set in which every shape is there four times, with its nodes in another order, under a name of the paper."""
    shapes = [nx.path_graph(n) for n in range(3, 13)] + [nx.cycle_graph(n) for n in range(3, 13)]
    graphs, rng = [], np.random.default_rng(0)
    for _ in range(4):
        for shape in shapes:
            order = rng.permutation(len(shape)).tolist()
            graphs.append(nx.relabel_nodes(shape, dict(enumerate(order))))
    batch = GraphBatch.from_networkx(graphs, y=([0] * 10 + [1] * 10) * 4, name="MUTAG")
    monkeypatch.setattr(tables, "load_dataset", lambda *_, **__: batch)
    return batch


def test_groups_keep_copies_on_one_side(copied):
    spec = Spec(twins="group", folds=5)
    study = tables.study_of(find_column("MUTAG"), "plain", spec)
    np.testing.assert_array_equal(study.groups, np.tile(np.arange(20), 4))
    for fold in folds_of(study, spec, 3):
        assert not set(study.groups[fold.train]) & set(study.groups[fold.test])
        assert sorted([*fold.train, *fold.test]) == list(range(80))
        assert set(study.y[fold.test]) == {0, 1}
    kept = tables.study_of(find_column("MUTAG"), "plain", Spec(folds=5))
    assert kept.groups is None
    for fold in folds_of(kept, spec, 3):  # without the care it happens
        assert set(study.groups[fold.train]) & set(study.groups[fold.test])


def test_grouped_units_are_evaluated_on_grouped_splits(copied, tmp_path):
    """Copies in the training part give everything away that copies apart do not."""
    y = np.tile(np.random.default_rng(1).permutation(20) % 2, 4)
    plan, accuracy = Plan({"PWLR-H0+H1": [(0, 0)]}, 1, ()), {}
    for twins in ("keep", "group"):
        spec = Spec(folds=5, tree_counts=(20,), twins=twins)
        study = tables.study_of(find_column("MUTAG"), "plain", spec)
        study = replace(study, graphs=study.graphs.replace(y=y), node_features="auto")
        units = measured(study, spec, plan, tmp_path, name=f"{twins}.sqlite")
        accuracy[twins] = np.mean([unit.accuracy for unit in units])
    assert accuracy["keep"] > 0.9
    assert accuracy["group"] < 0.75


def test_drop_leaves_one_of_each(copied):
    study = tables.study_of(find_column("MUTAG"), "plain", Spec(twins="drop"))
    assert len(study.graphs) == 20
    assert find_twins(study.graphs).n_copied == 0
    assert study.groups is None


# -- leaks -------------------------------------------------------------------------------------------------------------


def test_shuffled_classes_give_no_more_than_guessing(mutag, tmp_path):
    """One-sided test of ``nested`` on classes that no method can know, against a control that does leak.

    94 graphs of each class at random: the majority rate is 1/2. Given everything but the classes of its test part, an
    honest fold scores a sum of hits, each with probability 1/2 at most; stratification makes the hits of a shuffle
    depend a little on each other, in the direction of fewer (a class that is short in the training part is the more
    frequent one in the test part). So the mean over 6 shuffles of 188 graphs has a standard deviation of at most
    0.5 / sqrt(6 * 188) = 0.0149, and exceeds 0.5 + 3.1 * 0.0149 = 0.546 in 1 of 1000 runs of honest code. Choosing k
    on the test part gains more: the best of 9 scores of 19 graphs lies 0.1 above their mean.
    """
    spec, variant = Spec(tree_counts=(10, 25)), "PWLR-H0+H1"
    plan = Plan({variant: [(k1, k2) for k1 in (0, 2, 5) for k2 in (0, 2, 5)]}, 1, ())
    rng = np.random.default_rng(2026)
    honest, leaking = [], []
    for shuffle in range(6):
        y = rng.permutation(np.arange(len(mutag.y)) % 2)
        study = replace(mutag, graphs=mutag.graphs.replace(y=y))
        units = measured(study, spec, plan, tmp_path, name=f"{shuffle}.sqlite", n_jobs=1)
        honest.append(chosen_inside(units).mean)
        leaking.append(chosen_inside([replace(unit, selection=unit.accuracy) for unit in units]).mean)
    limit = 0.5 + 3.1 * 0.5 / np.sqrt(6 * len(mutag.y))
    assert np.mean(honest) < limit
    assert np.mean(leaking) > limit  # the test has the power to see a leak
    assert np.mean(honest) > 1 - limit  # nor is it wrong on purpose
    assert best_on_test(units).selected_on_test


@pytest.mark.parametrize("protocol", ["paper", "nested"])
def test_no_test_graph_reaches_a_fit(protocol, toy, tmp_path, monkeypatch):
    """Every graph has a size of its own, so the rows that forests are trained on tell which graphs they were."""
    seen = []
    grow = evaluate.grow_forest
    monkeypatch.setattr(evaluate, "grow_forest", lambda X, y, **options: seen.append((X, y)) or grow(X, y, **options))
    fits = []
    fit = PWLRTransformer.fit
    monkeypatch.setattr(
        PWLRTransformer, "fit", lambda self, X, y=None: fits.append(np.diff(X.node_ptr)) or fit(self, X, y)
    )
    spec = Spec(protocol, folds=4, inner_folds=3, tree_counts=(2, 4))
    sizes = graph_sizes(toy.graphs)
    every = np.arange(len(toy.y))
    for fold in folds_of(toy, spec, 1):
        monkeypatch.setattr(evaluate, "folds_of", lambda *_, fold=fold: [fold])
        for variant in (*PAPER_VARIANTS, SIZE, OURS):
            seen.clear(), fits.clear()
            pairs = {variant: [(1, 2)]} if variant in PAPER_VARIANTS else {}
            extras = () if pairs else (variant,)
            measured(toy, spec, Plan(pairs, 1, extras), tmp_path, name=f"{protocol}{variant}{fold.fold}.sqlite")
            assert seen
            if variant == OURS:
                assert len(fits) == 1
                assert sorted(fits[0]) == sorted(sizes[fold.train, 0])
                assert all(len(X) == len(fold.train) for X, _ in seen)
                continue
            known = every if protocol == "paper" else fold.train
            rows = sizes.astype(np.float32) if variant == SIZE else vectors(toy, variant, known, (1, 2))
            for X, y in seen:
                which = [owners(rows, row) for row in X]
                assert all(set(graphs) & set(fold.train) for graphs in which)
                if variant in ("PWLR-H0", "PWLR-H0+H1", SIZE):  # here no two graphs share a vector
                    assert all(len(graphs) == 1 for graphs in which)
                    which = np.concatenate(which)
                    assert not set(which) & set(fold.test)
                    np.testing.assert_array_equal(toy.y[which], y)
                assert len(X) <= len(fold.train)
            assert max(len(X) for X, _ in seen) == len(fold.train)


def owners(rows, row):
    return np.flatnonzero((rows == row).all(axis=1))


@pytest.mark.parametrize("protocol", ["paper", "nested"])
def test_poisoned_test_classes_change_nothing_but_the_score(protocol, toy, tmp_path, monkeypatch):
    """The classes of the test part become one that training never saw: all that is chosen stays, every hit is lost."""
    spec = Spec(protocol, folds=4, inner_folds=3, tree_counts=(2, 4, 8))
    fold = folds_of(toy, spec, 1)[2]
    monkeypatch.setattr(evaluate, "folds_of", lambda *_: [fold])
    y = toy.y.copy()
    y[fold.test] = 99
    poisoned = replace(toy, graphs=toy.graphs.replace(y=y))
    clean, bitter = (
        measured(study, spec, small_plan(), tmp_path, name=name)
        for study, name in ((toy, "clean.sqlite"), (poisoned, "bitter.sqlite"))
    )
    assert {unit.accuracy for unit in bitter} == {0.0}
    assert max(unit.accuracy for unit in clean) > 0.5
    assert without_seconds(bitter) == without_seconds(replace(unit, accuracy=0.0) for unit in clean)


def test_poisoned_test_graphs_change_nothing_that_nested_chooses(toy, tmp_path, monkeypatch):
    """The test graphs become large, with kinds of edges that training never saw: the columns and choices stay."""
    spec = Spec(folds=4, tree_counts=(2, 4, 8))
    fold = folds_of(toy, spec, 1)[1]
    monkeypatch.setattr(evaluate, "folds_of", lambda *_: [fold])
    graphs = [graph.to_undirected() for graph in toy.graphs.to_networkx()]
    for number in fold.test:
        graphs[number] = nx.complete_graph(15 + number)
    trapped = replace(toy, graphs=GraphBatch.from_networkx(graphs, y=toy.y, edge_weight=None))
    clean, trap = (
        measured(study, spec, small_plan(), tmp_path, name=name)
        for study, name in ((toy, "clean.sqlite"), (trapped, "trap.sqlite"))
    )
    blank = {"accuracy": 0.0, "seconds": 0.0}
    assert [replace(unit, **blank) for unit in trap] == [replace(unit, **blank) for unit in clean]


# -- runs --------------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_where_another_stopped(toy, store, tmp_path, monkeypatch):
    """Stopped between any two cells, and the rest counted."""
    spec = Spec(folds=3, tree_counts=(2, 4))
    whole = measured(toy, spec, small_plan(), tmp_path)
    made = []
    unit_of = evaluate._unit
    monkeypatch.setattr(evaluate, "_unit", lambda *arguments: made.append(arguments[2:4]) or unit_of(*arguments))
    told = []

    def stop_soon(units, seconds):
        told.append(units)
        assert seconds >= 0
        if len(told) % 4 == 0:
            raise KeyboardInterrupt

    for _ in range(10):
        before = left_to_do(toy, spec, small_plan(), store)
        try:
            run(toy, spec, small_plan(), store, versions={}, n_jobs=1, after_cell=stop_soon)
        except KeyboardInterrupt:
            assert left_to_do(toy, spec, small_plan(), store) == before - 12
            continue
        break
    assert without_seconds(store.units()) == without_seconds(whole)
    assert len(made) == sum(told) == len(whole) == n_cells(small_plan()) * 3
    assert left_to_do(toy, spec, small_plan(), store) == 0
    run(toy, spec, small_plan(), store, versions={}, after_cell=stop_soon)  # nothing is left, so nothing is told
    assert sum(told) == len(whole)


def test_more_repetitions_add_to_what_is_there(toy, store, tmp_path):
    spec = Spec(folds=3, tree_counts=(2, 4))
    told = []
    for repetitions in (1, 2):
        run(toy, spec, small_plan(repetitions), store, versions={}, n_jobs=1, after_cell=lambda n, _: told.append(n))
    assert sum(told) == len(list(store.units())) == n_cells(small_plan()) * 6
    assert without_seconds(store.units()) == without_seconds(measured(toy, spec, small_plan(2), tmp_path))


def test_protocols_recipes_and_sets_do_not_mix(toy, store):
    spec = Spec(folds=3, tree_counts=(2, 4))
    plan = Plan({}, 1, (MAJORITY,))
    others = [(replace(toy, dataset="T2"), spec), (replace(toy, recipe="as-written"), spec), (toy, Spec(folds=4))]
    for study, other in ((toy, spec), *others):
        assert left_to_do(study, other, plan, store) == other.folds
        run(study, other, plan, store, versions={"numpy": "x"}, n_jobs=1)
    assert len(list(store.units())) == 3 + 3 + 3 + 4
    assert {unit.versions["numpy"] for unit in store.units()} == {"x"}
    assert set(store.protocols()) == {spec.run_id, Spec(folds=4).run_id}


def test_an_estimate_runs_a_little_and_stores_nothing(toy, store, monkeypatch):
    spec = Spec(folds=3, tree_counts=(2, 4))
    seconds = estimate(toy, spec, small_plan(), store, n_jobs=1)
    assert 0 < seconds < 60
    assert list(store.units()) == []
    assert store.protocols() == {}
    more = Plan({variant: [(k, k) for k in range(30)] for variant in PAPER_VARIANTS}, 10, EXTRAS)
    assert estimate(toy, spec, more, store, n_jobs=1) > seconds
    run(toy, spec, small_plan(), store, versions={}, n_jobs=1)
    assert estimate(toy, spec, small_plan(), store, n_jobs=1) == 0


def test_graphs_without_classes(toy, store):
    with pytest.raises(OptionError, match="TOY has no classes to learn"):
        run(replace(toy, graphs=toy.graphs.replace(y=None)), Spec(), small_plan(), store, versions={})


def test_k_as_text():
    assert [k_text(k) for k in (0, 12, 12.0, np.int64(3), np.inf)] == ["0", "12", "12", "3", "inf"]


def test_a_fold_and_a_unit_are_plain_records():
    fold = Fold(0, 1, np.array([0]), np.array([1]), 5)
    with pytest.raises(AttributeError):
        fold.seed = 6
    assert "accuracy" in Unit.__dataclass_fields__


# -- a real kill -------------------------------------------------------------------------------------------------------

KILLED = ("--datasets", "MUTAG", "--protocol", "nested", "--variants", "PWLR-H0,PWLR-OPT-H1,majority class")
KILLED += ("--folds", "3", "--repetitions", "2")


def rows_in(path):
    """How many units there are so far, as a bystander sees it."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM units").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # not made yet


def killed_at(words, path, wanted):
    """Start a run in a process of its own and kill it -9 as soon as the store holds so many units."""
    with subprocess.Popen(
        [sys.executable, "-m", "pwlr.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 120
        while rows_in(path) < wanted and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it ended before it was killed"


def test_a_killed_run_resumes_to_the_identical_table(tmp_path, monkeypatch, capsys):
    """Killed twice with SIGKILL in the middle, then let finish; beside it one that was never killed."""
    from pwlr.cli import main

    made = []
    unit_of = evaluate._unit
    monkeypatch.setattr(evaluate, "_unit", lambda *arguments: made.append(arguments[2:4]) or unit_of(*arguments))

    def finished(name):
        made.clear()
        words = [*KILLED, "--store", str(tmp_path / f"{name}.sqlite"), "-o", str(tmp_path / name)]
        monkeypatch.setattr(sys, "argv", ["pwlr", "reproduce", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        return (tmp_path / name / "results.json").read_text(), capsys.readouterr().out.split("page:")[0]

    path = tmp_path / "killed.sqlite"
    words = ["reproduce", *KILLED, "--store", str(path), "-o", str(tmp_path / "killed")]
    there = []
    for wanted in (30, 120):
        killed_at(words, path, wanted)
        now = list(Store(path).units())
        assert set(there) <= {unit_key(unit) for unit in now}  # seconds too: nothing was done again
        there = [unit_key(unit) for unit in now]
        assert wanted <= len(there)
    table = finished("killed")
    units = list(Store(path).units())
    total = (2 * 25 + 1) * 6
    assert len(units) == total
    assert len(made) == total - len(there)  # what was left was evaluated, and no more
    assert set(there) <= {unit_key(unit) for unit in units}
    assert finished("whole") == table
    assert len(made) == total
    assert without_seconds(Store(tmp_path / "whole.sqlite").units()) == without_seconds(units)


def unit_key(unit):
    return unit.variant, unit.k1, unit.k2, unit.repetition, unit.fold, unit.accuracy, unit.seconds
