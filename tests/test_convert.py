"""Other libraries' graphs in and out."""

import pickle

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pwlr.errors import GraphFormatError, MissingExtraError
from pwlr.graphs import GraphBatch
from pwlr.io import convert
from pwlr.io.convert import as_batch

TRIANGLE = [(0, 1), (1, 2), (0, 2)]


@pytest.fixture
def batch():
    """Weights, all labels and attributes, an isolated node, an edgeless graph and one without nodes."""
    return GraphBatch.from_edges(
        [TRIANGLE, [], [(2, 1), (0, 1)], []],
        n_nodes=[4, 2, 3, 0],
        weights=[[1.0, 2.0, 0.1], [], [0.5, 0.25], []],
        node_labels=[["C", "C", "O", "N"], ["C", "C"], ["F", "C", "F"], []],
        node_attributes=[np.arange(8).reshape(4, 2) / 3, [[0, 0], [1, 1]], np.ones((3, 2)), []],
        edge_labels=[[1, 2, 1], [], [3, 1], []],
        edge_attributes=[[0.1, 2, 3], [], [4, 5], []],
        y=[0, 1, 1, 0],
        ids=["a", "b", "c", "d"],
        name="mixed",
    )


# -- edge lists --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2)],
        [[0, 1], [2, 1]],
        np.array([[1, 0], [1, 2]]),
        np.array([[0, 1], [1, 2]], dtype=np.uint8),
        {(0, 1), (1, 2)},
        iter([(0, 1), (1, 2)]),
        [(0.0, 1.0), (1.0, 2.0)],
    ],
)
def test_edge_lists_in_any_collection(edges):
    assert GraphBatch.from_edges([edges]).edges.tolist() == [[0, 1], [1, 2]]


def test_number_of_nodes():
    labels = [["C", "C", "C"], ["C"]]
    assert np.diff(GraphBatch.from_edges([[(0, 4)], []]).node_ptr).tolist() == [5, 0]
    assert np.diff(GraphBatch.from_edges([[(0, 1)], []], node_labels=labels).node_ptr).tolist() == [3, 1]
    assert np.diff(GraphBatch.from_edges([[], []], node_attributes=[np.ones((2, 1)), [[1]]]).node_ptr).tolist() == [
        2,
        1,
    ]
    assert np.diff(GraphBatch.from_edges([[], []], n_nodes=np.array([7, 8])).node_ptr).tolist() == [7, 8]


@pytest.mark.parametrize(
    ("edges", "options", "match"),
    [
        ([[(0, 1)], [(3, 9)]], {"n_nodes": [2, 8]}, r"graph 1: edge \(3, 9\) names node 9 but the graph has 8 nodes"),
        ([[(0, 2)], [(0, 1)]], {"n_nodes": [2, 2]}, r"graph 0: edge \(0, 2\) names node 2 but the graph has 2 nodes"),
        ([[(0, 1)], [(-1, 0)]], {}, r"graph 1: edge \(-1, 0\) names node -1 but the graph has 1 nodes"),
        (
            [[(0, 1)], [(0, 1, 2)]],
            {},
            r"graph 1: edges must be pairs \(u, v\), got an array of shape \(1, 3\); weights go",
        ),
        ([[(0, 1)], [0, 1]], {}, r"graph 1: edges must be pairs \(u, v\), got an array of shape \(2,\)"),
        ([[(0, 1), (2,)]], {}, r"graph 0: edges must be pairs \(u, v\) of node numbers"),
        ([7], {}, r"graph 0: edges must be pairs"),
        ([[("a", "b")]], {}, "graph 0: node numbers must be whole numbers from 0, got .*a"),
        ([[(0, 1.5)]], {}, "graph 0: node numbers must be whole numbers from 0"),
        ([[(0, 1)]], {"n_nodes": [-1]}, "graph 0: n_nodes is -1: give a number from 0"),
        ([[(0, 1)]], {"n_nodes": [2.5]}, "graph 0: n_nodes is 2.5"),
        ([[(0, 1)]], {"n_nodes": [2, 2]}, "n_nodes has entries for 2 graphs but there are 1 edge lists"),
        ([[(0, 1)], []], {"weights": [[1]]}, "weights has entries for 1 graphs but there are 2"),
        (
            [[(0, 1)], [(0, 1)]],
            {"weights": [[1], [1, 2]]},
            "graph 1: 2 edge weights for 1 edges: give one for each edge",
        ),
        ([[(0, 1)]], {"weights": [["heavy"]]}, "graph 0: weights must be one number for each edge"),
        ([[(0, 1)]], {"weights": [[[1]]]}, "graph 0: weights must be one number for each edge"),
        ([[(0, 1)], [(0, 1)]], {"edge_labels": [[1], []]}, "graph 1: 0 edge labels for 1 edges"),
        ([[(0, 1)], [(0, 1)]], {"edge_labels": [[1], None]}, "graph 1 has no edge labels but graph 0 has: give"),
        ([[(0, 1)], [(0, 1)]], {"node_labels": [None, [1, 1]]}, "graph 0 has no node labels but graph 1 has"),
        (
            [[(0, 1)], [(0, 1)]],
            {"node_labels": [[1, 1], [1, 1, 1]], "n_nodes": [2, 2]},
            "graph 1: 3 node labels for 2 nodes",
        ),
        (
            [[(0, 1)], [(0, 1)]],
            {"node_labels": [[1, 1], [1, None]]},
            "graph 1: node 1 has no label although others have",
        ),
        (
            [[(0, 1)], [(0, 1)]],
            {"node_labels": [[1, 1], ["C", "C"]]},
            "graph 1 has strings as node labels, graphs before it num",
        ),
        ([[(0, 1)]], {"node_labels": [[0.5, 1]]}, "graph 0: node label 0.5 of node 0 is not a whole number"),
        (
            [[(0, 1)], [(0, 1)]],
            {"node_attributes": [[1, 1], [[1, 2], [3]]]},
            "graph 1: node 1 has 1 attributes but node 0",
        ),
        (
            [[(0, 1)], [(0, 1)]],
            {"node_attributes": [[1, 1], [[1, 2]] * 2]},
            "graph 1 has 2 columns as node attributes, .* 1",
        ),
        ([[(0, 1)], [(0, 1)]], {"edge_attributes": [[1], [np.nan]]}, "graph 1: attribute 0 of edge 0 is nan"),
        ([[(0, 1)]], {"y": [1, 2]}, "y has 2 entries for 1 graphs"),
        ([[(0, 1)]], {"ids": ["a", "b"]}, "ids has 2 entries for 1 graphs"),
    ],
)
def test_edge_lists_that_are_refused(edges, options, match):
    with pytest.raises(GraphFormatError, match=match):
        GraphBatch.from_edges(edges, **options)


def test_graphs_without_nodes_or_edges_need_no_labels():
    batch = GraphBatch.from_edges(
        [[], [(0, 1)], []],
        n_nodes=[0, 2, 1],
        node_labels=[None, ["C", "C"], ["C"]],
        edge_labels=[None, [1], None],
        node_attributes=[None, [[1, 2]] * 2, [[3, 4]]],
    )
    assert batch.node_labels.tolist() == ["C"] * 3
    assert batch.edge_labels.tolist() == [1]
    assert batch.node_attributes.shape == (3, 2)


def test_labels_of_nothing_are_kept_as_nothing():
    batch = GraphBatch.from_edges([[]], n_nodes=[0], node_labels=[[]], edge_labels=[[]])
    assert len(batch.node_labels) == len(batch.edge_labels) == 0


# -- round trips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_round_trip_keeps_everything(batch, library):
    graphs = getattr(batch, f"to_{library}")()
    assert getattr(GraphBatch, f"from_{library}")(graphs, name="mixed") == batch
    assert as_batch(graphs).replace(name="mixed") == batch


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_round_trip_of_bare_graphs(library):
    bare = GraphBatch.from_edges([TRIANGLE, []], n_nodes=[3, 0])
    assert as_batch(getattr(bare, f"to_{library}")()) == bare


def test_round_trip_through_grakel(batch):
    again = GraphBatch.from_grakel(batch.to_grakel(), y=batch.y, ids=batch.ids, name="mixed")
    assert again == batch.replace(node_attributes=None, edge_attributes=None)
    unlabelled = batch.replace(node_labels=None, edge_labels=None, edge_attributes=None)
    assert GraphBatch.from_grakel(unlabelled.to_grakel(), y=batch.y, ids=batch.ids, name="mixed") == unlabelled


def test_round_trip_through_matrices(batch):
    again = GraphBatch.from_scipy(batch.to_scipy(), y=batch.y, ids=batch.ids, name="mixed")
    lost = dict.fromkeys(["node_labels", "node_attributes", "edge_labels", "edge_attributes"])
    assert again == batch.replace(**lost)


@given(
    st.lists(
        st.dictionaries(
            st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] < e[1]),
            st.floats(1e-300, 1e300),
        ),
        max_size=4,
    )
)
def test_any_weights_survive_every_library(graphs):
    batch = GraphBatch.from_edges(
        [list(graph) for graph in graphs], n_nodes=[6] * len(graphs), weights=[list(graph.values()) for graph in graphs]
    )
    for library in ("networkx", "igraph", "scipy", "grakel"):
        assert as_batch(getattr(batch, f"to_{library}")()) == batch


def test_what_the_other_libraries_get(batch):
    graph = batch.to_networkx()[0]
    assert graph.nodes[2] == {"label": "O", "attributes": [4 / 3, 5 / 3]}
    assert graph.edges[0, 2] == {"weight": 0.1, "label": 1, "attributes": [3.0]}
    assert graph.graph == {"y": 0, "name": "a"}
    assert type(graph.graph["y"]) is int
    vertex = batch.to_igraph()[0]
    assert vertex.vs["label"] == ["C", "C", "O", "N"]
    assert vertex.es["weight"] == [1.0, 0.1, 2.0]
    assert batch.to_grakel()[2] == [
        {0: {1: 0.25}, 1: {0: 0.25, 2: 0.5}, 2: {1: 0.5}},
        {0: "F", 1: "C", 2: "F"},
        {(0, 1): 1, (1, 0): 1, (1, 2): 3, (2, 1): 3},
    ]
    assert batch.to_scipy()[0].toarray()[2].tolist() == [0.1, 2.0, 0.0, 0.0]


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_a_missing_library_is_named_with_its_extra(batch, library, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(MissingExtraError, match=rf'needs {library}, .* pip install "pwlr\[{library}\]"'):
        getattr(batch, f"to_{library}")()


# -- NetworkX ----------------------------------------------------------------------------------------------------------


def labelled(**values):
    graph = nx.path_graph(["u", "v", "w"])
    for key, value in values.items():
        nx.set_node_attributes(graph, value, key)
    return graph


def test_networkx_nodes_of_any_name_keep_their_order():
    graph = nx.Graph()
    graph.add_node("z", label="N")
    graph.add_node(("a", 1), label="C")
    graph.add_node(3, label="O")
    graph.add_edge(3, "z")
    batch = GraphBatch.from_networkx([graph])
    assert batch.node_labels.tolist() == ["N", "C", "O"]
    assert batch.edges.tolist() == [[0, 2]]


def test_networkx_names_of_attributes():
    graph = labelled(atom="C", x=0.5)
    nx.set_edge_attributes(graph, {("u", "v"): 2.0, ("v", "w"): 3.0}, "order")
    batch = GraphBatch.from_networkx([graph], node_label="atom", node_attributes="x", edge_weight="order")
    assert batch.node_labels.tolist() == ["C"] * 3
    assert batch.node_attributes.tolist() == [[0.5]] * 3
    assert batch.edge_weights.tolist() == [2.0, 3.0]
    assert GraphBatch.from_networkx([graph], edge_label="order").edge_labels.tolist() == [2, 3]


@pytest.mark.parametrize("option", ["node_label", "node_attributes", "edge_weight", "edge_label", "edge_attributes"])
@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_attributes_can_be_left_out_and_must_be_there_if_named(batch, library, option):
    graphs = getattr(batch, f"to_{library}")()
    field = {"edge_weight": "edge_weights"}.get(option, option if option.endswith("s") else f"{option}s")
    without = getattr(GraphBatch, f"from_{library}")(graphs, **{option: None})
    if field == "edge_weights":
        assert (without.weights == 1).all()
    else:
        assert getattr(without, field) is None
    what = option.partition("_")[0]
    with pytest.raises(
        GraphFormatError, match=f"no {what} has an attribute 'colour': they have .*label.*; pass {option}="
    ):
        getattr(GraphBatch, f"from_{library}")(graphs, **{option: "colour"})


def test_a_name_asked_for_where_nothing_has_attributes():
    with pytest.raises(GraphFormatError, match="no node has an attribute 'atom': they have none; pass node_label=None"):
        GraphBatch.from_networkx([nx.path_graph(3)], node_label="atom")
    assert GraphBatch.from_networkx([nx.Graph()], node_label="atom").n_nodes == 0


@pytest.mark.parametrize("library", ["networkx", "igraph"])
@pytest.mark.parametrize(
    ("of", "attribute", "option"),
    [("node", "label", "node_label"), ("edge", "weight", "edge_weight"), ("edge", "attributes", "edge_attributes")],
)
def test_what_only_some_have(batch, library, of, attribute, option):
    graphs = getattr(batch, f"to_{library}")()
    if library == "networkx":
        items = graphs[2].nodes if of == "node" else graphs[2].edges
        del items[1 if of == "node" else (1, 2)][attribute]
    else:
        (graphs[2].vs if of == "node" else graphs[2].es)[1][attribute] = None
    where = "node 1" if of == "node" else r"edge \(1, 2\)"
    match = f"graph 2: {where} has no '{attribute}' although others have: give it to all {of}s, or pass {option}=None"
    with pytest.raises(GraphFormatError, match=match):
        as_batch(graphs)


def test_one_graph_with_labels_and_one_without():
    with pytest.raises(GraphFormatError, match="graph 1: node 'u' has no 'label' although others have"):
        as_batch([labelled(label="C"), labelled()])


def test_directed_networkx_graphs():
    both, one = nx.path_graph(3).to_directed(), nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    plain = nx.path_graph(2)
    assert GraphBatch.from_networkx([plain, both]) == GraphBatch.from_networkx([plain, nx.path_graph(3)])
    match = r"graph 1 is directed and edge \('b', 'c'\) goes one way only: pass graph.to_undirected\(\), or repair="
    with pytest.raises(GraphFormatError, match=match):
        GraphBatch.from_networkx([plain, one])
    mended = GraphBatch.from_networkx([plain, one], repair=["mirror-one-way"])
    assert mended == GraphBatch.from_networkx([plain, one.to_undirected()])


def test_directed_weights_must_agree():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 0, 2.0)])
    with pytest.raises(GraphFormatError, match=r"graph 0: edge \(0, 1\) has weight 1.0 one way and 2.0 the other"):
        as_batch([graph])


def test_undirected_graphs_beside_directed_ones_keep_what_they_carry(batch):
    graphs = [graph.to_directed() if i % 2 else graph for i, graph in enumerate(batch.to_networkx())]
    assert as_batch(graphs).replace(name="mixed") == batch


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_multigraphs(kind):
    graph = kind([(0, 1), (1, 2)])
    if graph.is_directed():
        graph.add_edges_from([(1, 0), (2, 1)])
    assert as_batch([graph]).edges.tolist() == [[0, 1], [1, 2]]
    graph.add_edge(0, 1)
    with pytest.raises(GraphFormatError, match=r"graph 0: edge \(0, 1\) is there more than once"):
        as_batch([graph])
    assert GraphBatch.from_networkx([graph], repair=["merge-duplicates"]).n_edges == 2


def test_networkx_views_and_subclasses():
    class Molecule(nx.Graph):
        pass

    assert as_batch([nx.path_graph(5).subgraph([1, 2])]).n_edges == 1
    assert as_batch([Molecule([(0, 1)])]).n_edges == 1


def test_targets_and_names_that_graphs_carry():
    graphs = [nx.path_graph(2), nx.path_graph(3)]
    for graph, y in zip(graphs, "ab", strict=True):
        graph.graph["y"] = y
    assert as_batch(graphs).y.tolist() == ["a", "b"]
    assert GraphBatch.from_networkx(graphs, y=[1, 2]).y.tolist() == [1, 2]
    graphs[0].graph["name"] = "first"
    assert as_batch(graphs).ids is None
    graphs[1].graph["name"] = "second"
    assert as_batch(graphs).ids.tolist() == ["first", "second"]
    del graphs[1].graph["y"]
    with pytest.raises(
        GraphFormatError, match="graph 1 has no 'y' although others have: give it to all graphs, or pass y="
    ):
        as_batch(graphs)


def test_networkx_self_loops_and_zero_weights():
    graph = nx.path_graph(3)
    graph.add_edge(1, 1)
    with pytest.raises(GraphFormatError, match=r"graph 0: edge \(1, 1\) is a self loop"):
        as_batch([graph])
    assert GraphBatch.from_networkx([graph], repair=["drop-self-loops"]).n_edges == 2
    weighted = nx.Graph()
    weighted.add_weighted_edges_from([(0, 1, 0), (1, 2, 1)])
    with pytest.raises(GraphFormatError, match=r"edge \(0, 1\) has weight 0"):
        as_batch([weighted])


# -- igraph ------------------------------------------------------------------------------------------------------------


def test_igraph_directed():
    both, one = igraph.Graph([(0, 1), (1, 0)], directed=True), igraph.Graph([(0, 1)], directed=True)
    assert as_batch([both]).edges.tolist() == [[0, 1]]
    with pytest.raises(
        GraphFormatError, match=r"graph 0 is directed and edge \(0, 1\) goes .* pass graph.as_undirected\(\)"
    ):
        as_batch([one])
    assert (
        as_batch([one.as_undirected()]) == GraphBatch.from_igraph([one], repair=["mirror-one-way"]) == as_batch([both])
    )


def test_igraph_names_of_attributes():
    graph = igraph.Graph(3, [(0, 1)])
    graph.vs["element"] = [6, 7, 8]
    assert GraphBatch.from_igraph([graph], node_label="element").node_labels.tolist() == [6, 7, 8]
    assert as_batch([graph]).node_labels is None


# -- matrices ----------------------------------------------------------------------------------------------------------

PATH = np.array([[0.0, 2, 0], [2, 0, 3], [0, 3, 0]])


@pytest.mark.parametrize(
    "matrix",
    [
        PATH,
        PATH.astype(int),
        np.matrix(PATH),
        *(getattr(sp, name)(PATH) for name in ("csr_array", "csc_array", "coo_array", "lil_array", "dok_array")),
        *(getattr(sp, name)(PATH) for name in ("csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix")),
    ],
)
def test_matrices_of_any_form(matrix):
    batch = as_batch([matrix, matrix])
    assert batch[1].edges.tolist() == [[0, 1], [1, 2]]
    assert batch[1].edge_weights.tolist() == [2, 3]


def test_matrices_of_bits():
    assert as_batch([PATH > 0]).edge_weights.tolist() == [1, 1]


def test_a_stack_of_matrices():
    assert len(as_batch(np.stack([PATH, PATH.T]))) == 2


def test_stored_zeros_are_no_edges_and_stored_twice_is_a_sum():
    stored = sp.coo_array(([1.0, 1, 0, 0, 1, 1], ([0, 1, 0, 2, 0, 1], [1, 0, 2, 0, 1, 0])), shape=(3, 3))
    batch = as_batch([stored])
    assert batch.edges.tolist() == [[0, 1]]
    assert batch.edge_weights.tolist() == [2]
    assert stored.nnz == 6  # the caller's matrix stays as it was


def test_matrices_with_labels():
    batch = GraphBatch.from_scipy(
        [PATH, np.zeros((0, 0))],
        node_labels=[["C", "N", "O"], []],
        node_attributes=[[1, 2, 3], []],
        y=[1, 0],
        ids=[7, 8],
    )
    assert batch.node_labels.tolist() == ["C", "N", "O"]
    assert batch.node_attributes[:, 0].tolist() == [1, 2, 3]
    assert batch.ids.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("matrix", "match"),
    [
        (np.triu(PATH), r"graph 1: edge \(0, 1\) goes one way only"),
        (
            PATH + np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
            r"graph 1: edge \(0, 1\) has weight 3.0 one way and 2.0 the",
        ),
        (PATH + np.eye(3), r"graph 1: edge \(0, 0\) is a self loop"),
        (-PATH, "has weight -2.0: weights must be finite and positive"),
        (PATH * np.nan, "self loop|has weight nan"),
        (PATH[:2], r"graph 1: an adjacency matrix is square; this one has shape \(2, 3\)"),
        (PATH * 1j, "graph 1: an adjacency matrix holds numbers, not complex128"),
        (sp.csr_array(PATH[:2]), r"graph 1: an adjacency matrix is square"),
    ],
)
def test_matrices_that_are_refused(matrix, match):
    with pytest.raises(GraphFormatError, match=match):
        as_batch([PATH, matrix])


def test_labels_for_another_number_of_matrices():
    with pytest.raises(GraphFormatError, match="node_labels has entries for 2 graphs but there are 1 matrices"):
        GraphBatch.from_scipy([PATH], node_labels=[[1, 2, 3], []])


# -- GraKeL ------------------------------------------------------------------------------------------------------------

LABELS = {0: "C", 1: "N", 2: "O"}
BONDS = {(0, 1): 7, (1, 2): 8}


@pytest.mark.parametrize(
    "edges",
    [
        {0: {1: 2.0}, 1: {0: 2.0, 2: 3.0}, 2: {1: 3.0}},
        {(0, 1): 2.0, (1, 0): 2.0, (1, 2): 3.0, (2, 1): 3.0},
        {(0, 1): 2, (2, 1): 3},
        [(0, 1, 2.0), (1, 2, 3.0)],
        {(0, 1, 2.0), (1, 0, 2.0), (1, 2, 3.0), (2, 1, 3.0)},
        PATH,
        sp.csr_array(PATH),
        PATH.tolist(),
    ],
)
def test_grakel_edges_with_weights(edges):
    batch = as_batch([[edges, LABELS, BONDS]])
    assert batch.edges.tolist() == [[0, 1], [1, 2]]
    assert batch.edge_weights.tolist() == [2, 3]
    assert batch.node_labels.tolist() == ["C", "N", "O"]
    assert batch.edge_labels.tolist() == [7, 8]


@pytest.mark.parametrize(
    "edges",
    [
        {0: [1], 1: [0, 2], 2: [1]},
        {0: [1], 1: [2]},
        {(0, 1), (1, 2)},
        frozenset({(0, 1), (1, 0), (1, 2), (2, 1)}),
        [(0, 1), (1, 2)],
        ((0, 1), (1, 2)),
    ],
)
def test_grakel_edges_without_weights(edges):
    batch = as_batch([(edges, LABELS)])
    assert batch.edges.tolist() == [[0, 1], [1, 2]]
    assert (batch.weights == 1).all()
    assert as_batch([[edges]]).n_edges == 2
    assert as_batch([[edges, LABELS, None], [edges, LABELS, {}]])[1].n_edges == 2


def test_grakel_nodes_of_any_name():
    numbered = as_batch([[{(12, 11), (11, 12), (12, 10), (10, 12)}, {12: 2, 10: 0, 11: 1, 9: 9}]])
    assert numbered.node_labels.tolist() == [9, 0, 1, 2]  # ascending, the isolated one as well
    assert numbered.edges.tolist() == [[1, 3], [2, 3]]
    named = as_batch([[[("v", "u"), ("u", ("w", 1))], {"w": "O", "u": "N", "v": "C", ("w", 1): "F"}]])
    assert named.node_labels.tolist() == ["O", "N", "C", "F"]


def test_grakel_labels_that_are_sequences_are_attributes():
    batch = as_batch([[{(0, 1)}, {0: [0.5, 1], 1: (2, 3)}], [{(0, 1)}, {0: np.ones(2), 1: np.zeros(2)}]])
    assert batch.node_labels is None
    assert batch.node_attributes.tolist() == [[0.5, 1], [2, 3], [1, 1], [0, 0]]


def test_grakel_graph_objects():
    grakel = pytest.importorskip("grakel")
    for edges in ({0: [1], 1: [0, 2], 2: [1]}, PATH):
        for form in ("dictionary", "adjacency"):
            graph = grakel.Graph(edges, LABELS, {**BONDS, (1, 0): 7, (2, 1): 8}, form)
            batch = as_batch([graph])
            assert batch.edges.tolist() == [[0, 1], [1, 2]]


def test_grakel_understands_what_it_gets(batch):
    grakel = pytest.importorskip("grakel")
    molecules = GraphBatch.from_grakel(batch.to_grakel())[[0, 2]]
    kernel = grakel.WeisfeilerLehman(n_iter=2, normalize=True).fit_transform(molecules.to_grakel())
    assert kernel.shape == (2, 2)


@pytest.mark.parametrize(
    ("graph", "match"),
    [
        ([{(0, 1), (1, 0), (1, 2)}, LABELS], r"graph 1: edge \(1, 2\) goes one way only"),
        ([[(0, 1), (0, 1)], LABELS], r"graph 1: edge \(0, 1\) is there more than once"),
        ([[(0, 1), (1, 1)], LABELS], r"graph 1: edge \(1, 1\) is a self loop"),
        ([{(0, 1)}, {0: "C"}], "graph 1: node 1 has no label although others have: label all or none"),
        ([{(0, 1), (1, 2)}, LABELS, {(0, 1): 1}], r"graph 1: edge \(1, 2\) has no label although others have"),
        ([{(0, 1)}], "graph 1 has no node labels but graph 0 has"),
        ([PATH, {**LABELS, 3: "C"}], "graph 1: node 3 has a label but no row in the matrix"),
        ([PATH[:2], LABELS], "graph 1: an adjacency matrix is square"),
        ([np.triu(PATH), LABELS], r"graph 1: edge \(0, 1\) goes one way only"),
        ([{0: 1}, LABELS], "graph 1: its edges are in none of the forms that GraKeL knows"),
        ([[(0, 1), (1, 2, 3)], LABELS], r"graph 1: edges must all be \(u, v\) or all be \(u, v, weight\)"),
        ([{(0, 1): 0}, LABELS], r"graph 1: edge \(0, 1\) has weight 0"),
    ],
)
def test_grakel_graphs_that_are_refused(graph, match):
    with pytest.raises(GraphFormatError, match=match):
        as_batch([[{(0, 1)}, {0: "C", 1: "C"}], graph])


def test_grakel_labels_of_the_two_directions_must_agree():
    with pytest.raises(GraphFormatError, match="has label 1 one way and 2 the other"):
        as_batch([[{(0, 1), (1, 0)}, {}, {(0, 1): 1, (1, 0): 2}]])


# -- whatever a user has -----------------------------------------------------------------------------------------------


def test_a_batch_is_returned_as_it_is(batch):
    assert as_batch(batch) is batch
    assert as_batch([batch, batch]) == GraphBatch.concatenate([batch, batch])
    assert as_batch(iter(batch)) == batch


@pytest.mark.parametrize("collection", [list, tuple, iter])
def test_collections(collection):
    assert as_batch(collection([nx.path_graph(3), nx.path_graph(2)])).n_nodes == 5


def test_nothing():
    assert len(as_batch([])) == len(as_batch(())) == len(as_batch(np.array([], dtype=object))) == 0


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def test_object_arrays():
    graphs = [nx.path_graph(3), nx.path_graph(2)]
    assert as_batch(objects(graphs)) == as_batch(graphs)
    lists = [[{(0, 1)}, {0: 1, 1: 1}], [{(0, 1), (1, 2)}, {0: 1, 1: 1, 2: 1}]]
    assert as_batch(np.array(lists, dtype=object)) == as_batch(lists)  # NumPy makes a table of it
    one = np.array([[{(0, 1)}, {0: 1, 1: 1}]], dtype=object)
    assert len(as_batch(one)) == 1
    assert as_batch(objects([PATH, PATH])).n_edges == 4


@pytest.mark.parametrize(
    ("graph", "word"),
    [
        (nx.path_graph(3), "NetworkX graph"),
        (igraph.Graph(3), "igraph graph"),
        (PATH, "adjacency matrix"),
        (sp.csr_array(PATH), "adjacency matrix"),
        ([{(0, 1)}, {0: 1, 1: 1}], "GraKeL graph"),
        ([{0: {1: 1.0}}], "GraKeL graph"),
        ([[(0, 1)], {0: 1, 1: 1}], "GraKeL graph"),
    ],
)
def test_a_single_graph_is_told_to_come_in_a_list(graph, word):
    with pytest.raises(GraphFormatError, match=rf"this is a single {word}: wrap it in a list, \[graph\]"):
        as_batch(graph)
    assert len(as_batch([graph])) == 1


@pytest.mark.parametrize(
    ("graphs", "match"),
    [
        ("MUTAG", "graphs are a str: give a GraphBatch or a list of .* data sets through pwlr.load_dataset"),
        (3, "graphs are an int: give"),
        (None, "graphs are a NoneType"),
        ({"a": 1}, "graphs are a dict"),
        ([1, 2], "graph 0 is an int: give"),
        (["CCO"], "graph 0 is a str"),
        (np.ones(3), "graph 0 is a float64"),
        ([[(0, 1), (1, 2)]], "graph 0 is a list: .*edge lists go through GraphBatch.from_edges"),
        ([[(0, 1)], [(0, 1)]], "graph 0 is a list: .*edge lists go through GraphBatch.from_edges"),
        (
            [nx.path_graph(2), PATH],
            "graph 1 is an adjacency matrix but graph 0 is a NetworkX graph: give graphs of one kind",
        ),
        ([nx.path_graph(2), None], "graph 1 is a NoneType"),
        ([nx], "graph 0 is a module"),
    ],
)
def test_what_is_no_collection_of_graphs(graphs, match):
    with pytest.raises(GraphFormatError, match=match):
        as_batch(graphs)


@pytest.mark.parametrize("library", ["networkx", "igraph", "grakel"])
def test_doors_take_their_own_kind_only(library):
    with pytest.raises(GraphFormatError, match=r"graph 0 is an ndarray, not an? "):
        getattr(GraphBatch, f"from_{library}")([PATH])


def test_recognising_a_graph_imports_nothing():
    assert not {"networkx", "igraph", "grakel"} & set(vars(convert))


def test_batches_from_converted_graphs_travel(batch):
    assert pickle.loads(pickle.dumps(as_batch(batch.to_networkx()))).n_graphs == 4
