"""Isomorphic copies: found whatever the numbering, told from near copies, and counted right."""

import itertools
import json
import sys
from collections import defaultdict

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import GraphMatcher, categorical_edge_match, categorical_node_match
from sklearn.model_selection import StratifiedGroupKFold
from tests.helpers import permuted
from typer.testing import CliRunner

import pwlr
from pwlr import GraphBatch, MissingExtraError, OptionError
from pwlr.cli import app
from pwlr.cli.datasets import datasets
from pwlr.experiments import twins as twins_module
from pwlr.experiments.twins import Twins, find_twins, representatives
from pwlr.io.tu import write_tu


@pytest.fixture(scope="module")
def mutag() -> GraphBatch:
    return pwlr.load_dataset("MUTAG")


def groups(*graphs, **options):
    """The class number of each of some NetworkX graphs."""
    return find_twins(GraphBatch.from_networkx(list(graphs), **options)).group.tolist()


def numbered(values):
    """Number values by first appearance, the plain way."""
    seen = {}
    return [seen.setdefault(value, len(seen)) for value in values]


def brute_force(batch):
    """Classes by NetworkX alone: its older matcher, every graph against one of each class with an equal key."""
    graphs = batch.to_networkx()
    node_match = categorical_node_match("label", None)
    edge_match = categorical_edge_match(["label", "weight"], [None, None])
    found = defaultdict(list)
    group = []
    for position, graph in enumerate(graphs):
        degrees = sorted((degree, str(graph.nodes[v].get("label"))) for v, degree in graph.degree)
        known = found[tuple(degrees)]
        for number, other in known:
            if not nx.could_be_isomorphic(graph, other):
                continue
            if GraphMatcher(graph, other, node_match, edge_match).is_isomorphic():
                group.append(number)
                break
        else:
            known.append((position, graph))
            group.append(position)
    return numbered(group)


# -- copies and near copies --------------------------------------------------------------------------------------------


def molecule(**changes):
    """A ring with a tail: labels on nodes and edges, and weights."""
    graph = nx.cycle_graph(6)
    nx.add_path(graph, [0, 6, 7])
    nx.set_node_attributes(graph, {v: "CCNCCCOC"[v] for v in graph}, "label")
    nx.set_edge_attributes(graph, {e: 1 + i % 2 for i, e in enumerate(graph.edges)}, "label")
    nx.set_edge_attributes(graph, {e: 0.5 + i % 3 for i, e in enumerate(graph.edges)}, "weight")
    for key, value in changes.items():
        getattr(graph, "nodes" if key == "node" else "edges")[value[0]].update(value[1])
    return graph


def test_permuted_copies_are_found(rng):
    batch = GraphBatch.from_networkx([molecule(), nx.relabel_nodes(molecule(), lambda v: 7 - v), molecule()])
    assert find_twins(batch).group.tolist() == [0, 0, 0]
    both = GraphBatch.concatenate([batch, *(permuted(batch, rng).replace(name=batch.name) for _ in range(5))])
    assert set(find_twins(both).group.tolist()) == {0}


@pytest.mark.parametrize(
    "changes",
    [
        {"node": (7, {"label": "N"})},
        {"edge": ((0, 1), {"label": 2})},
        {"edge": ((6, 7), {"weight": 0.75})},
        {"edge": ((6, 7), {"weight": np.nextafter(molecule().edges[6, 7]["weight"], 9)})},
    ],
)
def test_one_label_or_weight_makes_another_graph(changes):
    assert groups(molecule(), molecule(**changes), molecule()) == [0, 1, 0]


def test_the_same_labels_elsewhere_make_another_graph():
    """Two labels, two edge labels or two weights that change places: all counts stay what they are."""
    graph = molecule()
    for what, key in (("nodes", "label"), ("edges", "label"), ("edges", "weight")):
        other = molecule()
        parts = getattr(other, what)
        first, second = next(
            (a, b) for a, b in itertools.combinations(list(parts), 2) if parts[a][key] != parts[b][key]
        )
        parts[first][key], parts[second][key] = parts[second][key], parts[first][key]
        expected = [0, 0] if nx.is_isomorphic(graph, other, *matches()) else [0, 1]
        assert groups(graph, other) == expected == [0, 1]


def matches():
    return categorical_node_match("label", None), categorical_edge_match(["label", "weight"], [None, None])


def test_one_bond_makes_another_graph():
    less, moved = molecule(), molecule()
    less.remove_edge(6, 7)
    moved.remove_edge(6, 7)
    moved.add_edge(1, 7, **molecule().edges[6, 7])
    assert groups(molecule(), less, moved, molecule()) == [0, 1, 2, 0]


def test_a_label_of_the_whole_set_is_a_label():
    """Where all labels of a batch are one they cannot matter; where another graph has another they do."""
    ring, other = nx.cycle_graph(5), nx.cycle_graph(5)
    for graph, label in ((ring, 3), (other, 4)):
        nx.set_node_attributes(graph, label, "label")
    assert groups(ring, other, ring) == [0, 1, 0]
    assert groups(ring, ring) == [0, 0]


def test_edge_labels_that_neighbours_cannot_tell():
    """Every node of a hexagon has one edge of each label; only all of them together show where they lie."""

    def ring(*labels):
        graph = nx.cycle_graph(len(labels))
        for v, label in enumerate(labels):
            graph.edges[v, (v + 1) % len(labels)]["label"] = label
        return graph

    # the same WL colours everywhere in both: one 8-ring against two 4-rings, single and double bonds in turn
    two = nx.disjoint_union(ring(1, 2, 1, 2), ring(1, 2, 1, 2))
    assert groups(ring(*[1, 2] * 4), two, ring(*[2, 1] * 4)) == [0, 1, 0]
    # a cube: one direction double, against a cube with the double bonds twisted in one face
    straight, twisted = nx.hypercube_graph(3), nx.hypercube_graph(3)
    for u, v in straight.edges:
        straight.edges[u, v]["label"] = 2 if u[0] != v[0] else 1
        turned = v[0] == u[0] and v[1] != u[1] if u[2] == v[2] == 1 else u[0] != v[0]
        twisted.edges[u, v]["label"] = 2 if turned else 1
    straight, twisted = (nx.convert_node_labels_to_integers(graph) for graph in (straight, twisted))
    assert not nx.is_isomorphic(straight, twisted, *matches())
    assert groups(straight, twisted, nx.relabel_nodes(twisted, lambda v: (v + 3) % 8)) == [0, 1, 1]


def test_attributes_count_on_request_alone():
    def path(*values):
        graph = nx.path_graph(len(values))
        nx.set_node_attributes(graph, {v: [value, 0.0] for v, value in enumerate(values)}, "attributes")
        nx.set_edge_attributes(graph, {edge: [1.5] for edge in graph.edges}, "attributes")
        return graph

    graphs = GraphBatch.from_networkx([path(0.0, 1.0, 2.5), path(2.5, 1.0, -0.0), path(1.0, 0.0, 2.5)])
    assert find_twins(graphs).group.tolist() == [0, 0, 0]
    assert find_twins(graphs, attributes=True).group.tolist() == [0, 0, 1]
    other = graphs.replace(edge_attributes=np.array([1.5] * 5 + [1.25])[:, None])
    assert find_twins(other, attributes=True).group.tolist() == [0, 0, 1]
    assert find_twins(other).group.tolist() == [0, 0, 0]
    ends = graphs[:2].replace(edge_attributes=np.array([1.0, 2.0, 1.0, 2.0])[:, None])
    assert find_twins(ends, attributes=True).group.tolist() == [0, 1]


def test_ids_names_and_classes_do_not_count():
    graphs = GraphBatch.from_networkx([nx.path_graph(3)] * 2, y=[0, 1], ids=["a", "b"])
    assert find_twins(graphs).group.tolist() == [0, 0]


# -- graphs that Weisfeiler and Lehman cannot tell apart ---------------------------------------------------------------


def shrikhande():
    graph = nx.Graph()
    for i, j in itertools.product(range(4), repeat=2):
        graph.add_edges_from(((i, j), ((i + a) % 4, (j + b) % 4)) for a, b in ((1, 0), (0, 1), (1, 1)))
    return nx.convert_node_labels_to_integers(graph)


def rook():
    return nx.convert_node_labels_to_integers(nx.line_graph(nx.complete_bipartite_graph(4, 4)))


def rings(*sizes):
    return nx.disjoint_union_all([nx.cycle_graph(size) for size in sizes])


def decalin():
    return nx.Graph([*nx.cycle_graph(10).edges, (0, 5)])


def bicyclopentyl():
    return nx.Graph([*rings(5, 5).edges, (0, 5)])


def hub(graph):
    return nx.Graph([*graph.edges, *(("hub", v) for v in graph)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (rings(3, 3), rings(6)),
        (rings(3, 5), rings(4, 4)),
        (decalin(), bicyclopentyl()),
        (hub(rings(6)), hub(rings(3, 3))),
        (shrikhande(), rook()),
        (nx.disjoint_union(shrikhande(), rook()), nx.disjoint_union(rook(), rook())),
        (nx.random_regular_graph(3, 20, seed=1), nx.random_regular_graph(3, 20, seed=2)),
        (nx.circular_ladder_graph(5), nx.petersen_graph()),
        (nx.circular_ladder_graph(8), nx.moebius_kantor_graph()),
    ],
)
def test_regular_graphs(one, other, rng):
    assert not igraph.Graph.from_networkx(one).isomorphic(igraph.Graph.from_networkx(other))
    assert sorted(dict(one.degree).values()) == sorted(dict(other.degree).values())
    batch = GraphBatch.from_networkx([one, other])
    batch = GraphBatch.concatenate([batch, permuted(batch, rng), permuted(batch, rng)])
    assert find_twins(batch).group.tolist() == [0, 1, 0, 1, 0, 1]


def test_many_rings_are_not_tried_in_every_order():
    """A search over whole graphs would try all orders of the ten triangles before it gives up."""
    triangles = [3] * 10
    assert groups(rings(*triangles, 6, 6), rings(*triangles, 4, 8), rings(6, *triangles, 6)) == [0, 1, 0]
    assert groups(rings(*triangles, 12), rings(*triangles, 12), rings(*triangles, 5, 7)) == [0, 0, 1]


def test_rings_with_skip_links(rng):
    """A set that tests of graph networks use: ten circulant graphs of 41 nodes, each several times."""
    batch = GraphBatch.from_networkx([nx.circulant_graph(41, [1, skip]) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)])
    batch = GraphBatch.concatenate([batch.replace(ids=None), *(permuted(batch, rng) for _ in range(3))])
    assert find_twins(batch).group.tolist() == [*range(10)] * 4


def test_distances_are_looked_at_in_small_components_alone(monkeypatch, rng):
    batch = GraphBatch.from_networkx([rings(9), nx.circular_ladder_graph(5), nx.petersen_graph()]).replace(ids=None)
    batch = GraphBatch.concatenate([batch, permuted(batch, rng)])
    monkeypatch.setattr(twins_module, "DISTANCES", 9)
    assert find_twins(batch).group.tolist() == [0, 1, 2] * 2


@pytest.mark.parametrize(
    "graph",
    [
        nx.complete_graph(80),
        nx.star_graph(500),
        nx.path_graph(1500),
        nx.complete_bipartite_graph(20, 20),
        nx.grid_2d_graph(15, 15),
        nx.random_regular_graph(3, 400, seed=2),
        nx.empty_graph(300),
        nx.paley_graph(29).to_undirected(),
    ],
    ids=["complete", "star", "path", "bipartite", "grid", "cubic", "empty", "paley"],
)
def test_large_and_symmetric_graphs(graph, rng):
    """None needs deep recursion or a search that never ends."""
    graph = nx.convert_node_labels_to_integers(graph)
    batch = GraphBatch.from_networkx([graph]).replace(ids=None)
    edges = batch.n_edges
    assert find_twins(GraphBatch.concatenate([batch, permuted(batch, rng)])).n_groups == 1
    if edges:
        labelled = batch.replace(edge_labels=np.arange(edges) % 2)
        assert find_twins(GraphBatch.concatenate([labelled, permuted(labelled, rng)])).n_groups == 1


def test_graphs_without_edges_or_nodes():
    assert groups(nx.empty_graph(0), nx.empty_graph(3), nx.empty_graph(0), nx.empty_graph(2), nx.empty_graph(3)) == [
        *(0, 1, 0, 2, 1)
    ]
    assert groups(nx.empty_graph(0)) == [0]
    labelled = GraphBatch.from_edges([[], [], [], []], node_labels=[["C", "N"], ["N", "C"], ["C", "C"], []])
    assert find_twins(labelled).group.tolist() == [0, 0, 1, 2]


def test_no_graphs(mutag):
    found = find_twins(mutag[:0])
    assert found.group.tolist() == representatives(found).tolist() == []
    assert (found.n_graphs, found.n_copied, found.n_groups, found.largest, found.members) == (0, 0, 0, 0, [])
    assert (found.n_contradicting, found.ceiling) == (0, None)
    assert find_twins([]).n_graphs == 0


def test_lists_of_other_libraries():
    assert find_twins([nx.path_graph(3), nx.star_graph(2)]).group.tolist() == [0, 0]
    assert find_twins([igraph.Graph.Ring(4), igraph.Graph.Full_Bipartite(2, 2)]).group.tolist() == [0, 0]


# -- proposals ---------------------------------------------------------------------------------------------------------


def test_lists_to_codes():
    owner = np.array([0, 0, 0, 2, 2, 2, 3, 4, 4, 5, 5])
    entry = np.array([5, 1, 1, 1, 5, 1, 5, 1, 1, 1, 5])
    codes = twins_module._lists_to_codes(owner, entry, 7).tolist()
    assert codes[1] == codes[6] == 0
    assert numbered(codes) == [0, 1, 0, 2, 3, 4, 1]


@given(st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=12), st.randoms())
def test_lists_to_codes_is_equality_of_multisets(lists, random):
    entries = [(owner, entry) for owner, each in enumerate(lists) for entry in each]
    random.shuffle(entries)
    owner, entry = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    codes = twins_module._lists_to_codes(owner, entry, len(lists)).tolist()
    assert numbered(codes) == numbered(tuple(sorted(each)) for each in lists)


def test_values_close_together_stay_together():
    """There are no rounding boundaries: only gaps split, wherever they lie."""
    bucket = np.array([0, 0, 0, 0, 1, 1])
    boundary = 0.5 * twins_module.TOLERANCE
    value = np.array([boundary - 1e-15, 1.0, boundary + 1e-15, 1.0 + 1e-12, 1.0, -1e-16])
    assert numbered(twins_module._split(bucket, value).tolist()) == [0, 1, 0, 1, 2, 3]


@pytest.mark.parametrize("edge_weights", ["given", "unit"])
def test_vectors_of_copies_agree_up_to_rounding(mutag, edge_weights, rng):
    """What proposes never comes near the tolerance, with many ties and with wild weights."""
    ties = GraphBatch.from_networkx([rook(), nx.circular_ladder_graph(8), nx.grid_graph([4, 4]), rings(3, 4, 5)])
    for batch in (mutag[:40].replace(edge_labels=None), ties):
        if edge_weights == "given":
            weights = np.exp(rng.normal(size=batch.n_edges, scale=5))
            batch = batch.replace(weights=weights[batch.arc_edges])
        one, other = (list(twins_module._moments(part, part.node_graph)) for part in (batch, permuted(batch, rng)))
        assert len(one) == 12
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * twins_module.TOLERANCE)
            assert a.max() <= 2


def test_vectors_see_what_colours_do_not():
    """A hub over a hexagon and one over two triangles have the same WL colours; the cycles tell them apart."""
    batch = GraphBatch.from_networkx([hub(rings(6)), hub(rings(3, 3))])
    colour = twins_module._colours(batch, 30)
    assert sorted(colour[:7].tolist()) == sorted(colour[7:].tolist())
    assert len(set(twins_module._proposed(batch, batch.node_graph, colour).tolist())) == 2


def test_proposals_alone_do_not_decide(monkeypatch, rng):
    """With nothing proposed away the exact test finds the same classes."""
    shapes = [rings(3, 3), rings(6), decalin(), bicyclopentyl(), shrikhande(), rook(), nx.path_graph(4)]
    batch = GraphBatch.from_networkx(shapes)
    batch = GraphBatch.concatenate([batch, permuted(batch, rng)])
    expected = find_twins(batch).group.tolist()
    monkeypatch.setattr(twins_module, "_proposed", lambda _, component, *__: np.zeros(component.max() + 1, dtype=int))
    monkeypatch.setattr(twins_module, "ROUNDS", 0)
    assert find_twins(batch).group.tolist() == expected == [*range(7)] * 2


# -- invariance --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(mutag) -> GraphBatch:
    """Forty molecules, some of them several times in other numberings."""
    rng = np.random.default_rng(3)
    chosen = mutag[rng.integers(0, 40, size=80)]
    return permuted(chosen, rng).replace(y=rng.integers(0, 2, size=80))


def test_numbering_of_nodes_does_not_matter(mixed, rng):
    expected = find_twins(mixed).group
    assert len(set(expected.tolist())) < 80
    np.testing.assert_array_equal(find_twins(permuted(mixed, rng)).group, expected)


def test_order_of_graphs_does_not_matter(mixed, rng):
    expected = find_twins(mixed)
    order = rng.permutation(80)
    found = find_twins(mixed[order])
    assert found.group.tolist() == numbered(expected.group[order].tolist())
    for name in ("n_copied", "n_groups", "largest", "n_contradicting", "ceiling"):
        assert getattr(found, name) == getattr(expected, name)


def test_other_graphs_do_not_matter(mixed):
    assert find_twins(mixed[10:50]).group.tolist() == numbered(find_twins(mixed).group[10:50].tolist())


def test_names_of_labels_do_not_matter(mixed):
    words = np.array(["c", "n", "o", "f", "i", "cl", "br"])[mixed.node_labels]
    np.testing.assert_array_equal(find_twins(mixed.replace(node_labels=words)).group, find_twins(mixed).group)


@settings(max_examples=60)
@given(st.data())
def test_small_graphs_against_brute_force(data):
    """Small graphs over few labels and weights hold many copies and near copies."""
    n_labels, n_bonds, n_weights = (data.draw(st.integers(1, 2)) for _ in range(3))
    graphs = []
    for _ in range(data.draw(st.integers(2, 12))):
        n_nodes = data.draw(st.integers(0, 5))
        graph = nx.empty_graph(n_nodes)
        for v in graph:
            graph.nodes[v]["label"] = data.draw(st.integers(1, n_labels))
        for pair in itertools.combinations(range(n_nodes), 2):
            if data.draw(st.booleans()):
                weight = float(data.draw(st.integers(1, n_weights)))
                graph.add_edge(*pair, label=data.draw(st.integers(1, n_bonds)), weight=weight)
        graphs.append(graph)
    batch = GraphBatch.from_networkx(graphs)
    assert find_twins(batch).group.tolist() == brute_force(batch)


def test_all_graphs_of_up_to_six_nodes(rng):
    """NetworkX's atlas has every graph of 1 to 6 nodes once: 208 classes, and each is found in two copies."""
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g()[:209]).replace(ids=None)
    both = GraphBatch.concatenate([atlas, permuted(atlas, rng)])
    assert find_twins(both).group.tolist() == [*range(209)] * 2


# -- counting ----------------------------------------------------------------------------------------------------------


def test_counts_and_ceiling_by_hand():
    group = np.array([0, 1, 0, 2, 1, 0, 3, 4, 4, 0])
    y = np.array(["a", "a", "b", "b", "b", "b", "a", "a", "a", "c"])
    found = Twins(group, y)
    assert (found.n_graphs, found.n_copied, found.n_groups, found.largest) == (10, 8, 3, 4)
    assert [graphs.tolist() for graphs in found.members] == [[0, 2, 5, 9], [1, 4], [7, 8]]
    assert found.agreeing.tolist() == [1, 1, 2, 1, 1, 2, 1, 2, 2, 1]
    assert found.n_contradicting == 2
    # two of four, one of two, one, one, two of two
    assert found.ceiling == pytest.approx((2 + 1 + 1 + 1 + 2) / 10)
    # of group 0 the first b, of group 1, where both are as frequent, the first
    assert representatives(found).tolist() == [1, 2, 3, 6, 7]


def test_without_classes():
    found = Twins(np.array([0, 1, 0, 2, 1]))
    assert (found.n_copied, found.n_groups, found.n_contradicting, found.ceiling, found.agreeing) == (
        *(4, 2),
        *(None, None, None),
    )
    assert representatives(found).tolist() == [0, 1, 3]


def test_without_copies(mutag):
    found = Twins(np.arange(188), mutag.y)
    assert (found.n_copied, found.n_groups, found.largest, found.members) == (0, 0, 1, [])
    assert (found.n_contradicting, found.ceiling) == (0, 1.0)
    assert representatives(found).tolist() == list(range(188))


def test_measured_numbers_as_classes():
    """As many values as graphs must not cost their product in memory."""
    n = 100_000
    found = Twins(np.arange(n) // 2, np.arange(n) * 0.5)
    assert found.n_contradicting == n // 2
    assert found.ceiling == 0.5


def test_no_method_exceeds_the_ceiling(mixed):
    """Whatever is said of a group, the best of all answers is the ceiling."""
    found = find_twins(mixed)
    rights = [max(np.count_nonzero(mixed.y[found.group == g] == c) for c in (0, 1)) for g in set(found.group.tolist())]
    assert found.n_contradicting > 0
    assert found.ceiling == pytest.approx(sum(rights) / 80)
    assert found.ceiling < 1


def test_groups_keep_copies_on_one_side(mixed):
    found = find_twins(mixed)
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    for train, test in folds.split(np.zeros(80), mixed.y, found.group):
        assert not set(found.group[train]) & set(found.group[test])


def test_representatives_have_no_copies(mixed):
    found = find_twins(mixed)
    kept = representatives(found)
    left = find_twins(mixed[kept])
    assert left.n_copied == 0
    assert len(kept) == len(set(found.group.tolist()))
    assert left.ceiling == 1


# -- real sets ---------------------------------------------------------------------------------------------------------


def test_mutag(mutag):
    """Labels and bonds of no two molecules are the same; without the labels of the bonds some are."""
    assert find_twins(mutag).group.tolist() == brute_force(mutag)
    atoms = mutag.replace(edge_labels=None)
    assert find_twins(atoms).group.tolist() == brute_force(atoms)
    bare = atoms.replace(node_labels=None)
    found = find_twins(bare)
    assert found.group.tolist() == brute_force(bare)
    assert found.n_groups > find_twins(atoms).n_groups >= find_twins(mutag).n_groups


@pytest.mark.data
@pytest.mark.parametrize("name", ["PTC_FR", "PTC_MM", "BZR_MD", "BZR", "COX2"])
def test_real_sets_against_brute_force(name, data_dir):
    graphs = pwlr.load_dataset(name, data_dir=data_dir)
    assert find_twins(graphs).group.tolist() == brute_force(graphs)


@pytest.mark.data
@pytest.mark.parametrize("name", ["PROTEINS", "NCI1"])
def test_larger_sets_against_igraph(name, data_dir):
    """The matcher of another library, on all pairs of graphs with equal counts of labels."""
    graphs = pwlr.load_dataset(name, data_dir=data_dir)
    found = find_twins(graphs)
    buckets = defaultdict(list)
    for g, graph in enumerate(graphs):
        counts = np.unique(np.column_stack([graph.degrees, graph.node_labels]), axis=0, return_counts=True)
        buckets[graph.n_edges, *(part.tobytes() for part in counts)].append(g)
    n_copies = 0
    for bucket in buckets.values():
        for a, b in itertools.combinations(bucket, 2):
            assert igraph_copies(graphs[a], graphs[b]) == (found.group[a] == found.group[b])
            n_copies += int(found.group[a] == found.group[b])
    assert n_copies == sum(len(graphs) * (len(graphs) - 1) // 2 for graphs in found.members)


def igraph_copies(one, other):
    colours = {"color1": one.node_labels.tolist(), "color2": other.node_labels.tolist()}
    if one.edge_labels is not None:
        colours |= {"edge_color1": one.edge_labels.tolist(), "edge_color2": other.edge_labels.tolist()}
    first, second = (igraph.Graph(part.n_nodes, part.edges.tolist()) for part in (one, other))
    return first.isomorphic_vf2(second, **colours)


# -- the command line and the missing library --------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch):
    """Run `pwlr datasets` and return what it says."""

    def run(*words):
        result = CliRunner().invoke(app, ["datasets", *map(str, words)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0
        return result.stdout

    return run


@pytest.fixture
def folder(tmp_path):
    """Two copies that contradict each other, two that do not, and one alone."""
    shapes = [nx.path_graph(4), nx.cycle_graph(4), nx.relabel_nodes(nx.path_graph(4), {0: 1, 1: 0}), nx.star_graph(3)]
    graphs = GraphBatch.from_networkx([*shapes, nx.cycle_graph(4)], y=[0, 1, 1, 0, 1])
    return write_tu(graphs, tmp_path / "TOY", name="TOY")


def test_command_in_words(run, folder):
    assert run("--twins", folder).splitlines() == [
        "TOY: 5 graphs; copies are graphs with the same edges.",
        "4 graphs have a copy, in 2 groups; the largest has 2 graphs.",
        (
            "1 group holds copies of different classes: "
            "looking at nothing but these, no method can exceed 80.00 % accuracy."
        ),
    ]


def test_command_in_json(run, folder):
    assert json.loads(run(folder, "--twins", "--json")) == {
        "name": "TOY",
        "graphs": 5,
        "copied": 4,
        "groups": 2,
        "largest": 2,
        "contradicting": 1,
        "ceiling": 0.8,
        "members": [[0, 2], [1, 4]],
    }


def test_command_without_copies(run):
    assert run("--twins", "MUTAG").splitlines() == [
        "MUTAG: 188 graphs; copies are graphs with the same edges, node labels, edge labels.",
        "No graph has a copy.",
    ]


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([1, 1, 2], "All copies agree in their class: they keep no method from 100 % accuracy."),
        (None, "The graphs have no classes, so no copies contradict each other."),
    ],
)
def test_command_without_contradictions(y, said, run, tmp_path):
    shapes = [nx.path_graph(3), nx.star_graph(2), nx.cycle_graph(3)]
    for shape in shapes:
        nx.set_node_attributes(shape, {v: [0.5 * v] for v in shape}, "attributes")
        nx.set_node_attributes(shape, 1, "label")
    found = run("--twins", write_tu(GraphBatch.from_networkx(shapes, y=y), tmp_path / "TOY", name="TOY"))
    assert found.splitlines() == [
        "TOY: 3 graphs; copies are graphs with the same edges, node labels.",
        "Attributes are left aside: coordinates and measurements differ between copies.",
        "2 graphs have a copy, in 1 group; the largest has 2 graphs.",
        said,
    ]


def test_command_needs_a_data_set():
    with pytest.raises(OptionError, match="--twins needs a data set to look into: pwlr datasets --twins MUTAG"):
        datasets(None, twins=True, data_dir=None, json_output=False)


def test_without_networkx(monkeypatch, mutag):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        MissingExtraError, match=r'finding isomorphic copies needs networkx.*pip install "pwlr\[networkx\]"'
    ):
        find_twins(mutag)
