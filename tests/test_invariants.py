"""What must hold whatever the numbers are: counts, forests, bits that no neighbour and no thread changes."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from tests import naive
from tests.helpers import BACKENDS, exponents, graph_sets, pairs_of_steps, random_batch, symmetric_batch, to_batch

from pwlr import engine
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import Grid
from pwlr.method.kinds import bridges, component_counts
from pwlr.method.vectors import FeatureLayout, LayoutOptions

REPRESENTATIONS = [("sorted", "auto"), ("degree-pairs", "sum"), ("degree-pairs", "moments"), ("typed", "auto")]
PAIRS = ((0, 0), (0, 3), (1, 1), (4, 4), (2, np.inf), (np.inf, 1))
GRID = Grid.of_pairs(PAIRS)
TIES = ((0, 1e-14), (1e-9, 1e-6))
"""Only equal heights tied: the forest to the last digit. The default: a chain of near ties may span a little."""

invariant = settings(settings.get_profile("default"), max_examples=50, derandomize=True)


def spanning_forest(batch: GraphBatch, graph: int, height: np.ndarray) -> np.ndarray:
    """SciPy's minimum spanning forest of one graph; heights shifted by 1, because SciPy drops zero weights."""
    start, stop = batch.node_ptr[graph : graph + 2]
    u, v = batch.edges[batch.edge_ptr[graph] : batch.edge_ptr[graph + 1]].T - start
    weighted = sp.csr_array((height + 1.0, (u, v)), shape=(stop - start, stop - start))
    return np.sort(minimum_spanning_tree(weighted).data) - 1.0


def components_by_networkx(batch: GraphBatch) -> list[int]:
    graphs = []
    for g in range(batch.n_graphs):
        graph = nx.Graph()
        graph.add_nodes_from(range(*batch.node_ptr[g : g + 2]))
        graph.add_edges_from(batch.edges[batch.edge_ptr[g] : batch.edge_ptr[g + 1]].tolist())
        graphs.append(graph)
    return [nx.number_connected_components(graph) for graph in graphs]


def check_events(batch, row, slack):
    """Counts, forest and order of one event row; `slack` is what a tie group may span."""
    n_h0 = np.diff(batch.node_ptr) - component_counts(batch)
    assert row.heights.shape == row.order.shape == row.closes_cycle.shape == (len(row.k2), batch.n_edges)
    assert (row.heights >= 0).all()
    for height, order, closes in zip(row.heights, row.order, row.closes_cycle, strict=True):
        largest = height.max(initial=1.0)
        for g in range(batch.n_graphs):
            own = slice(*batch.edge_ptr[g : g + 2])
            assert np.count_nonzero(~closes[own]) == n_h0[g]
            assert np.count_nonzero(closes[own]) == own.stop - own.start - n_h0[g]
            forest = spanning_forest(batch, g, height[own])
            np.testing.assert_allclose(np.sort(height[own][~closes[own]]), forest, rtol=0, atol=slack * largest)
            assert sorted(order[own].tolist()) == list(range(own.start, own.stop))
            steps = np.diff(height[order[own]])
            assert (steps >= -slack * largest).all()
        assert not closes[bridges(batch)].any()


@pytest.mark.parametrize("backend", BACKENDS)
@invariant
@given(graphs=graph_sets(), k=pairs_of_steps, p=exponents)
def test_counts_and_spanning_forest(backend, graphs, k, p):
    batch = to_batch(graphs)
    for tie_tol, slack in TIES:
        for row in engine.event_rows(batch, Grid.of_pairs(k), engine.Filtering(p=p, tie_tol=tie_tol, backend=backend)):
            check_events(batch, row, slack)


@pytest.mark.parametrize("weights", ["any", "unit"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_counts_and_spanning_forest_of_larger_graphs(rng, backend, weights):
    batch = random_batch(rng, 30, 40, weights=weights, attributes=2)
    for features in ("labels", "attributes", "both", "degree", "constant"):
        for tie_tol, slack in TIES:
            how = engine.Filtering(node_features=features, tie_tol=tie_tol, backend=backend)
            for row in engine.event_rows(batch, GRID, how):
                check_events(batch, row, slack)


@invariant
@given(graphs=graph_sets())
def test_component_counts(graphs):
    batch = to_batch(graphs)
    counts = component_counts(batch)
    assert counts.tolist() == [len(naive.components(graph.n_nodes, graph.edges)) for graph in graphs]
    assert counts.tolist() == components_by_networkx(batch)


@invariant
@given(graphs=graph_sets())
def test_bridges_by_the_twin(graphs):
    wanted = [naive.is_bridge(graph, number) for graph in graphs for number in range(len(graph.edges))]
    assert bridges(to_batch(graphs)).tolist() == wanted


def test_bridges_by_networkx(rng):
    batch = random_batch(rng, n_graphs=60, max_nodes=60)
    graph = nx.Graph(batch.edges.tolist())
    wanted = {frozenset(edge) for edge in nx.bridges(graph)}
    found = {frozenset(edge) for edge in batch.edges[bridges(batch)].tolist()}
    assert len(wanted) > 20
    assert found == wanted
    assert component_counts(batch).tolist() == components_by_networkx(batch)


# -- the same bits -----------------------------------------------------------------------------------------------------


def fitted(batch, representation, stats, **more):
    options = LayoutOptions(pairs=PAIRS, representation=representation, stats=stats, min_graphs=2, **more)
    if representation != "typed":
        options = LayoutOptions(pairs=PAIRS, representation=representation, stats=stats, **more)
    return FeatureLayout.fit(batch, options)


def same_bits(first, second):
    np.testing.assert_array_equal(first, second, strict=True)
    return True


@pytest.fixture(scope="module")
def mixed() -> GraphBatch:
    """Graphs of all kinds, among them tied ones, large ones, empty ones, and neighbours of very different size."""
    rng = np.random.default_rng(20)
    drawn = [random_batch(rng, 12, size, weights=weights) for size in (3, 10, 40) for weights in ("any", "unit")]
    batch = GraphBatch.concatenate([*drawn, symmetric_batch("thirds")])
    return batch[rng.permutation(batch.n_graphs)]


@pytest.mark.parametrize(("representation", "stats"), REPRESENTATIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_alone_and_in_the_batch(mixed, backend, representation, stats):
    layout, how = fitted(mixed, representation, stats), engine.Filtering(backend=backend)
    together = engine.embed(mixed, layout, how)
    assert np.count_nonzero(together) > 1000
    alone = np.concatenate([engine.embed(graph, layout, how) for graph in mixed])
    assert same_bits(alone, together)


@pytest.mark.parametrize("features", ["labels", "attributes", "both", "degree", "constant"])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("backend", BACKENDS)
def test_heights_alone_and_in_the_batch(rng, backend, p, features):
    """The heights themselves, the order and the classes, for all features and norms."""
    batch = random_batch(rng, 14, 25, attributes=3, n_labels=9)
    how = engine.Filtering(node_features=features, p=p, backend=backend)
    for number, row in enumerate(engine.event_rows(batch, GRID, how)):
        alone = [list(engine.event_rows(graph, GRID, how))[number] for graph in batch]
        assert same_bits(np.concatenate([part.heights for part in alone], axis=1), row.heights)
        assert same_bits(np.concatenate([part.closes_cycle for part in alone], axis=1), row.closes_cycle)
        moved = [part.order + int(start) for part, start in zip(alone, batch.edge_ptr, strict=False)]
        assert same_bits(np.concatenate(moved, axis=1).astype(np.int32), row.order)


@invariant
@given(data=st.data())
@pytest.mark.parametrize("backend", BACKENDS)
def test_small_graphs_alone_and_in_the_batch(backend, data):
    batch = to_batch(data.draw(graph_sets(max_graphs=5)))
    k, p = data.draw(pairs_of_steps), data.draw(exponents)
    how = engine.Filtering(p=p, backend=backend)
    layout = FeatureLayout.fit(batch, LayoutOptions(pairs=tuple(k), min_graphs=1))
    together = engine.embed(batch, layout, how)
    assert same_bits(np.concatenate([engine.embed(graph, layout, how) for graph in batch]), together)


@pytest.mark.parametrize(("representation", "stats"), REPRESENTATIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_permuting_the_graphs_permutes_the_rows(rng, mixed, backend, representation, stats):
    how = engine.Filtering(backend=backend)
    moved = rng.permutation(mixed.n_graphs)
    layout, other_layout = fitted(mixed, representation, stats), fitted(mixed[moved], representation, stats)
    assert layout.names == other_layout.names
    assert same_bits(engine.embed(mixed[moved], other_layout, how), engine.embed(mixed, layout, how)[moved])


@pytest.mark.parametrize(("representation", "stats"), REPRESENTATIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_change_no_bit(mixed, backend, representation, stats):
    layout, how = fitted(mixed, representation, stats), engine.Filtering(backend=backend)
    one = engine.embed(mixed, layout, how, n_jobs=1)
    for n_jobs in (None, 2, 3):
        assert same_bits(engine.embed(mixed, layout, how, n_jobs=n_jobs), one)


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_change_no_bit_of_the_grid(mixed, backend):
    ways = [list(engine.embed_grid(mixed, range(3), range(5), backend=backend, n_jobs=n_jobs)) for n_jobs in (1, 2, 3)]
    for rows in zip(*ways, strict=True):
        for other in rows[1:]:
            assert (other.k1, other.k2) == (rows[0].k1, rows[0].k2)
            for field in ("heights", "order", "closes_cycle"):
                assert same_bits(getattr(other, field), getattr(rows[0], field))


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_k_change_no_bit(mixed, backend):
    """A (k1, k2) alone, and the same one visited among others."""
    how = engine.Filtering(backend=backend)
    together = {}
    for row in engine.event_rows(mixed, GRID, how):
        together |= {(row.k1, k2): (row.heights[i], row.closes_cycle[i]) for i, k2 in enumerate(row.k2)}
    assert set(together) == set(PAIRS)
    for pair, (height, closes) in together.items():
        (row,) = engine.event_rows(mixed, Grid.of_pairs([pair]), how)
        assert same_bits(row.heights[0], height)
        assert same_bits(row.closes_cycle[0], closes)


@pytest.mark.parametrize(("representation", "stats"), REPRESENTATIONS)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_sparse_is_dense(mixed, n_jobs, representation, stats):
    layout, how = fitted(mixed, representation, stats), engine.Filtering()
    dense = engine.embed(mixed, layout, how)
    sparse = engine.embed(mixed, layout, how, sparse=True, n_jobs=n_jobs)
    assert isinstance(sparse, sp.csr_array)
    assert (sparse.data != 0).all()
    assert sparse.has_canonical_format
    assert same_bits(sparse.toarray(), dense)


@pytest.mark.parametrize("sparse", [False, True])
def test_dtype_is_of_the_output_only(mixed, sparse):
    """float32 output is the rounded float64 output: no arithmetic is done in it."""
    layout, how = fitted(mixed, "typed", "auto"), engine.Filtering()
    wide = engine.embed(mixed, layout, how)
    narrow = engine.embed(mixed, layout, how, dtype=np.float32, sparse=sparse)
    assert narrow.dtype == np.float32
    assert same_bits(narrow.toarray() if sparse else narrow, wide.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_stores_no_zeros(dtype):
    """Squares of heights that the output's type cannot hold are zeros like others."""
    graph = naive.Graph(2, ((0, 1),), node_attributes=((0.0,), (1e-30,)))
    layout = FeatureLayout.fit(to_batch([graph]), LayoutOptions())
    how = engine.Filtering(node_features="attributes")
    assert (engine.embed(to_batch([graph]), layout, how, sparse=True, dtype=dtype).data != 0).all()


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_labels_that_a_graph_does_not_use_change_no_bit(rng, backend):
    """A batch-mate with a thousand other labels, smaller and larger than all others."""
    batch = random_batch(rng, 20, 20)
    labels = tuple((np.arange(1000) * 7 - 3500).tolist())
    stranger = naive.Graph(1000, tuple((v, v + 1) for v in range(999)), (1.0,) * 999, labels, None, (5,) * 999)
    joined = GraphBatch.concatenate([to_batch([stranger]), batch])
    how = engine.Filtering(backend=backend)
    for row, with_stranger in zip(
        engine.event_rows(batch, GRID, how), engine.event_rows(joined, GRID, how), strict=True
    ):
        assert same_bits(with_stranger.heights[:, 999:], row.heights)
        assert same_bits(with_stranger.closes_cycle[:, 999:], row.closes_cycle)
        assert same_bits(with_stranger.order[:, 999:] - np.int32(999), row.order)


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_order_of_label_values_counts(mixed, backend):
    """Labels renamed so that their order stays, to strings or other numbers: no height and no H0 edge changes."""
    how = engine.Filtering(backend=backend)
    words = mixed.replace(
        node_labels=np.array(["a", "b", "c"])[mixed.node_labels],
        edge_labels=np.array(["x", "y", "z"])[mixed.edge_labels],
    )
    spread = mixed.replace(node_labels=mixed.node_labels * 1000 - 70, edge_labels=mixed.edge_labels**3 - 4)
    for renamed in (words, spread):
        for one, other in zip(engine.event_rows(mixed, GRID, how), engine.event_rows(renamed, GRID, how), strict=True):
            assert same_bits(one.heights, other.heights)
            assert same_bits(one.closes_cycle, other.closes_cycle)
            assert same_bits(one.order, other.order)


@pytest.mark.parametrize("backend", BACKENDS)
def test_constant_features_have_no_height_without_walks(mixed, backend):
    """M is row-stochastic: normalized WL steps leave a constant constant."""
    how = engine.Filtering(node_features="constant", backend=backend)
    for row in engine.event_rows(mixed, Grid.product([0, 1, 5, np.inf], [0]), how):
        np.testing.assert_allclose(row.heights, 0, atol=1e-14)
        if row.k1 == 0:
            assert not row.heights.any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_heights_go_by_degree_pair(mixed, backend):
    """All heights are equal: the tie rule alone decides, by degree pair first."""
    how = engine.Filtering(node_features="constant", backend=backend)
    (row,) = engine.event_rows(mixed, Grid.product([0], [0]), how)
    degrees = np.sort(mixed.degrees[mixed.edges], axis=1)
    for first, last in zip(mixed.edge_ptr[:-1], mixed.edge_ptr[1:], strict=True):
        pairs = degrees[row.order[0, first:last]].tolist()
        assert pairs == sorted(pairs)
