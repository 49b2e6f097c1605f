"""What a `GraphBatch` promises, and what is refused or mended at its door."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pwlr.errors import GraphFormatError, OptionError
from pwlr.graphs import GraphBatch, pack, shard_bounds
from pwlr.packing import REPAIRS, as_attributes, as_labels

TRIANGLE = [(0, 1), (1, 2), (0, 2)]


@pytest.fixture
def batch():
    """A triangle, an edgeless graph of two nodes, a graph without nodes, and a path with everything on it."""
    return GraphBatch.from_edges(
        [TRIANGLE, [], [], [(2, 1), (0, 1)]],
        n_nodes=[3, 2, 0, 4],
        weights=[[1.0, 2.0, 3.0], [], [], [0.5, 0.25]],
        node_labels=[[6, 6, 8], [1, 1], [], [7, 6, 6, 9]],
        node_attributes=[np.arange(6).reshape(3, 2), [[0, 0], [1, 1]], [], np.ones((4, 2))],
        edge_labels=[["a", "b", "a"], [], [], ["c", "a"]],
        edge_attributes=[[1, 2, 3], [], [], [4, 5]],
        y=["toxic", "safe", "safe", "toxic"],
        ids=[10, 11, 12, 13],
        name="mixed",
    )


# -- what is in it -----------------------------------------------------------------------------------------------------


def test_packed_arrays(batch):
    assert batch.node_ptr.tolist() == [0, 3, 5, 5, 9]
    assert batch.edge_ptr.tolist() == [0, 3, 3, 3, 5]
    assert batch.edges.tolist() == [[0, 1], [0, 2], [1, 2], [5, 6], [6, 7]]
    assert batch.edge_weights.tolist() == [1.0, 3.0, 2.0, 0.25, 0.5]
    assert batch.edge_labels.tolist() == ["a", "a", "b", "a", "c"]
    assert batch.edge_attributes.tolist() == [[1], [3], [2], [5], [4]]
    assert batch.degrees.tolist() == [2, 2, 2, 0, 0, 1, 2, 1, 0]
    assert batch.indices[batch.indptr[6] : batch.indptr[7]].tolist() == [5, 7]
    assert batch.node_graph.tolist() == [0, 0, 0, 1, 1, 3, 3, 3, 3]
    assert batch.edge_graph.tolist() == [0, 0, 0, 3, 3]
    assert (len(batch), batch.n_nodes, batch.n_edges, batch.shape) == (4, 9, 5, (4,))


@pytest.mark.parametrize(
    ("field", "dtype"),
    [
        ("node_ptr", "int64"),
        ("indptr", "int64"),
        ("edge_ptr", "int64"),
        ("indices", "int32"),
        ("edges", "int32"),
        ("weights", "float64"),
        ("node_labels", "int64"),
        ("node_attributes", "float64"),
    ],
)
def test_types(batch, field, dtype):
    assert getattr(batch, field).dtype == dtype


def test_adjacency_is_symmetric_and_carries_the_weights(batch):
    dense = batch.adjacency().toarray()
    assert (dense == dense.T).all()
    assert dense[1, 2] == 2.0
    assert batch.adjacency(np.arange(1, 6)).toarray()[6, 7] == 5


def test_weights_are_one_where_nothing_was_said():
    assert (GraphBatch.from_edges([TRIANGLE]).weights == 1).all()


def test_no_graphs_is_a_legal_batch():
    empty = GraphBatch.from_edges([])
    assert (len(empty), empty.n_nodes, empty.n_edges) == (0, 0, 0)
    assert repr(empty) == "GraphBatch(0 graphs, 0 nodes, 0 edges)"
    assert list(empty) == []
    assert empty == GraphBatch.concatenate([])


def test_graphs_without_nodes_and_without_edges_are_legal():
    batch = GraphBatch.from_edges([[], [], TRIANGLE], n_nodes=[0, 3, 3])
    assert np.diff(batch.node_ptr).tolist() == [0, 3, 3]
    assert np.diff(batch.edge_ptr).tolist() == [0, 0, 3]


def test_repr_says_what_is_there(batch):
    assert repr(batch) == (
        "GraphBatch(mixed: 4 graphs, 9 nodes, 5 edges; node labels: 5 kinds; node attributes: 2 columns; "
        "edge labels: 3 kinds; edge attributes: 1 column; y: 2 classes)"
    )
    assert repr(GraphBatch.from_edges([[(0, 1)]], y=[1.5])) == "GraphBatch(1 graph, 2 nodes, 1 edge; y: 1 class)"
    assert "y: numbers 0.5 to 2.25" in repr(GraphBatch.from_edges([[], [], []], y=[0.5, 2.25, 1.0]))


# -- immutable ---------------------------------------------------------------------------------------------------------


def arrays_of(batch):
    values = [getattr(batch, field.name) for field in dataclasses.fields(batch)]
    return [value for value in values if isinstance(value, np.ndarray)]


def test_arrays_cannot_be_written(batch):
    for graph in (batch, batch[1:], batch[[0, 3]], GraphBatch.concatenate([batch, batch])):
        assert len(arrays_of(graph)) == 12
        for array in [*arrays_of(graph), graph.degrees, graph.node_graph, graph.edge_graph]:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_fields_cannot_be_set(batch):
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.name = "other"


def test_the_callers_arrays_are_neither_kept_nor_closed():
    labels, y = np.array([1, 2, 3]), np.array([0])
    batch = GraphBatch.from_edges([TRIANGLE], node_labels=[labels], y=y)
    labels[0] = y[0] = 99
    assert batch.node_labels[0] == 1
    assert batch.y[0] == 0


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_keeps_everything_and_stays_closed(batch, protocol):
    batch = batch.replace(node_label_names={6: "C"})
    assert batch.degrees.sum() == 10  # a cached value must not travel
    again = pickle.loads(pickle.dumps(batch, protocol=protocol))
    assert again == batch
    assert "degrees" not in vars(again)
    for array in [*arrays_of(again), again.degrees]:
        assert not array.flags.writeable


def test_hash_is_refused(batch):
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


# -- a sequence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        (0, [10]),
        (-1, [13]),
        (np.int64(1), [11]),
        (slice(1, 3), [11, 12]),
        (slice(None, None, -1), [13, 12, 11, 10]),
        (slice(3, 1), []),
        ([3, 0, 0], [13, 10, 10]),
        (np.array([-1, 1]), [13, 11]),
        ([True, False, False, True], [10, 13]),
        (np.array([False] * 4), []),
        ([], []),
        (([2, 0], ...), [12, 10]),
    ],
)
def test_picking(batch, key, ids):
    picked = batch[key]
    assert picked.ids.tolist() == ids
    assert picked == GraphBatch.concatenate([batch[i - 10] for i in ids] or [batch[:0]])
    rebuilt = dataclasses.replace(picked)  # runs all checks
    assert rebuilt == picked


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        (4, IndexError, "graph 4 is out of range: the batch has 4 graphs"),
        ([0, -5], IndexError, "out of range"),
        ([True, False], IndexError, r"a mask of shape \(2,\) cannot pick from 4 graphs"),
        ("MUTAG", TypeError, "graphs are picked by an int, a slice, an index array or a mask"),
        ([0.5], TypeError, "graphs are picked by"),
        ([[0, 1]], TypeError, "graphs are picked by"),
    ],
)
def test_picking_what_is_not_there(batch, key, error, match):
    with pytest.raises(error, match=match):
        batch[key]


def test_iterating_gives_batches_of_one(batch):
    assert [len(graph) for graph in batch] == [1] * 4
    assert GraphBatch.concatenate(batch) == batch
    path = list(batch)[3]
    assert path.edges.tolist() == [[0, 1], [1, 2]]
    assert path.y.tolist() == ["toxic"]


def test_concatenate_shifts_nodes_and_drops_names_that_differ(batch):
    other = GraphBatch.from_edges([TRIANGLE], name="other")
    joined = GraphBatch.concatenate([other, GraphBatch.from_edges([[(0, 1)]], name="third")])
    assert joined.edges.tolist() == [[0, 1], [0, 2], [1, 2], [3, 4]]
    assert joined.name == ""
    assert GraphBatch.concatenate([batch, batch]).name == "mixed"


def test_concatenate_keeps_words_that_agree():
    carbon = GraphBatch.from_edges([TRIANGLE], node_labels=[[0, 0, 0]]).replace(node_label_names={0: "C"})
    both = carbon.replace(node_label_names={0: "C", 1: "N"})
    other = carbon.replace(node_label_names={0: "N"})
    assert GraphBatch.concatenate([carbon, both]).node_label_names == {0: "C", 1: "N"}
    assert GraphBatch.concatenate([carbon, other]).node_label_names is None
    assert GraphBatch.concatenate([carbon, carbon.replace(node_label_names=None)]).node_label_names is None


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"node_labels": None}, "batch 1 has no node_labels but another has"),
        ({"y": None}, "batch 1 has no y but another has: give y to all of them or to none"),
        ({"node_labels": ["a"] * 9}, "node_labels are strings in one batch and numbers in another"),
        ({"node_attributes": np.zeros((9, 3))}, "node_attributes have 2 columns in one batch and 3 in another"),
    ],
)
def test_concatenate_refuses_batches_that_do_not_fit(batch, changes, match):
    with pytest.raises(GraphFormatError, match=match):
        GraphBatch.concatenate([batch, batch.replace(**changes)])


def test_concatenate_takes_no_side_from_a_batch_without_nodes(batch):
    nothing = GraphBatch.from_edges([[]], node_labels=[[]], node_attributes=[[]], y=["safe"], ids=[9])
    nothing = nothing.replace(edge_labels=[], edge_attributes=np.empty((0, 1)), node_attributes=np.empty((0, 2)))
    assert GraphBatch.concatenate([nothing, batch])[1:].edge_labels.tolist() == batch.edge_labels.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "x"},
        {"y": ["safe"] * 4},
        {"ids": None},
        {"node_labels": np.zeros(9)},
        {"node_labels": ["6"] * 9},
        {"edge_attributes": None},
        {"node_label_names": {6: "C"}},
    ],
)
def test_equality_sees_every_field(batch, changes):
    changed = batch.replace(**changes)
    assert changed != batch
    assert batch == batch.replace()
    assert changed == pickle.loads(pickle.dumps(changed))


def test_equality_with_something_else(batch):
    assert batch != "mixed"


def test_replace_checks_what_it_is_given(batch):
    assert batch.replace(y=[1, 2, 3, 4]).y.tolist() == [1, 2, 3, 4]
    with pytest.raises(GraphFormatError, match="y has 3 entries for 4 graphs: give one for each"):
        batch.replace(y=[1, 2, 3])
    with pytest.raises(GraphFormatError, match="node_labels has 1 entries for 9 nodes"):
        batch.replace(node_labels=[1])
    with pytest.raises(OptionError, match="GraphBatch has no field 'labels' to replace"):
        batch.replace(labels=[1])


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8), max_size=6), st.data())
def test_cutting_and_joining_restores_any_batch(edge_lists, data):
    edges = [sorted({(min(e), max(e)) for e in edges if e[0] != e[1]}) for edges in edge_lists]
    batch = GraphBatch.from_edges(edges, n_nodes=[6] * len(edges), ids=range(len(edges)))
    cut = data.draw(st.integers(0, len(batch)))
    assert GraphBatch.concatenate([batch[:cut], batch[cut:]]) == batch
    order = data.draw(st.permutations(range(len(batch))))
    assert batch[order][np.argsort(order)] == batch


@pytest.mark.parametrize("n_shards", [1, 2, 3, 100])
def test_shards_cover_the_batch(batch, n_shards):
    bounds = shard_bounds(batch, n_shards, 4)
    assert bounds[0] == 0
    assert bounds[-1] == len(batch)
    assert (np.diff(bounds) > 0).all()
    assert len(bounds) <= n_shards + 1


# -- edges that are refused, or mended if asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (0.0, r"graph 1: edge \(0, 1\) has weight 0: leave it out or pass repair=\['drop-zero-weights'\]"),
        (-1.0, r"graph 1: edge \(0, 1\) has weight -1.0: weights must be finite and positive"),
        (np.nan, r"graph 1: edge \(0, 1\) has weight nan: weights must be finite and positive"),
        (np.inf, r"graph 1: edge \(0, 1\) has weight inf: weights must be finite and positive"),
        (-np.inf, "weights must be finite and positive"),
    ],
)
def test_weights_that_no_walk_can_have(weight, match):
    with pytest.raises(GraphFormatError, match=match):
        GraphBatch.from_edges([TRIANGLE, [(1, 2), (0, 1)]], weights=[[1, 1, 1], [1, weight]])


def test_zero_weights_are_dropped_on_request_with_what_they_carry():
    batch = GraphBatch.from_edges(
        [TRIANGLE], weights=[[1, 0, 2]], edge_labels=[[4, 5, 6]], repair=["drop-zero-weights"]
    )
    assert batch.edges.tolist() == [[0, 1], [0, 2]]
    assert batch.edge_labels.tolist() == [4, 6]
    assert batch.edge_weights.tolist() == [1, 2]
    with pytest.raises(GraphFormatError, match="weight -1"):
        GraphBatch.from_edges([TRIANGLE], weights=[[1, -1, 2]], repair=REPAIRS)


def test_self_loops():
    with pytest.raises(GraphFormatError, match=r"graph 1: edge \(1, 1\) is a self loop: leave it out or pass repair="):
        GraphBatch.from_edges([TRIANGLE, [(0, 1), (1, 1)]])
    batch = GraphBatch.from_edges([[(0, 0), (0, 1)]], repair=["drop-self-loops"])
    assert batch.edges.tolist() == [[0, 1]]


def test_duplicates_either_way_round():
    with pytest.raises(GraphFormatError, match=r"graph 0: edge \(1, 0\) is there more than once: keep one"):
        GraphBatch.from_edges([[(0, 1), (1, 0)]])
    batch = GraphBatch.from_edges([[(1, 0), (0, 1), (1, 2)]], weights=[[5, 6, 7]], repair=["merge-duplicates"])
    assert batch.edge_weights.tolist() == [5, 7]  # the first one stays


def both_ways(arcs, **options):
    sources, targets = np.array(arcs).T
    return pack([0, 3, 6], sources, targets, listed="both ways", **options)


def test_one_way_arcs():
    with pytest.raises(GraphFormatError, match=r"graph 1: edge \(0, 2\) goes one way only: add its mirror or pass"):
        both_ways([(0, 1), (1, 0), (3, 5)])
    batch = both_ways([(0, 1), (1, 0), (3, 5), (5, 4)], repair=["mirror-one-way"])
    assert batch.edges.tolist() == [[0, 1], [3, 5], [4, 5]]


@pytest.mark.parametrize("arcs", [[(0, 1), (1, 0), (0, 1)], [(0, 1), (0, 1), (1, 0), (1, 0)]])
def test_duplicate_arcs(arcs):
    with pytest.raises(GraphFormatError, match="is there more than once"):
        both_ways(arcs)
    assert both_ways(arcs, repair=["merge-duplicates"]).edges.tolist() == [[0, 1]]


@pytest.mark.parametrize("arcs", [[(0, 1), (1, 0)], [(1, 0), (0, 1)]])  # sorted and not: two ways through the press
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"weights": [1, 2]}, "has weight [12].0 one way and [12].0 the other: they must agree"),
        ({"edge_labels": ["a", "b"]}, "has label [ab] one way and [ab] the other"),
        ({"edge_attributes": [[1, 1], [1, 2]]}, "has attributes .* one way and .* the other"),
    ],
)
def test_directions_that_disagree(arcs, options, match):
    with pytest.raises(GraphFormatError, match=match):
        both_ways(arcs, **options)


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] < e[1])), st.randoms())
def test_any_order_of_arcs_packs_to_the_same(edges, random):
    arcs = sorted([*edges, *((v, u) for u, v in edges)])
    values = {arc: 1.0 + min(arc) * 7 + max(arc) for arc in arcs}
    shuffled = random.sample(arcs, len(arcs))
    batches = []
    for order in (arcs, shuffled):
        sources, targets = np.array(order, dtype=int).reshape(-1, 2).T
        batches.append(pack([0, 7], sources, targets, listed="both ways", weights=[values[arc] for arc in order]))
    batches.append(
        GraphBatch.from_edges(
            [shuffled], n_nodes=[7], weights=[[values[arc] for arc in shuffled]], repair=["merge-duplicates"]
        )
    )
    assert batches[0] == batches[1] == batches[2]


@pytest.mark.parametrize(
    ("sources", "targets", "match"),
    [
        ([0], [6], r"edge \(0, 6\) names a node out of range: the batch has nodes 0 to 5"),
        ([-1], [2], r"edge \(-1, 2\) names a node out of range"),
        ([1], [4], r"edge \(1, 4\) joins graph 0 and graph 1: an edge must stay inside one graph"),
    ],
)
def test_edges_that_leave_their_graph(sources, targets, match):
    with pytest.raises(GraphFormatError, match=match):
        pack([0, 3, 6], sources, targets, listed="once")


def test_repairs_must_be_known():
    with pytest.raises(OptionError, match="repair='everything' is not known: give a list of 'drop-self-loops'"):
        GraphBatch.from_edges([TRIANGLE], repair=["everything"])
    with pytest.raises(OptionError, match="give a list of"):
        GraphBatch.from_edges([TRIANGLE], repair="drop-self-loops")


def test_more_nodes_than_fit():
    with pytest.raises(GraphFormatError, match="2147483648 nodes are more than one batch holds"):
        pack([0, 2**31], [], [], listed="once")


# -- labels and attributes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 2], [1, 2]),
        ([1.0, -2.0], [1, -2]),
        ([True, False], [1, 0]),
        (np.array([1.0, 3.0]), [1, 3]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (["C", "Cl"], ["C", "Cl"]),
        (np.array(["C", "Cl"]), ["C", "Cl"]),
        (np.array(["C", "Cl"], dtype=object), ["C", "Cl"]),
        (iter([np.int32(4), 5.0]), [4, 5]),
        ([], []),
    ],
)
def test_labels_become_integers_or_strings(values, wanted):
    labels = as_labels(values, "node")
    assert labels.tolist() == wanted
    assert labels.dtype.kind == ("U" if wanted and isinstance(wanted[0], str) else "i")


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([1, None, 2], "node 1 has no label although others have: label all of them or none"),
        ([0.5, 1.0], "node label 0.5 of node 0 is not a whole number: labels are integers or strings; pass measured"),
        ([1.0, np.nan], "node label nan of node 1 is not a whole number"),
        ([1, "C"], r"node labels mix strings \('C'\) and numbers \(1\)"),
        ([(1, 2), 3], r"node label \(1, 2\) of node 0 is a tuple"),
        (np.zeros((2, 2)), r"node labels must be one value for each node; got an array of shape \(2, 2\)"),
        (np.array([1j]), "node labels must be integers or strings, not complex128"),
        ([2**63], "does not fit a 64-bit integer: use strings"),
        ([2**70], "does not fit a 64-bit integer: use strings"),
    ],
)
def test_labels_that_are_refused(values, match):
    with pytest.raises(GraphFormatError, match=match):
        as_labels(values, "node")


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        ([1, 2], [[1], [2]]),
        ([np.array([1.5]), (2,)], [[1.5], [2]]),
        (np.array([True, False]), [[1], [0]]),
        ((row for row in [[1], [2]]), [[1], [2]]),
    ],
)
def test_attributes_become_a_table(values, wanted):
    table = as_attributes(values, "node")
    assert table.tolist() == wanted
    assert table.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[1, 2], [3]], "node 1 has 1 attributes but node 0 has 2: give all nodes equally many"),
        ([[1], [np.nan]], "attribute 0 of node 1 is nan: attributes must be finite"),
        ([[1, np.inf]], "attribute 1 of node 0 is inf"),
        ([["a"]], "node attributes must be numbers"),
        ([["1.5"]], "node attributes must be numbers"),
        ([[1, None]], "node attributes must be numbers"),
        ([[1, [2, 3]]], "node attributes must be one row of numbers for each node"),
        (np.zeros((2, 2, 2)), "must be a table of one row for each node"),
    ],
)
def test_attributes_that_are_refused(values, match):
    with pytest.raises(GraphFormatError, match=match):
        as_attributes(values, "node")


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([1, None], "y must be numbers or strings, one for each graph, none missing"),
        ([[1, 2], [3, 4]], r"y must be one value for each graph; got an array of shape \(2, 2\)"),
        ([1], "y has 1 entries for 2 graphs"),
    ],
)
def test_targets_that_are_refused(y, match):
    with pytest.raises(GraphFormatError, match=match):
        GraphBatch.from_edges([TRIANGLE, []], y=y)


# -- batches made by hand ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"node_ptr": [1, 3]}, "node_ptr must start at 0 and never go down"),
        ({"edge_ptr": [0, 1, 3]}, "edge_ptr has 3 entries where node_ptr has 2"),
        ({"node_ptr": [0, 2]}, "node_ptr and edge_ptr must end at the number of nodes"),
        ({"weights": [1.0]}, "indices and weights need two entries for each edge"),
        ({"weights": [1.0, 1, 1, 1, 1, 2]}, "one way and"),
        ({"weights": [0.0] * 6}, "has weight 0"),
        ({"edges": [[0, 1], [1, 2], [0, 2]]}, "edges does not tell the same sorted edges as the other arrays"),
        ({"indices": [1, 2, 0, 2, 1, 0]}, "indices does not tell the same"),
    ],
)
def test_arrays_that_contradict_each_other(changes, match):
    batch = GraphBatch.from_edges([TRIANGLE])
    with pytest.raises(GraphFormatError, match=match):
        dataclasses.replace(batch, **changes)
