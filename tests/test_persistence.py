"""`pwlr.persistence` against GUDHI's simplex tree on the same filtration, and in the hands of other libraries."""

import itertools
import warnings

import networkx as nx
import numpy as np
import pytest
from tests.helpers import BACKENDS, random_batch, symmetric_batch

import pwlr
from pwlr import GraphBatch, OptionError

gudhi = pytest.importorskip("gudhi")
STEPS = [(0, 0), (1, 2), (np.inf, 1), (3, np.inf)]


def local_edges(batch, graph):
    return batch.edges[batch.edge_ptr[graph] : batch.edge_ptr[graph + 1]] - batch.node_ptr[graph]


def heights_of(batch, k1, k2, **options):
    """Height of every edge, graph by graph, as a dictionary from its nodes."""
    (row,) = pwlr.embed_grid(batch, [k1], [k2], **options)
    values = [row.heights[0, first:last] for first, last in itertools.pairwise(batch.edge_ptr)]
    return [
        dict(zip(map(tuple, local_edges(batch, graph).tolist()), own.tolist(), strict=True))
        for graph, own in enumerate(values)
    ]


def by_gudhi(n_nodes, heights):
    """Diagrams of the graph as a 1-dimensional complex: nodes at 0, edges at their height, no triangle filled."""
    tree = gudhi.SimplexTree()
    for node in range(n_nodes):
        tree.insert([node], 0.0)
    for edge, height in heights.items():
        tree.insert(list(edge), height)
    # persistence_dim_max: classes of the top dimension are computed too; persistence 0 is kept
    tree.compute_persistence(homology_coeff_field=2, min_persistence=-1.0, persistence_dim_max=True)
    return [np.asarray(tree.persistence_intervals_in_dimension(dimension)).reshape(-1, 2) for dimension in (0, 1)]


def in_order(points):
    return points[np.lexsort((points[:, 1], points[:, 0]))]


def assert_agrees_with_gudhi(batch, k1, k2, **options):
    # without ties the pairing is unique; with near ties two edges may swap roles, and with them their heights
    options = {"tie_tol": 0.0, **options}
    found = pwlr.persistence(batch, k1, k2, **options)
    assert len(found) == len(batch)
    for graph, heights in enumerate(heights_of(batch, k1, k2, **options)):
        n_nodes = int(np.diff(batch.node_ptr)[graph])
        for ours, theirs in zip(found[graph], by_gudhi(n_nodes, heights), strict=True):
            np.testing.assert_array_equal(in_order(ours), in_order(theirs))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("k1", "k2"), STEPS)
def test_agrees_with_gudhi_on_random_graphs(k1, k2, backend, rng):
    """All densities, some empty, most in several pieces."""
    assert_agrees_with_gudhi(random_batch(rng, 25, 18), k1, k2, backend=backend)


@pytest.mark.parametrize(("k1", "k2"), STEPS)
def test_agrees_with_gudhi_on_molecules(k1, k2):
    assert_agrees_with_gudhi(pwlr.load_dataset("MUTAG")[::4], k1, k2)


@pytest.mark.parametrize("labels", ["alike", "alternate", "thirds"])
def test_agrees_with_gudhi_where_most_heights_are_equal(labels):
    assert_agrees_with_gudhi(symmetric_batch(labels), 1, 2)


def test_agrees_with_gudhi_within_the_tie_tolerance(rng):
    batch = random_batch(rng, 20, 15, weights="unit")
    found = pwlr.persistence(batch, 2, 1)
    for graph, heights in enumerate(heights_of(batch, 2, 1)):
        for ours, theirs in zip(found[graph], by_gudhi(int(np.diff(batch.node_ptr)[graph]), heights), strict=True):
            np.testing.assert_allclose(in_order(ours), in_order(theirs), rtol=0, atol=1e-7)


@pytest.mark.data
@pytest.mark.parametrize("name", ["PTC_FR", "BZR_MD", "PROTEINS"])
def test_agrees_with_gudhi_on_real_sets(name, data_dir):
    assert_agrees_with_gudhi(pwlr.load_dataset(name, data_dir=data_dir)[::20], 1, 2)


# -- every point has its edge ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("essential", ["inf", "cap", "drop"])
def test_the_edge_behind_every_point_has_its_height(essential, rng):
    batch = GraphBatch.concatenate([random_batch(rng, 20, 12), random_batch(rng, 20, 12)])
    found = pwlr.persistence(batch, 1, 1, essential=essential)
    for graph, heights in enumerate(heights_of(batch, 1, 1)):
        h0, h1 = found[graph]
        edges0, edges1 = found.h0_edges[graph], found.h1_edges[graph]
        assert edges0.shape == h0.shape
        assert edges1.shape == h1.shape
        dying = (edges0 >= 0).all(axis=1)
        assert (edges0[~dying] == -1).all()
        assert [heights[tuple(edge)] for edge in edges0[dying].tolist()] == h0[dying, 1].tolist()
        assert [heights[tuple(edge)] for edge in edges1.tolist()] == h1[:, 0].tolist()
        if essential != "drop":
            named = [tuple(edge) for edge in [*edges0[dying].tolist(), *edges1.tolist()]]
            assert sorted(named) == sorted(heights)  # every edge is behind one point
        assert (edges0[dying, 0] < edges0[dying, 1]).all()


def test_the_dying_edges_are_a_spanning_forest(rng):
    batch = random_batch(rng, 20, 12)
    found = pwlr.persistence(batch, 1, 1, essential="drop")
    for graph, edges in enumerate(found.h0_edges):
        n_nodes = int(np.diff(batch.node_ptr)[graph])
        whole, forest = nx.empty_graph(n_nodes), nx.empty_graph(n_nodes)
        whole.add_edges_from(local_edges(batch, graph).tolist())
        forest.add_edges_from(edges.tolist())
        assert n_nodes == 0 or nx.is_forest(forest)
        assert nx.number_connected_components(forest) == nx.number_connected_components(whole)


def test_points_are_in_the_documented_order(rng):
    for h0, h1 in pwlr.persistence(random_batch(rng, 30, 14), 1, 2):
        assert h0[:, 1].tolist() == sorted(h0[:, 1].tolist())
        assert (np.diff(h1[:, 0]) >= 0).all()
        assert (h0[:, 0] == 0).all()


# -- classes that never die --------------------------------------------------------------------------------------------


def two_pieces() -> GraphBatch:
    """A triangle with heights 0, 2, 2 and apart from it one edge of height 0."""
    return GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2), (3, 4)]], node_labels=[["C", "C", "O", "N", "N"]])


def test_essential_classes():
    batch = two_pieces()
    h0, h1 = pwlr.persistence(batch, 0, 0)[0]
    assert h0.tolist() == [[0, 0], [0, 0], [0, 2], [0, np.inf], [0, np.inf]]
    assert h1.tolist() == [[2, np.inf]]
    h0, h1 = pwlr.persistence(batch, 0, 0, essential="cap")[0]
    assert h0.tolist() == [[0, 0], [0, 0], [0, 2], [0, 2], [0, 2]]
    assert h1.tolist() == [[2, 2]]
    h0, h1 = pwlr.persistence(batch, 0, 0, essential="drop")[0]
    assert h0.tolist() == [[0, 0], [0, 0], [0, 2]]
    assert h1.tolist() == []
    assert h1.shape == (0, 2)
    with pytest.raises(OptionError, match=r"essential='keep'.*'inf', 'cap', 'drop'"):
        pwlr.persistence(batch, 0, 0, essential="keep")


@pytest.mark.parametrize("essential", ["inf", "cap", "drop"])
def test_graphs_without_edges_and_without_nodes(essential):
    batch = GraphBatch.from_edges([[], [], [(0, 1)]], n_nodes=[0, 3, 2])
    found = pwlr.persistence(batch, 1, 1, essential=essential)
    nothing, isolated, edge = found
    assert [points.shape for points in nothing] == [(0, 2), (0, 2)]
    assert [points.shape for points in isolated] == [(0 if essential == "drop" else 3, 2), (0, 2)]
    assert edge[0].shape == (1 if essential == "drop" else 2, 2)
    assert [edges.shape for edges in found.h0_edges] == [points.shape for points in found.h0]
    if essential == "cap":
        assert isolated[0].tolist() == [[0, 0]] * 3
    assert len(pwlr.persistence([], 1, 1, essential=essential)) == 0


# -- a sequence of diagrams --------------------------------------------------------------------------------------------


def test_diagrams_are_a_sequence(rng):
    batch = random_batch(rng, 5, 8)
    found = pwlr.persistence(batch, 2, np.inf)
    assert repr(found) == "Diagrams(5 graphs, k1=2, k2=inf, essential='inf')"
    assert (found.k1, found.k2, found.essential) == (2, np.inf, "inf")
    assert len(found) == len(list(found)) == 5
    assert found[-1][0] is found.h0[-1]
    assert [pair[0] is h0 for pair, h0 in zip(found[1:3], found.h0[1:3], strict=True)] == [True, True]
    with pytest.raises(IndexError):
        found[5]
    for points in (*found.h0, *found.h1):
        assert points.dtype == np.float64
    for edges in (*found.h0_edges, *found.h1_edges):
        assert edges.dtype == np.int64


def test_options_reach_the_filtration(rng):
    batch = random_batch(rng, 10, 10, attributes=2)
    plain = pwlr.persistence(batch, 1, 1)
    for options in ({"node_features": "attributes"}, {"edge_weights": "unit"}, {"p": 2.0}):
        other = pwlr.persistence(batch, 1, 1, **options)
        heights = heights_of(batch, 1, 1, **options)
        assert any(not np.array_equal(a, b) for a, b in zip(plain.h0, other.h0, strict=True))
        assert [len(h0[np.isfinite(h0[:, 1])]) + len(h1) for h0, h1 in other] == list(map(len, heights))
        assert_agrees_with_gudhi(batch, 1, 1, **options)
    for n_jobs in (2, 3):
        again = pwlr.persistence(batch, 1, 1, n_jobs=n_jobs)
        for first, second in zip(plain, again, strict=True):
            np.testing.assert_array_equal(first[0], second[0])
            np.testing.assert_array_equal(first[1], second[1])


def test_graphs_of_other_libraries():
    cycle = nx.cycle_graph(5)
    h0, h1 = pwlr.persistence([cycle], 0, 0)[0]
    assert h0.tolist() == [[0, 0]] * 4 + [[0, np.inf]]
    assert h1.tolist() == [[0, np.inf]]
    with pytest.raises(OptionError, match="k1=-1"):
        pwlr.persistence([cycle], -1, 0)


# -- in the hands of others --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def molecules() -> GraphBatch:
    return pwlr.load_dataset("MUTAG")[:12]


def test_persim(molecules):
    persim = pytest.importorskip("persim")
    capped = pwlr.persistence(molecules, 1, 2, essential="cap")
    first, second = capped.h0[0], capped.h0[1]
    assert persim.wasserstein(first, first) == pytest.approx(0, abs=1e-9)
    assert persim.wasserstein(first, second) == pytest.approx(persim.wasserstein(second, first))
    assert persim.bottleneck(first, second) == pytest.approx(gudhi.bottleneck_distance(first, second), abs=1e-6)
    imager = persim.PersistenceImager(pixel_size=0.1)
    imager.fit(capped.h0)
    images = imager.transform(capped.h0)
    assert len(images) == 12
    assert all(np.isfinite(image).all() for image in images)


def test_gudhi_representations(molecules):
    representations = pytest.importorskip("gudhi.representations")
    found = pwlr.persistence(molecules, 1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GUDHI's own
        finite = representations.DiagramSelector(use=True, point_type="finite").fit_transform(found.h0)
        for points, h0 in zip(finite, found.h0, strict=True):
            np.testing.assert_array_equal(points, h0[np.isfinite(h0[:, 1])])
        endless = representations.DiagramSelector(use=True, point_type="essential").fit_transform(found.h1)
        for births, h1 in zip(endless, found.h1, strict=True):
            np.testing.assert_array_equal(np.ravel(births), h1[:, 0])
        dropped = pwlr.persistence(molecules, 1, 2, essential="drop").h0
        landscapes = representations.Landscape(num_landscapes=2, resolution=20).fit_transform(dropped)
        images = representations.PersistenceImage(resolution=[5, 5]).fit_transform(dropped)
    assert landscapes.shape == (12, 40)
    assert images.shape == (12, 25)
    assert np.isfinite(landscapes).all()
    assert np.isfinite(images).all()


def test_giotto(rng):
    batch = GraphBatch.concatenate([random_batch(rng, 8, 10), GraphBatch.concatenate([random_batch(rng, 4, 3)])])
    for essential in ("cap", "drop"):
        found = pwlr.persistence(batch, 1, 1, essential=essential)
        padded = found.to_giotto()
        wide = [max(len(points) for points in group) for group in (found.h0, found.h1)]
        assert padded.shape == (len(batch), sum(wide), 3)
        for graph, diagram in enumerate(padded):
            for dimension, (points, width) in enumerate(zip(found[graph], wide, strict=True)):
                own = diagram[diagram[:, 2] == dimension]
                assert len(own) == width  # giotto wants the same number of points of each dimension everywhere
                np.testing.assert_array_equal(own[: len(points), :2], points)
                assert (own[len(points) :, 0] == own[len(points) :, 1]).all()
        assert np.isfinite(padded).all()
        assert (padded[:, :, 1] >= padded[:, :, 0]).all()


def test_giotto_takes_no_infinity(molecules):
    with pytest.raises(OptionError, match="essential='cap' or 'drop'"):
        pwlr.persistence(molecules, 1, 1).to_giotto()


def test_giotto_of_nothing():
    assert pwlr.persistence([], 1, 1, essential="cap").to_giotto().shape == (0, 0, 3)
