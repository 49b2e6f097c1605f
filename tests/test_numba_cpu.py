"""The fast retelling against the plain one: the same heights, THE order, the same flags, on whatever graph and way.

Order and flags are checked twice: exactly, by applying the plain rule to the heights of the kernel, and against the
plain flags by tie group and rank, which rounding does not change. Everything small also runs without the JIT.
"""

import importlib.util
import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numba
import numpy as np
import pytest
from tests.helpers import permuted, random_batch, symmetric_batch

from pwlr.backends import numba_cpu
from pwlr.graphs import GraphBatch, pack, shard_bounds
from pwlr.method import diffusion, filtration
from pwlr.method.diffusion import Grid

JIT = not numba.config.DISABLE_JIT
STEPS = (0, 1, 2, 5, 12, math.inf)
needs_jit = pytest.mark.skipif(not JIT, reason="too large for plain Python")


def norms(work, grid, p):
    """The largest node-feature norm of every graph, by (k1, k2)."""
    M = diffusion.transition_matrix(work.indptr, work.indices, work.weights)
    limit = diffusion.stationary(M, diffusion.weighted_degrees(work.indptr, work.indices, work.weights))
    spans = list(itertools.pairwise(work.node_ptr.tolist()))
    found = {}
    steps = diffusion.wl_steps(M, filtration._dense(work), [k1 for k1, _ in grid.rows], limit)
    for (k1, k2_values), Z in zip(grid.rows, steps, strict=True):
        for k2, Y in zip(k2_values, diffusion.random_walks(M, Z, k2_values, limit), strict=True):
            size = filtration.p_norm(Y, p)
            found[k1, k2] = [size[start:stop].max(initial=0.0) for start, stop in spans]
    return found


def groups(height, tolerance):
    """Number of every edge's tie group."""
    by_height = np.argsort(height, kind="stable")
    group = np.empty(len(height), dtype=np.int64)
    group[by_height] = np.cumsum(np.diff(height[by_height], prepend=height[by_height[:1]]) > tolerance)
    return group


def counted(group, rank, closes):
    """How many H1 edges each rank has in each group."""
    return np.unique(np.column_stack([group, rank])[closes], axis=0, return_counts=True)


def assert_same_events(batch, *, features="auto", p=1.0, tie_tol=1e-9, k1=STEPS, k2=STEPS):
    work, grid = filtration.prepare(batch, features), Grid.product(k1, k2)
    largest, borderline, steps = norms(work, grid, p), 0, 0
    plain_rows = filtration.rows(work, grid, p=p, tie_tol=tie_tol)
    for plain, fast in zip(plain_rows, numba_cpu.rows(work, grid, p=p, tie_tol=tie_tol), strict=True):
        assert (fast.k1, fast.k2) == (plain.k1, plain.k2)
        for field in ("heights", "order", "closes_cycle"):
            assert getattr(fast, field).dtype == getattr(plain, field).dtype
            assert getattr(fast, field).shape == getattr(plain, field).shape
        for step, k2_value in enumerate(fast.k2):
            for g, (first, last) in enumerate(itertools.pairwise(work.edge_ptr.tolist())):
                norm, rank = largest[fast.k1, k2_value][g], work.tie_rank[first:last]
                height, closes = fast.heights[step, first:last], fast.closes_cycle[step, first:last]
                expected = plain.heights[step, first:last]
                np.testing.assert_allclose(height, expected, rtol=1e-12, atol=1e-12 * norm)
                tolerance = tie_tol * norm
                order = filtration.tie_order(height, rank, tolerance)
                gaps = np.diff(np.sort(height))
                steps += 1
                if tolerance > 0 and (np.abs(gaps - tolerance) <= 1e-12 * norm).any():
                    borderline += 1  # rounding decides what is tied
                    continue
                assert np.array_equal(fast.order[step, first:last], first + order)
                assert np.array_equal(closes, filtration.closing_edges(work.edges[first:last], order))
                if tie_tol == 0:
                    continue  # then rounding alone decides what is tied
                group = groups(expected, tolerance)
                assert np.array_equal(groups(height, tolerance), group)
                for mine, theirs in zip(
                    counted(group, rank, closes),
                    counted(group, rank, plain.closes_cycle[step, first:last]),
                    strict=True,
                ):
                    assert np.array_equal(mine, theirs)
    assert borderline <= 0.05 * steps


def sized(full, small):
    """Fewer or smaller graphs where kernels run as plain Python."""
    return full if JIT else small


# -- the same as the plain telling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("features", ["labels", "attributes", "both", "degree", "constant"])
def test_random_graphs(rng, features, p):
    batch = random_batch(rng, sized(12, 3), sized(20, 8), attributes=3)
    assert_same_events(batch, features=features, p=p, k1=sized(STEPS, (0, 2, math.inf)))


@pytest.mark.parametrize("n_labels", [1, 4, 5, 40])
@pytest.mark.parametrize("weights", ["unit", "any"])
def test_few_and_many_columns(rng, n_labels, weights):
    batch = random_batch(rng, sized(15, 3), sized(25, 8), n_labels=n_labels, weights=weights)
    assert_same_events(batch)


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("labels", ["alike", "alternate", "thirds"])
def test_graphs_full_of_ties(rng, labels, p):
    batch = symmetric_batch(labels)[: sized(None, 6)]
    assert_same_events(batch, p=p)
    assert_same_events(permuted(batch, rng), p=p)


@pytest.mark.parametrize("tie_tol", [0.0, 1e-3, 0.02, 0.3])
def test_groups_that_run_into_each_other(rng, tie_tol):
    batch = random_batch(rng, sized(12, 3), sized(20, 8), attributes=2)
    assert_same_events(batch, features="attributes", tie_tol=tie_tol)


def test_integer_attributes_and_weights(rng):
    m, n = 60, 20
    pairs = rng.permutation(list(itertools.combinations(range(n), 2)))[:m]
    batch = GraphBatch.from_edges(
        [pairs.tolist()],
        weights=[rng.integers(1, 4, m).astype(float).tolist()],
        node_attributes=[rng.integers(-2, 3, (n, 2)).tolist()],
    )
    assert_same_events(batch, features="attributes")


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
@pytest.mark.parametrize("p", [1.0, 3.0])
def test_far_from_one(rng, scale, p):
    batch = random_batch(rng, 3, 8, attributes=2)
    assert_same_events(batch.replace(node_attributes=batch.node_attributes * scale), features="attributes", p=p)


def test_weights_far_apart(rng):
    batch = random_batch(rng, 6, 10)
    arcs = np.exp(20 * rng.normal(size=batch.n_edges))[batch.arc_edges]
    assert_same_events(batch.replace(weights=arcs))


def test_much_moves_between_steps(rng):
    # more than insertion is willing to mend, so that orders are found from scratch
    n = sized(400, 40)
    edges = np.unique(np.sort(rng.integers(0, n, (3 * n, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    batch = pack([0, n], *edges.T, listed="once", node_attributes=rng.normal(size=(n, 6)))
    assert_same_events(batch, features="attributes", k1=(0, 7), k2=(0, 3, 30, 31))


# -- graphs with little in them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "n_nodes"),
    [
        ([], []),
        ([[]], [0]),
        ([[], [], []], [0, 4, 1]),
        ([[(0, 1)]], [2]),
        ([[], [(0, 1), (1, 2), (0, 2)], []], [0, 3, 0]),
        ([[(1, 3), (2, 4)]], [6]),
        ([[(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)], [(0, 1)]], [7, 5]),
    ],
)
@pytest.mark.parametrize("features", ["degree", "constant"])
@pytest.mark.parametrize("p", [1.0, 2.5])
def test_tiny(edges, n_nodes, features, p):
    assert_same_events(GraphBatch.from_edges(edges, n_nodes=n_nodes), features=features, p=p)


def test_no_columns():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)]], node_attributes=[np.empty((3, 0))])
    assert_same_events(batch, features="attributes")


def test_no_steps():
    work = filtration.prepare(GraphBatch.from_edges([[(0, 1)]]))
    assert list(numba_cpu.rows(work, Grid(()))) == []
    (row,) = numba_cpu.rows(work, Grid(((0, ()),)))
    assert row.heights.shape == row.order.shape == row.closes_cycle.shape == (0, 1)


# -- the same bits -----------------------------------------------------------------------------------------------------


def events(batch, grid, **options):
    rows = list(numba_cpu.rows(filtration.prepare(batch, options.pop("features", "auto")), grid, **options))
    return [np.concatenate([getattr(row, field) for row in rows]) for field in ("heights", "order", "closes_cycle")]


def assert_same_bits(batch, parts, grid, **options):
    heights, order, closes = events(batch, grid, **options)
    found = list(parts)
    shifts = np.cumsum([0, *(part[0].shape[1] for part in found)])
    assert np.array_equal(np.hstack([part[0] for part in found]), heights)
    assert np.array_equal(np.hstack([part[1] + shift for part, shift in zip(found, shifts, strict=False)]), order)
    assert np.array_equal(np.hstack([part[2] for part in found]), closes)


@pytest.mark.parametrize("p", [1.0, 1.5])
@pytest.mark.parametrize("features", ["labels", "both"])
def test_alone_in_shards_and_in_threads(rng, features, p):
    batch = random_batch(rng, sized(40, 6), sized(20, 8), n_labels=9, attributes=2)
    grid, options = Grid.product(STEPS, STEPS), {"p": p, "features": features}
    assert_same_bits(batch, [events(graph, grid, **options) for graph in batch], grid, **options)
    for n_shards in (2, 3, 7):
        cuts = shard_bounds(batch, n_shards, 4)
        shards = [batch[start:stop] for start, stop in itertools.pairwise(cuts.tolist())]
        with ThreadPoolExecutor(2) as pool:
            assert_same_bits(batch, pool.map(lambda shard: events(shard, grid, **options), shards), grid, **options)


def test_order_of_the_batch_does_not_matter(rng):
    batch = random_batch(rng, sized(40, 6), sized(20, 8))
    grid = Grid.product((0, 1, 4), (0, 1, 4))
    shuffled = rng.permutation(batch.n_graphs)
    alone = [events(graph, grid) for graph in batch]
    assert_same_bits(batch[shuffled], [alone[g] for g in shuffled], grid)


def test_the_way_to_a_step_does_not_matter(rng):
    batch = random_batch(rng, sized(30, 5), sized(20, 8), weights="unit")
    whole = list(numba_cpu.rows(filtration.prepare(batch), Grid.product(STEPS, STEPS)))
    for row in whole:
        for step, k2 in enumerate(row.k2):
            heights, order, closes = events(batch, Grid.of_pairs([(row.k1, k2)]))
            assert np.array_equal(heights[0], row.heights[step])
            assert np.array_equal(order[0], row.order[step])
            assert np.array_equal(closes[0], row.closes_cycle[step])


def test_rows_are_the_callers_own(rng):
    batch = random_batch(rng, 4, 8)
    work, grid = filtration.prepare(batch), Grid.product((0, 1, 2), (0, 1))
    copies = []
    kept = [copies.append(row.heights.copy()) or row for row in numba_cpu.rows(work, grid)]
    for row, copy in zip(kept, copies, strict=True):
        assert np.array_equal(row.heights, copy)
        row.heights[:] = row.order[:] = 0
    assert np.array_equal(events(batch, grid)[0], np.concatenate(copies))


# -- parts and housekeeping --------------------------------------------------------------------------------------------


def test_bridges(rng):
    graphs = [nx.gnp_random_graph(int(n), 2 / max(n, 1), seed=int(n)) for n in rng.integers(0, 15, 30)]
    graphs += [nx.barbell_graph(4, 3), nx.path_graph(5), nx.cycle_graph(5), nx.empty_graph(3)]
    batch = GraphBatch.from_edges([list(graph.edges) for graph in graphs], n_nodes=[len(graph) for graph in graphs])
    shard = numba_cpu._shard(filtration.prepare(batch))
    expected = [
        tuple(sorted((u + shift, v + shift)))
        for graph, shift in zip(graphs, batch.node_ptr.tolist(), strict=False)
        for u, v in nx.bridges(graph)
    ]
    assert sorted(map(tuple, batch.edges[shard.bridge].tolist())) == sorted(expected)


@needs_jit
def test_kernels_compile_once(rng):
    # A second signature would cost every user its seconds at the first call; what is writable must not make one.
    batch = random_batch(rng, 4, 8, attributes=1)
    writable = filtration.Prepared(*(np.array(field) for field in vars(filtration.prepare(batch)).values()))
    for work in (filtration.prepare(batch), filtration.prepare(batch, "attributes", "max-degree"), writable):
        for p in (1.0, 2, math.inf):
            list(numba_cpu.rows(work, Grid.product((0, math.inf), (0, 1)), p=p, tie_tol=0))
    assert [len(kernel.signatures) for kernel in (numba_cpu._row, numba_cpu._find_bridges)] == [1, 1]


@pytest.mark.parametrize(("value", "cached"), [("0", False), ("off", False), ("1", True), (None, True)])
def test_cache_switch(monkeypatch, value, cached):
    if value is None:
        monkeypatch.delenv("PWLR_NUMBA_CACHE", raising=False)
    else:
        monkeypatch.setenv("PWLR_NUMBA_CACHE", value)
    spec = importlib.util.spec_from_file_location("numba_cpu_again", numba_cpu.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again._CACHE is cached


@needs_jit
@pytest.mark.parametrize("shape", ["random", "lattice", "path"])
def test_one_large_graph(rng, shape):
    # 10^5 to 2 10^5 edges: anything quadratic would take minutes
    n = 100_000
    if shape == "random":
        edges = np.unique(np.sort(rng.integers(0, n, (2 * n, 2)), axis=1), axis=0)
        edges = edges[edges[:, 0] < edges[:, 1]]
    elif shape == "lattice":
        cell = np.arange(n).reshape(250, -1)
        right, down = (cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])
        edges = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in (right, down)])
    else:
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    labels = rng.integers(0, 6, n) if shape == "random" else np.zeros(n, dtype=int)
    labels[rng.integers(0, n, 50)] = 9
    batch = pack([0, n], *edges.T, listed="once", node_labels=labels)
    work, grid = filtration.prepare(batch), Grid.product((0, 2), (0, 1, 3, math.inf))
    largest = norms(work, grid, 1.0)
    trees = n - nx.number_connected_components(nx.Graph(edges.tolist() + [(v, v) for v in range(n)]))
    for row in numba_cpu.rows(work, grid):
        assert (~row.closes_cycle).sum(axis=1).tolist() == [trees] * len(row.k2)
        for step, k2 in enumerate(row.k2):
            order = filtration.tie_order(row.heights[step], work.tie_rank, 1e-9 * largest[row.k1, k2][0])
            assert np.array_equal(row.order[step], order)
