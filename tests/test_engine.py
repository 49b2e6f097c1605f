"""The engine: options refused at the door, shards that cover everything, rows that come and go."""

import gc
import inspect
import itertools
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest
from tests.helpers import BACKENDS, random_batch, to_batch
from tests.naive import Graph

from pwlr import engine
from pwlr.backends import resolve
from pwlr.errors import GraphFormatError, OptionError
from pwlr.graphs import GraphBatch, shard_bounds
from pwlr.method.diffusion import Grid
from pwlr.method.vectors import FeatureLayout, LayoutOptions

PAIR = Graph(2, ((0, 1),))


@pytest.fixture
def batch(rng):
    return random_batch(rng, 25, 15)


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 0, -1, np.nan, "2", None, True])
def test_refused_exponents(p):
    with pytest.raises(OptionError, match="is not a norm: give a number of at least 1, or infinity"):
        engine.Filtering(p=p)


@pytest.mark.parametrize("tie_tol", [-1e-9, 1, 2.0, np.nan, np.inf, True, "1e-9", None])
def test_refused_tolerances(tie_tol):
    with pytest.raises(OptionError, match=r"tie_tol=.* must be a number from 0 to below 1"):
        engine.Filtering(tie_tol=tie_tol)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"backend": "cuda"}, "backend='cuda' is not known: choose one of 'auto', 'numpy', 'numba'"),
        ({"node_features": "label"}, "node_features='label' is not known: choose one of 'auto', 'labels'"),
        ({"node_features": "labels"}, "node_features='labels' needs node labels, but the graphs have none"),
        ({"node_features": "both"}, "node_features='both' needs node labels, but the graphs have none"),
        ({"node_features": "attributes"}, "node_features='attributes' needs node attributes, but the graphs have none"),
        ({"edge_weights": "inverse"}, "edge_weights='inverse' is not known: choose one of 'given', 'unit'"),
        ({"edge_weights": "label"}, "need edge labels, but the graphs have none: use 'given' or 'unit'"),
        ({"edge_weights": "attribute"}, "need edge attributes, but the graphs have none"),
        ({"edge_weights": {1: 2.0}}, "need edge labels, but the graphs have none"),
        ({"edge_weights": lambda _: np.ones(7)}, r"callable returned shape \(7,\): wanted \(1,\), one for each edge"),
    ],
)
def test_refused_choices(choice, words):
    """By `embed` and by `embed_grid`, before any row."""
    pair = to_batch([PAIR])
    layout = FeatureLayout.fit(pair, LayoutOptions(representation="sorted"))
    for n_jobs in (1, 2):
        with pytest.raises(OptionError, match=words):
            engine.embed(pair, layout, engine.Filtering(**choice), n_jobs=n_jobs)
        with pytest.raises(OptionError, match=words):
            engine.embed_grid(pair, **choice, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("edge_weights", "words"),
    [
        (lambda _: np.array([1.0, -1.0]), r"graph 1: edge \(0, 1\) has weight -1.0 by the edge_weights callable"),
        ({5: 1.0, 0: np.nan}, r"graph 1: edge \(0, 1\) has weight nan by the edge_weights mapping"),
        ("label", r"graph 1: edge \(0, 1\) has weight 0.0 by edge_weights='label'.*a mapping .* can move label 0"),
        ("attribute", r"graph 1: edge \(0, 1\) has weight 0.0 by edge_weights='attribute'"),
        ("reciprocal", r"graph 1: edge \(0, 1\) has weight inf by edge_weights='reciprocal'"),
    ],
)
def test_refused_weights(edge_weights, words):
    graphs = [Graph(2, ((0, 1),), edge_labels=(label,)) for label in (5, 0)]
    with pytest.raises(GraphFormatError, match=words):
        engine.embed_grid(to_batch(graphs, edge_attributes=[[2.0], [0.0]]), edge_weights=edge_weights)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_weights_with_several_workers(n_jobs):
    """Graphs are numbered over the whole batch, and a callable gets the batch that was given, not a worker's share."""
    batch = to_batch([Graph(2, ((0, 1),), edge_labels=(label,)) for label in (5, 5, 5, 5, 5, 5, 5, 0)])
    with pytest.raises(GraphFormatError, match=r"graph 7: edge \(0, 1\) has weight 0.0"):
        engine.embed_grid(batch, edge_weights="label", n_jobs=n_jobs)
    weights = np.arange(1.0, 9.0)
    (row,) = engine.embed_grid(batch, [0], [1], node_features="degree", edge_weights=lambda _: weights, n_jobs=n_jobs)
    assert row.heights.shape == (1, 8)


def test_label_weights_need_numbers():
    with pytest.raises(OptionError, match="needs integer labels; these are strings: pass a mapping"):
        engine.embed_grid(to_batch([Graph(2, ((0, 1),), edge_labels=("double",))]), edge_weights="label")
    with pytest.raises(OptionError, match="mapping has no weight for edge label 'double'"):
        engine.embed_grid(to_batch([Graph(2, ((0, 1),), edge_labels=("double",))]), edge_weights={"single": 1.0})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
def test_norms_of_huge_and_tiny_numbers(backend, p):
    """No power of a height over- or underflows."""
    for scale in (1e-300, 1e300):
        ends = Graph(2, ((0, 1),), node_attributes=((scale, 0.0, scale), (0.0, scale, scale)))
        (row,) = engine.embed_grid(to_batch([ends]), [0], [0], p=p, backend=backend)
        wanted = {1.0: 2.0, 1.5: 2 ** (2 / 3), 2.0: 2**0.5, np.inf: 1.0}[p] * scale
        np.testing.assert_allclose(row.heights[0], [wanted], rtol=1e-14)


@pytest.mark.parametrize("steps", [-1, 0.5, np.nan, -np.inf, "1", True, None])
def test_refused_steps(steps):
    for name in ("k1", "k2"):
        with pytest.raises(OptionError, match=f"{name}=.* is not a number of steps"):
            engine.embed_grid(to_batch([PAIR]), **{name: [0, steps]})


def test_auto_backend_does_not_look_at_the_data():
    assert resolve("auto") is resolve("numba")
    assert resolve("numpy") is not resolve("numba")
    assert list(inspect.signature(resolve).parameters) == ["backend"]


# -- the grid ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_grid_rows_fill_what_embed_returns(batch, backend, n_jobs):
    """Vectors put together from the rows of the grid by hand are those of `embed`."""
    k1_values, k2_values = [3, 0, np.inf, 1], [2, 5, np.inf, 0]
    pairs = tuple((k1, k2) for k1 in k1_values for k2 in k2_values)
    layout = FeatureLayout.fit(batch, LayoutOptions(pairs, "sorted", tau=0.5))
    X = engine.embed(batch, layout, engine.Filtering(backend=backend), n_jobs=n_jobs)
    by_pair = dict(zip(pairs, np.split(X, len(pairs), axis=1), strict=True))
    seen = []
    for row in engine.embed_grid(batch, k1_values, k2_values, backend=backend, n_jobs=n_jobs):
        assert row.heights.dtype == np.float64
        assert row.order.dtype == np.int32
        assert row.closes_cycle.dtype == np.bool_
        for step, k2 in enumerate(row.k2):
            seen.append((row.k1, k2))
            wanted = np.zeros((batch.n_graphs, sum(layout.lengths)))
            for graph in range(batch.n_graphs):
                own = slice(*batch.edge_ptr[graph : graph + 2])
                height, closes = row.heights[step, own], row.closes_cycle[step, own]
                for first, chosen in ((0, ~closes), (layout.lengths[0], closes)):
                    wanted[graph, first : first + chosen.sum()] = np.sort(height[chosen]) + 0.5
            np.testing.assert_array_equal(by_pair[row.k1, k2], wanted)
    assert seen == sorted(pairs)


def test_grid_of_the_paper(batch):
    rows = list(engine.embed_grid(batch))
    assert [row.k1 for row in rows] == list(range(30))
    assert {row.k2 for row in rows} == {tuple(range(30))}


def test_grid_takes_a_list_of_graphs(batch):
    one = list(engine.embed_grid(batch, [0, 2], [1]))
    other = list(engine.embed_grid(list(batch), [2, 0, 0], [1, 1]))
    for first, second in zip(one, other, strict=True):
        assert (first.k1, first.k2) == (second.k1, second.k2)
        np.testing.assert_array_equal(first.heights, second.heights)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_are_fresh(batch, backend, n_jobs):
    """No row shares memory with the one before, so a row that was kept stays what it was."""
    kept, copies = [], []
    for row in engine.embed_grid(batch, range(4), range(3), backend=backend, n_jobs=n_jobs):
        kept.append(row)
        copies.append([array.copy() for array in (row.heights, row.order, row.closes_cycle)])
    for row, copied in zip(kept, copies, strict=True):
        for array, copy in zip((row.heights, row.order, row.closes_cycle), copied, strict=True):
            np.testing.assert_array_equal(array, copy)
            array += array.dtype.type(1)  # and it may be written to
    assert not np.shares_memory(kept[0].heights, kept[1].heights)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_are_not_kept(batch, backend, n_jobs):
    rows = engine.embed_grid(batch, range(4), range(3), backend=backend, n_jobs=n_jobs)
    forgotten = weakref.ref(next(rows).heights)
    next(rows)
    gc.collect()
    assert forgotten() is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_of_the_grid_is_that_of_a_row(rng, backend):
    """13 bytes for each edge and k2 in a row; the rows together never stand in memory."""
    batch = random_batch(rng, 8, 40)
    for _ in engine.embed_grid(batch, [0, 1], [0, 1], backend=backend):
        pass  # compiled before it is measured
    one_row = 13 * batch.n_edges * 20
    tracemalloc.start()
    try:
        for row in engine.embed_grid(batch, range(10), range(20), backend=backend):
            del row
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert one_row < peak < 4 * one_row


def test_no_edges_no_graphs():
    for graphs in ([], [Graph(0)], [Graph(3)] * 4):
        for backend in BACKENDS:
            for n_jobs in (1, 2):
                rows = list(
                    engine.embed_grid(to_batch(graphs), range(2), [0, 3, np.inf], backend=backend, n_jobs=n_jobs)
                )
                assert [row.heights.shape for row in rows] == [(3, 0), (3, 0)]


# -- shards ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_shards", [1, 2, 3, 7, 25, 100])
def test_shards_cover_everything(batch, n_shards):
    bounds = shard_bounds(batch, n_shards, 8)
    assert bounds[0] == 0
    assert bounds[-1] == batch.n_graphs
    assert (np.diff(bounds) > 0).all()
    assert len(bounds) - 1 <= n_shards
    shards = [batch[start:stop] for start, stop in itertools.pairwise(bounds)]
    assert GraphBatch.concatenate(shards) == batch


def test_shards_are_of_equal_cost():
    """By cost and not by count: one large graph weighs as much as hundreds of small ones."""
    small, n = Graph(3, ((0, 1), (1, 2))), 60
    large = Graph(n, tuple((u, v) for u in range(n) for v in range(u + 1, n)))
    batch = to_batch([large, *[small] * 600])
    bounds = shard_bounds(batch, 2, 8)
    assert bounds[0] == 0
    assert 1 <= bounds[1] < 150
    assert bounds[2] == 601
    even = shard_bounds(to_batch([small] * 600), 3, 8)
    assert np.abs(np.diff(even) - 200).max() <= 2


@pytest.mark.parametrize("n_jobs", [2, 3, 50, -1])
@pytest.mark.parametrize("sparse", [False, True])
def test_more_workers_than_graphs(batch, n_jobs, sparse):
    few = batch[:2]
    layout, how = FeatureLayout.fit(batch, LayoutOptions()), engine.Filtering()
    X = engine.embed(few, layout, how, n_jobs=n_jobs, sparse=sparse)
    assert X.shape == (2, layout.n_columns)
    np.testing.assert_array_equal(X.toarray() if sparse else X, engine.embed(batch, layout, how)[:2])


def test_no_workers_are_refused(batch):
    with pytest.raises(ValueError, match="n_jobs"):
        engine.embed(batch, FeatureLayout.fit(batch, LayoutOptions()), engine.Filtering(), n_jobs=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_graphs_make_no_rows(batch, n_jobs, sparse):
    layout = FeatureLayout.fit(batch, LayoutOptions())
    X = engine.embed(batch[:0], layout, engine.Filtering(), n_jobs=n_jobs, sparse=sparse, dtype=np.float32)
    assert X.shape == (0, layout.n_columns)
    assert X.dtype == np.float32


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_shard_travels(batch, backend):
    """`embed_shard` and all that goes with it can be sent to another process."""
    layout, how = FeatureLayout.fit(batch, LayoutOptions()), engine.Filtering(backend=backend)
    work, sent_batch, sent_layout, sent_how = pickle.loads(pickle.dumps((engine.embed_shard, batch, layout, how)))
    np.testing.assert_array_equal(work(sent_batch, sent_layout, sent_how), engine.embed(batch, layout, how))


def test_only_wanted_pairs_are_walked(batch):
    """A layout's pairs make the grid: rows by k1, each with its own k2."""
    grid = Grid.of_pairs([(4, 4), (0, 7), (4, 0), (0, np.inf)])
    assert grid.rows == ((0, (7, np.inf)), (4, (0, 4)))
    for backend in BACKENDS:
        rows = list(engine.event_rows(batch, grid, engine.Filtering(backend=backend)))
        assert [(row.k1, row.k2) for row in rows] == list(grid.rows)
