"""What several test files share: graphs to try, packed for pwlr and plain for the naive twin, and their renumbering."""

import itertools
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from tests.naive import INFINITY, Graph

from pwlr.graphs import GraphBatch, pack

BACKENDS = ("numpy", "numba")
STEPS = (0, 1, 2, 3, 7, 16, 27, INFINITY)


# -- from plain graphs to a batch --------------------------------------------------------------------------------------


def to_batch(graphs: Sequence[Graph], **more: Any) -> GraphBatch:
    """Pack plain graphs; what the first one carries, all carry."""
    node_ptr = np.cumsum([0, *(graph.n_nodes for graph in graphs)])
    edges = [(u + shift, v + shift) for graph, shift in zip(graphs, node_ptr, strict=False) for u, v in graph.edges]
    sources, targets = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    carried: dict[str, Any] = {}
    for field in ("weights", "node_labels", "node_attributes", "edge_labels"):
        if graphs and getattr(graphs[0], field) is not None:
            carried[field] = list(itertools.chain.from_iterable(getattr(graph, field) for graph in graphs))
    if "node_attributes" in carried:
        width = max(map(len, carried["node_attributes"]), default=1)
        carried["node_attributes"] = np.array(carried["node_attributes"], dtype=float).reshape(-1, width)
    return pack(node_ptr, sources, targets, listed="once", **carried, **more)


def to_graphs(batch: GraphBatch) -> list[Graph]:
    """Unpack a batch into plain graphs."""
    graphs = []
    for g in range(batch.n_graphs):
        nodes, edges = slice(*batch.node_ptr[g : g + 2]), slice(*batch.edge_ptr[g : g + 2])
        graphs.append(
            Graph(
                nodes.stop - nodes.start,
                tuple(map(tuple, (batch.edges[edges] - nodes.start).tolist())),
                tuple(batch.edge_weights[edges].tolist()),
                None if batch.node_labels is None else tuple(batch.node_labels[nodes].tolist()),
                None if batch.node_attributes is None else tuple(map(tuple, batch.node_attributes[nodes].tolist())),
                None if batch.edge_labels is None else tuple(batch.edge_labels[edges].tolist()),
            )
        )
    return graphs


def permuted(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """Give the nodes of every graph new numbers at random; the same graphs otherwise, through the same door."""
    new_number = np.empty(batch.n_nodes, dtype=np.int64)
    for start, stop in itertools.pairwise(batch.node_ptr.tolist()):
        new_number[start:stop] = start + rng.permutation(stop - start)
    old_number = np.argsort(new_number)
    shuffled = rng.permutation(batch.n_edges)

    def moved(values: Any, where: Any) -> Any:
        return None if values is None else values[where]

    return pack(
        batch.node_ptr,
        new_number[batch.edges[shuffled, 0]],
        new_number[batch.edges[shuffled, 1]],
        listed="once",
        weights=batch.edge_weights[shuffled],
        node_labels=moved(batch.node_labels, old_number),
        node_attributes=moved(batch.node_attributes, old_number),
        edge_labels=moved(batch.edge_labels, shuffled),
        edge_attributes=moved(batch.edge_attributes, shuffled),
        name=batch.name,
    )


# -- graphs drawn by hypothesis ----------------------------------------------------------------------------------------

_WEIGHTS = {
    "absent": None,
    "unit": st.just(1.0),
    "bonds": st.sampled_from([1.0, 2.0, 3.0]),
    "any": st.floats(0.01, 100.0),
}
_LABELS = {
    "absent": None,
    "one": st.just(7),
    "numbers": st.sampled_from([-3, 0, 2, 11]),
    "words": st.sampled_from(["C", "N", "Cl", "c"]),
}
_ATTRIBUTES = {
    "absent": None,
    "tied": st.tuples(st.sampled_from([-1.0, 0.0, 0.5])),
    "any": st.tuples(*[st.floats(-10.0, 10.0)] * 3),
}


@st.composite
def one_graph(
    draw: Any, weights: Any, node_labels: Any, attributes: Any, edge_labels: Any, max_nodes: int = 8
) -> Graph:
    """A graph with 0 to max_nodes nodes and none to all of its possible edges."""
    n_nodes = draw(st.integers(0, max_nodes))
    possible = list(itertools.combinations(range(n_nodes), 2))
    shape = draw(st.sampled_from(["any", "any", "complete", "cycle", "path", "edgeless"]))
    if shape == "any":
        present = draw(st.lists(st.booleans(), min_size=len(possible), max_size=len(possible)))
        edges = [pair for pair, there in zip(possible, present, strict=True) if there]
    elif shape == "complete":
        edges = possible
    elif shape == "edgeless":
        edges = []
    else:
        edges = [
            (u, v) for u, v in possible if v == u + 1 or (shape == "cycle" and n_nodes > 2 and v - u == n_nodes - 1)
        ]

    def each(values: Any, count: int) -> Any:
        return None if values is None else tuple(draw(values) for _ in range(count))

    return Graph(
        n_nodes,
        tuple(sorted(edges)),
        each(weights, len(edges)),
        each(node_labels, n_nodes),
        each(attributes, n_nodes),
        each(edge_labels, len(edges)),
    )


@st.composite
def graph_sets(draw: Any, max_graphs: int = 4, max_nodes: int = 8) -> list[Graph]:
    """Graphs that carry the same things: weights or none, labels of one type or none, attributes or none."""
    drawn_from = [draw(st.sampled_from(list(table.values()))) for table in (_WEIGHTS, _LABELS, _ATTRIBUTES, _LABELS)]
    return draw(st.lists(one_graph(*drawn_from, max_nodes=max_nodes), min_size=1, max_size=max_graphs))


def node_features_of(graphs: Sequence[Graph]) -> list[str]:
    """The node features that these graphs can have."""
    labels, attributes = graphs[0].node_labels is not None, graphs[0].node_attributes is not None
    possible = {"labels": labels, "attributes": attributes, "both": labels and attributes}
    return [option for option, there in possible.items() if there] + ["degree", "constant"]


pairs_of_steps = st.lists(
    st.tuples(st.sampled_from(STEPS), st.sampled_from(STEPS)), min_size=1, max_size=4, unique=True
)
exponents = st.sampled_from([1.0, 1.5, 2.0, INFINITY])


# -- graphs made from a seed -------------------------------------------------------------------------------------------


def random_batch(
    rng: np.random.Generator,
    n_graphs: int = 30,
    max_nodes: int = 30,
    *,
    n_labels: int = 3,
    weights: str = "any",
    attributes: int = 0,
) -> GraphBatch:
    """Random graphs of all densities, some empty, some in pieces; labelled nodes and edges."""
    graphs = []
    for _ in range(n_graphs):
        n_nodes = int(rng.integers(0, max_nodes + 1))
        possible = list(itertools.combinations(range(n_nodes), 2))
        edges = [
            possible[i] for i in np.flatnonzero(rng.random(len(possible)) < rng.choice([0.0, 0.05, 0.15, 0.5, 1.0]))
        ]
        graphs.append(
            Graph(
                n_nodes,
                tuple(edges),
                tuple(rng.uniform(0.1, 4.0, len(edges)) if weights == "any" else np.ones(len(edges))),
                tuple(rng.integers(0, n_labels, n_nodes).tolist()),
                tuple(map(tuple, rng.normal(size=(n_nodes, attributes)).tolist())) if attributes else None,
                tuple(rng.integers(0, 3, len(edges)).tolist()),
            )
        )
    return to_batch(graphs)


def symmetric_graphs() -> dict[str, nx.Graph]:
    """Graphs full of ties: many edges look alike, and most of their heights are equal."""
    return {
        **{f"cycle {n}": nx.cycle_graph(n) for n in (3, 4, 5, 6, 9, 12)},
        **{f"clique {n}": nx.complete_graph(n) for n in (4, 5, 7)},
        **{f"bipartite {a},{b}": nx.complete_bipartite_graph(a, b) for a, b in ((2, 3), (3, 3), (2, 5), (4, 4))},
        **{f"grid {a}x{b}": nx.grid_2d_graph(a, b) for a, b in ((2, 4), (3, 3), (4, 4), (3, 5))},
        "torus": nx.grid_2d_graph(4, 4, periodic=True),
        "petersen": nx.petersen_graph(),
        "hypercube": nx.hypercube_graph(4),
        "cubic": nx.random_regular_graph(3, 14, seed=1),
        "quartic": nx.random_regular_graph(4, 13, seed=2),
        "wheel": nx.wheel_graph(9),
        "ladder": nx.circular_ladder_graph(6),
        "barbell": nx.barbell_graph(5, 2),
        "three triangles": nx.disjoint_union_all([nx.cycle_graph(3)] * 3),
        "lollipop": nx.lollipop_graph(5, 3),
        "dodecahedron": nx.dodecahedral_graph(),
        "tree": nx.balanced_tree(2, 3),
    }


def symmetric_batch(labels: str) -> GraphBatch:
    """The symmetric graphs; nodes alike, or coloured by a rule that leaves much of the symmetry."""
    graphs = []
    for drawn in symmetric_graphs().values():
        graph = nx.convert_node_labels_to_integers(drawn)
        edges = tuple(sorted((min(edge), max(edge)) for edge in graph.edges))
        colours = {"alike": 0, "alternate": 2, "thirds": 3}[labels]
        graphs.append(
            Graph(
                len(graph),
                edges,
                node_labels=tuple(v % colours if colours else 0 for v in range(len(graph))),
                edge_labels=tuple((u + v) % colours if colours else 0 for u, v in edges),
            )
        )
    return to_batch(graphs)
