"""The ladder: the naive twin, the plain telling in `pwlr.method`, and the fast retelling agree on all graphs.

Each rung is compared with the one before. Rounding may decide whether two heights count as equal when their gap is the
tolerance itself; such graphs are left out (`is_borderline`).
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.helpers import (
    BACKENDS,
    exponents,
    graph_sets,
    node_features_of,
    pairs_of_steps,
    random_batch,
    symmetric_batch,
    to_batch,
    to_graphs,
)

from pwlr import engine
from pwlr.method.diffusion import MULTISCALE, Grid
from pwlr.method.filtration import closing_edges, prepare, tie_order
from pwlr.method.vectors import FeatureLayout, LayoutOptions

HEIGHT_TOLERANCE = 1e-12  # of the largest node-feature norm, before or after diffusion
VECTOR_TOLERANCE = 1e-9  # of the largest entry, or of that norm where all entries are nearly zero

settings.register_profile("parity", settings.get_profile("default"), max_examples=100, derandomize=True)
parity = settings(settings.get_profile("parity"))


def by_graph(batch, row, step):
    """Heights, H0 heights and H1 heights of every graph."""
    for first, last in zip(batch.edge_ptr[:-1], batch.edge_ptr[1:], strict=True):
        height, closes = row.heights[step, first:last], row.closes_cycle[step, first:last]
        yield height, np.sort(height[~closes]), np.sort(height[closes])


def all_features(graphs):
    return st.sampled_from(node_features_of(graphs))


@pytest.mark.parametrize("backend", BACKENDS)
@parity
@given(data=st.data())
def test_heights_and_classes(backend, data):
    graphs = data.draw(graph_sets())
    k, p = data.draw(pairs_of_steps), data.draw(exponents)
    features = data.draw(all_features(graphs))
    batch = to_batch(graphs)
    how = engine.Filtering(node_features=features, p=p, backend=backend)
    twins = naive.all_events(graphs, graphs, naive.Settings(k=tuple(k), p=p, node_features=features))
    seen = set()
    for row in engine.event_rows(batch, Grid.of_pairs(k), how):
        for step, k2 in enumerate(row.k2):
            seen.add((row.k1, k2))
            for twin, (height, h0, h1) in zip(twins, by_graph(batch, row, step), strict=True):
                event = twin[row.k1, k2]
                close = {"rtol": HEIGHT_TOLERANCE, "atol": HEIGHT_TOLERANCE * event.scale}
                np.testing.assert_allclose(height, event.height, **close)
                assert (len(h0), len(h1)) == (len(event.h0), len(event.h1))
                if event.is_borderline():
                    continue
                np.testing.assert_allclose(h0, sorted(event.height[number] for number in event.h0), **close)
                np.testing.assert_allclose(h1, sorted(event.height[number] for number in event.h1), **close)
    assert seen == set(k)


def compared(backend, fitted, graphs, how):
    """Fit a layout, embed graphs, compare with the twin by the names of the columns; False where rounding decides."""
    both = [*fitted, *graphs]
    twins = naive.all_events(graphs, both, how)
    if any(event.is_borderline() for by_k in twins for event in by_k.values()):
        return False
    options = LayoutOptions(
        pairs=how.k,
        representation=how.representation,
        homology=how.homology,
        stats=how.stats if how.representation == "degree-pairs" else "auto",
        min_graphs=how.min_graphs,
        tau=how.tau,
    )
    layout = FeatureLayout.fit(to_batch(both)[: len(fitted)], options)
    filtering = engine.Filtering(node_features=how.node_features, p=how.p, backend=backend)
    found = engine.embed(to_batch(both)[len(fitted) :], layout, filtering, unseen="ignore")
    assert found.shape == (len(graphs), layout.n_columns)
    assert len(set(layout.names)) == len(layout.names) == layout.n_columns
    for vector, wanted, by_k in zip(found, naive.vectors(fitted, graphs, how), twins, strict=True):
        assert sorted(layout.names) == sorted(wanted)
        wanted = [wanted[name] for name in layout.names]
        scale = max(np.abs(wanted).max(initial=0.0), *(event.scale for event in by_k.values()))
        np.testing.assert_allclose(vector, wanted, rtol=VECTOR_TOLERANCE, atol=VECTOR_TOLERANCE * scale)
    return True


@pytest.mark.parametrize("representation", ["sorted", "degree-pairs sum", "degree-pairs moments", "typed"])
@pytest.mark.parametrize("backend", BACKENDS)
@parity
@given(data=st.data())
def test_vectors(backend, representation, data):
    name, _, stats = representation.partition(" ")
    together = data.draw(graph_sets(max_graphs=6, max_nodes=6))
    n_fitted = data.draw(st.integers(0, len(together)))
    how = naive.Settings(
        k=tuple(data.draw(pairs_of_steps)),
        representation=name,
        homology=data.draw(st.sampled_from(["h0", "h1", "h0+h1"])),
        stats=stats or "sum",
        min_graphs=data.draw(st.sampled_from([1, 2, 3, "auto"])),
        tau=data.draw(st.sampled_from([0.0, 1.0, -0.25])),
        p=data.draw(exponents),
        node_features=data.draw(all_features(together)),
    )
    # Fitted on some and asked about all: kinds, lists and pairs come that the layout has not seen.
    assume(compared(backend, together[:n_fitted], together, how))


@pytest.mark.parametrize("labels", ["alike", "alternate", "thirds"])
@pytest.mark.parametrize("representation", ["sorted", "degree-pairs", "typed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_vectors_of_symmetric_graphs(backend, representation, labels):
    """Nothing but ties: cycles, cliques, grids, regular graphs, with one label or a few."""
    graphs = [graph for graph in to_graphs(symmetric_batch(labels)) if len(graph.edges) <= 16]
    assert len(graphs) > 15
    assert compared(backend, graphs, graphs, naive.Settings(representation=representation, min_graphs=2))


@pytest.mark.parametrize("weights", ["any", "unit"])
def test_backends_agree_on_larger_graphs(rng, weights):
    """Graphs too large for the naive twin, a grid of many k1 and k2: the same order wherever heights are not tied."""
    batch = random_batch(rng, n_graphs=40, max_nodes=40, weights=weights)
    grid = Grid.product([0, 1, 2, 9, np.inf], [0, 1, 2, 3, 4, 12, 30, np.inf])
    rows = [list(engine.event_rows(batch, grid, engine.Filtering(backend=backend))) for backend in BACKENDS]
    assert len(rows[0]) == len(rows[1]) == 5
    for plain, fast in zip(*rows, strict=True):
        assert (plain.k1, plain.k2) == (fast.k1, fast.k2)
        np.testing.assert_allclose(fast.heights, plain.heights, rtol=0, atol=1e-12 * plain.heights.max())
        for step in range(len(plain.k2)):
            for one, other in zip(by_graph(batch, plain, step), by_graph(batch, fast, step), strict=True):
                for sorted_one, sorted_other in zip(one[1:], other[1:], strict=True):
                    np.testing.assert_allclose(sorted_one, sorted_other, rtol=0, atol=1e-9 * one[0].max(initial=1.0))


def tolerances_of(batch, how, grid):
    """For each (k1, k2) and each graph, the tolerance of the tie rule, from M and X as dense matrices."""
    found = {}
    graphs = to_graphs(batch)
    for graph, plain in enumerate(graphs):
        X = naive.node_matrix(plain, how.node_features, graphs)
        for k1, k2_values in grid.rows:
            for k2 in k2_values:
                Y = naive.diffused(plain, X, k1, k2)
                norms = np.linalg.norm(Y, how.p, axis=0) if Y.size else np.zeros(1)
                found[k1, k2, graph] = how.tie_tol * norms.max(initial=0.0)
    return found


@pytest.mark.parametrize("features", ["attributes", "labels"])
@pytest.mark.parametrize("tie_tol", [0.0, 1e-9, 1e-3, 0.02, 0.3])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_order_is_the_rule_applied_to_the_heights(rng, backend, tie_tol, features):
    """Every way of finding the order comes to `tie_order`, also when groups are wide, chained and running together.

    A coarse tolerance makes such groups common; they are rare at the default. The grid takes steps and jumps.
    """
    batch = random_batch(rng, 25, 22, weights=rng.choice(["any", "unit"]), attributes=1, n_labels=2)
    grid = Grid.product([0, 1, 4, np.inf], [0, 1, 2, 3, 4, 5, 9, 40, np.inf])
    how = engine.Filtering(node_features=features, tie_tol=tie_tol, backend=backend)
    rank = prepare(batch).tie_rank
    tolerances = tolerances_of(batch, how, grid)
    compared = 0
    for row in engine.event_rows(batch, grid, how):
        for step, k2 in enumerate(row.k2):
            for graph, (first, last) in enumerate(zip(batch.edge_ptr[:-1], batch.edge_ptr[1:], strict=True)):
                height, tolerance = row.heights[step, first:last], tolerances[row.k1, k2, graph]
                gaps = np.diff(np.sort(height))
                if (np.abs(gaps - tolerance) < 1e-13 * max(1.0, height.max(initial=0.0))).any() and tie_tol:
                    continue  # rounding decides what is tied
                wanted = tie_order(height, rank[first:last], tolerance)
                np.testing.assert_array_equal(row.order[step, first:last] - first, wanted)
                closes = closing_edges(batch.edges[first:last], wanted)
                np.testing.assert_array_equal(row.closes_cycle[step, first:last], closes)
                compared += 1
    assert compared > 0.6 * batch.n_graphs * 4 * 9


@pytest.mark.parametrize("spacing", [0.2, 0.9, 1.1, 5.0])
@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_of_near_ties(rng, backend, spacing):
    """Heights a fraction of the tolerance apart: one long chain is one group, gaps above the tolerance make many."""
    n = 30
    chosen = rng.permutation(n) * spacing * 1e-9 + 0.5  # the largest norm is 1, so the tolerance is 1e-9
    edges = [*((0, leaf) for leaf in range(2, n + 2)), *((1, leaf) for leaf in range(2, n + 2, 2))]
    graph = naive.Graph(
        n + 2,
        tuple(sorted(edges)),
        node_labels=tuple(rng.integers(0, 3, n + 2).tolist()),
        node_attributes=tuple((value,) for value in [1.0, 1.0, *(1 - chosen)]),
    )
    (row,) = engine.embed_grid(to_batch([graph]), [0], [0], node_features="attributes", backend=backend)
    event = naive.events(graph, naive.node_matrix(graph, "attributes", [graph]), 0, 0)
    np.testing.assert_array_equal(row.heights[0], event.height)
    assert row.order[0].tolist() == naive.addition_order(graph, event.height, 1e-9)
    assert np.flatnonzero(row.closes_cycle[0]).tolist() == sorted(event.h1)
    in_order = row.heights[0, row.order[0]]
    assert (np.diff(in_order) < 0).any() == (spacing < 1)  # by kind inside a group, by height between groups


@pytest.mark.parametrize("representation", ["sorted", "degree-pairs", "typed"])
def test_backends_agree_on_larger_vectors(rng, representation):
    batch = random_batch(rng, n_graphs=60, max_nodes=40, weights="unit", attributes=2)
    options = LayoutOptions(pairs=(*MULTISCALE, (0, 3), (2, np.inf), (np.inf, 1)), representation=representation)
    layout = FeatureLayout.fit(batch, options)
    for features in ("labels", "attributes", "both", "degree", "constant"):
        plain, fast = (
            engine.embed(batch, layout, engine.Filtering(node_features=features, backend=backend))
            for backend in BACKENDS
        )
        assert (np.abs(fast - plain) <= VECTOR_TOLERANCE * np.abs(plain).max(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("representation", ["sorted", "degree-pairs", "typed"])
def test_auto_back_off_of_wide_sets(rng, backend, representation):
    """So many kinds that the automatic threshold doubles, against the twin's own count of columns."""
    batch = random_batch(rng, n_graphs=40, max_nodes=10, n_labels=9)
    graphs = to_graphs(batch)
    how = naive.Settings(k=((0, 1), (2, 0), (1, 4), (3, 3)), representation=representation)
    if representation == "typed":
        layout = FeatureLayout.fit(batch, LayoutOptions(pairs=how.k))
        assert layout.min_graphs > 1
    assert compared(backend, graphs, graphs, how)


@pytest.mark.parametrize("backend", BACKENDS)
def test_edge_weights_of_every_kind(rng, backend):
    """Each option means the weights that the twin is given outright."""
    batch = random_batch(rng, n_graphs=8, max_nodes=7, weights="any")
    batch = batch.replace(edge_attributes=rng.uniform(0.5, 3.0, batch.n_edges), edge_labels=batch.edge_labels + 1)
    degrees = batch.degrees
    wanted = {
        "given": batch.edge_weights,
        "unit": np.ones(batch.n_edges),
        "attribute": batch.edge_attributes[:, 0],
        "reciprocal": 1 / batch.edge_attributes[:, 0],
        "label": batch.edge_labels.astype(float),
        "max-degree": np.array([max(degrees[u], degrees[v]) for u, v in batch.edges], dtype=float),
    }
    options: dict[str, object] = {name: name for name in wanted}
    wanted["mapping"], options["mapping"] = 0.5 * batch.edge_labels, {1: 0.5, 2: 1.0, 3: 1.5}
    wanted["callable"], options["callable"] = batch.edge_weights + 1, lambda graphs: graphs.edge_weights + 1
    assert len(np.unique(batch.edge_labels)) == 3
    for name, weights in wanted.items():
        graphs = [
            naive.Graph(graph.n_nodes, graph.edges, tuple(weights[first:last]), graph.node_labels)
            for graph, first, last in zip(to_graphs(batch), batch.edge_ptr[:-1], batch.edge_ptr[1:], strict=True)
        ]
        twins = naive.all_events(graphs, graphs, naive.Settings(k=((1, 2),)))
        how = engine.Filtering(edge_weights=options[name], backend=backend)
        (row,) = engine.event_rows(batch, Grid.of_pairs([(1, 2)]), how)
        height = np.concatenate([twin[1, 2].height for twin in twins])
        np.testing.assert_allclose(row.heights[0], height, rtol=1e-12, atol=1e-13, err_msg=name)
