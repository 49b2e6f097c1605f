"""Isomorphic copies in a set of graphs: a test graph may be the copy of a training graph, with another class even.

Cheap whole numbers and our own vectors propose which graphs may be copies, NetworkX decides. Proposals may be wrong but
never miss a pair: copies agree in every whole number exactly, and in every sum of heights up to rounding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from pwlr.engine import Filtering, event_rows
from pwlr.errors import MissingExtraError
from pwlr.graphs import GraphBatch
from pwlr.io.convert import as_batch
from pwlr.method.diffusion import MULTISCALE, Grid
from pwlr.method.kinds import node_kinds, rows_to_codes

__all__ = ["Twins", "find_twins", "representatives"]

Codes = NDArray[np.int64]

ROUNDS = 30  # of Weisfeiler-Lehman; long paths would take thousands, and what is left is for the exact test to tell
DISTANCES = 1000  # nodes a component may have for all its distances to be looked at
TOLERANCE = 1e-8  # of heights, relative to the number of nodes; rounding moves them by some 1e-15


# -- what is found -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Twins:
    """Which graphs are copies of each other.

    Two graphs are copies if some renumbering of the nodes turns one into the other, with its node labels, edges, edge
    labels and edge weights.

    Attributes
    ----------
    group : int64 array, shape (n_graphs,)
        Copies share a number; groups are numbered by first appearance. What scikit-learn's ``StratifiedGroupKFold``
        calls `groups`.
    y : array or None
        The classes of the graphs.
    """

    group: Codes
    y: NDArray[Any] | None = field(default=None, repr=False)

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.group)

    @property
    def n_copied(self) -> int:
        """Number of graphs that have at least one copy."""
        return int(self._sizes[self._sizes > 1].sum())

    @property
    def n_groups(self) -> int:
        """Number of groups of two or more copies."""
        return int((self._sizes > 1).sum())

    @property
    def largest(self) -> int:
        """Number of graphs in the largest group; 1 if there are no copies, 0 if there are no graphs."""
        return int(self._sizes.max(initial=0))

    @property
    def members(self) -> list[Codes]:
        """The graphs of each group of two or more copies."""
        return [graphs for graphs in _owned(self.group, len(self._sizes)) if len(graphs) > 1]

    @property
    def agreeing(self) -> Codes | None:
        """For each graph, how many of its group are of its own class, itself included; None without classes."""
        if self.y is None:
            return None
        pair = rows_to_codes(np.column_stack([self.group, _value_codes(self.y)]))
        return np.bincount(pair)[pair].astype(np.int64)

    @property
    def n_contradicting(self) -> int | None:
        """Number of groups whose copies are of different classes; None without classes."""
        agreeing = self.agreeing
        if agreeing is None:
            return None
        return len(np.unique(self.group[agreeing < self._sizes[self.group]]))

    @property
    def ceiling(self) -> float | None:
        """Accuracy that no method can exceed on these graphs if it looks at what copies share alone.

        Such a method says the same of all copies, so it is right at most for each group's most frequent class. None
        without classes or graphs.
        """
        agreeing = self.agreeing
        if agreeing is None or self.n_graphs == 0:
            return None
        most = np.zeros(len(self._sizes), dtype=np.int64)
        np.maximum.at(most, self.group, agreeing)
        return float(most.sum() / self.n_graphs)

    @property
    def _sizes(self) -> Codes:
        return np.bincount(self.group).astype(np.int64)


def find_twins(graphs: Any, *, attributes: bool = False) -> Twins:
    """Find the isomorphic copies in a set of graphs.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        Node labels, edge labels and edge weights must agree exactly; `ids` and `y` are not looked at.
    attributes : bool, default False
        Whether node and edge attributes must agree exactly, too. By default they are left aside: they are coordinates
        and measurements, which differ between copies of one molecule.

    Returns
    -------
    Twins

    Notes
    -----
    A graph is the multiset of its components, so connected graphs alone are compared: those with the same colours after
    30 rounds of Weisfeiler-Lehman and the same sums of H0 and H1 heights and of their squares at the multiscale k.
    ``networkx.vf2pp_is_isomorphic`` then decides within these colours, refined by distances, against one graph of each
    class found so far. That takes milliseconds for molecules, proteins, cliques, stars and random regular graphs, but
    as for every such test the worst case is exponential: of two strongly regular graphs of 64 nodes it may never tell.
    Ctrl-C ends it.

    Examples
    --------
    >>> import pwlr
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (0, 2)]]
    >>> find_twins(pwlr.GraphBatch.from_edges([*paths, [(0, 1), (1, 2), (0, 2)]], y=[0, 1, 1]))
    Twins(group=array([0, 0, 1]))
    """
    batch = as_batch(graphs)
    bare = _bare(batch, attributes)
    proposed = _lists_to_codes(bare.node_graph, _colours(bare, rounds=1), len(bare))
    maybe = np.flatnonzero(np.bincount(proposed)[proposed] > 1)
    exact = np.zeros(len(bare), dtype=np.int64)  # a graph alone in its bucket has no copy
    exact[maybe] = _classes(bare[maybe])
    return Twins(_by_first_appearance(np.column_stack([proposed, exact])), batch.y)


def representatives(twins: Twins) -> Codes:
    """Return one graph of each group, in ascending order.

    It is the first one of the group's most frequent class, so that what is left of a group that contradicts itself is
    the class most of its copies have. If two classes are equally frequent, it is the graph that comes first.
    """
    agreeing = np.ones_like(twins.group) if twins.agreeing is None else twins.agreeing
    order = np.lexsort((np.arange(twins.n_graphs), -agreeing, twins.group))
    chosen = np.unique(twins.group[order], return_index=True)[1]
    return np.sort(order[chosen]).astype(np.int64)


# -- codes -------------------------------------------------------------------------------------------------------------


def _bare(batch: GraphBatch, attributes: bool) -> GraphBatch:
    """Return the graphs with nothing but what copies must share, node and edge labels as codes."""
    node_columns = [batch.node_labels, batch.node_attributes if attributes else None]
    edge_columns = [batch.edge_labels, batch.edge_weights, batch.edge_attributes if attributes else None]
    return batch.replace(
        node_labels=_joint_codes(node_columns, batch.n_nodes),
        edge_labels=_joint_codes(edge_columns, batch.n_edges),
        node_attributes=None,
        edge_attributes=None,
        node_label_names=None,
        edge_label_names=None,
        y=None,
        ids=None,
    )


def _joint_codes(columns: list[NDArray[Any] | None], count: int) -> Codes | None:
    """Number the rows of several tables side by side; None where all rows are alike."""
    code = np.zeros(count, dtype=np.int64)
    for column in columns:
        for values in () if column is None else np.atleast_2d(column.T):
            code = rows_to_codes(np.column_stack([code, _value_codes(values)]))
    return code if code.any() else None


def _value_codes(values: NDArray[Any]) -> Codes:
    """Number values in ascending order, equal ones alike."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _by_first_appearance(rows: Codes) -> Codes:
    """Number the rows of a table from 0 in the order in which they first appear."""
    code = rows_to_codes(rows)
    first, position = np.unique(code, return_index=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(position)] = np.arange(len(first))
    return number[code]


def _lists_to_codes(owner: Codes, entry: Codes, n_owners: int) -> Codes:
    """Number the owners by the multisets of their entries: the same number for equal multisets, whatever the order.

    Neighbours in a sorted list are merged in pairs until one number is left of each list, so that the longest list
    costs its logarithm and numbers stay exact, which a hash would not be.
    """
    order = np.lexsort((entry, owner))
    owner, code = owner[order], entry[order]
    while (owner[1:] == owner[:-1]).any():
        place = np.arange(len(owner)) - np.searchsorted(owner, owner)
        paired = np.append(owner[1:] == owner[:-1], False)
        after = np.where(paired, np.append(code[1:], 0) + 1, 0)
        left = place % 2 == 0
        code = rows_to_codes(np.column_stack([code, after])[left])
        owner = owner[left]
    of_owner = np.zeros(n_owners, dtype=np.int64)
    of_owner[owner] = code + 1  # 0 is the empty list
    return of_owner


def _colours(batch: GraphBatch, rounds: int, start: Codes | None = None) -> Codes:
    """Return the Weisfeiler-Lehman colour of every node after some rounds, or as soon as no round splits one more."""
    edge = np.zeros(batch.n_edges, dtype=np.int64) if batch.edge_labels is None else batch.edge_labels
    source, arc = np.repeat(np.arange(batch.n_nodes), batch.degrees), edge[batch.arc_edges]
    colour = node_kinds(batch).of_each if start is None else start
    for _ in range(rounds):
        seen = _lists_to_codes(source, rows_to_codes(np.column_stack([arc, colour[batch.indices]])), batch.n_nodes)
        finer = rows_to_codes(np.column_stack([colour, seen]))
        if finer.max(initial=-1) == colour.max(initial=-1):
            break
        colour = finer
    return colour


# -- proposing ---------------------------------------------------------------------------------------------------------


def _classes(batch: GraphBatch) -> Codes:
    """Number the graphs, copies alike, by the multisets of the classes of their components."""
    component = np.asarray(connected_components(batch.adjacency(), directed=False)[1], dtype=np.int64)
    colour = _colours(batch, ROUNDS)
    bucket = _proposed(batch, component, colour)
    colour = _colours(batch, ROUNDS, start=_farther(batch, component, colour, bucket))
    classes = _decided(batch, component, colour, bucket)
    graph = np.zeros(len(classes), dtype=np.int64)
    graph[component] = batch.node_graph
    return _lists_to_codes(graph, classes, len(batch))


def _proposed(batch: GraphBatch, component: Codes, colour: Codes) -> Codes:
    """Number the components so that those which may be copies of each other share a number."""
    bucket = _lists_to_codes(component, colour, int(component.max(initial=-1)) + 1)
    for value in _moments(batch, component):
        bucket = _split(bucket, value)
    return bucket


def _moments(batch: GraphBatch, component: Codes) -> Iterator[NDArray[np.float64]]:
    """Yield means and root mean squares of each component's H0 and H1 heights, in units of its number of nodes.

    These are the sums and sums of squares of `typed`, added up over the kinds. They are used because they cannot
    jump: whichever of several tied edges is H0, the heights of H0 are those of a minimum spanning forest, which move no
    further than single heights do. (The tie tolerance is 0 here: groups of ties could differ between copies by
    rounding at their ends.) Heights are at most twice the number of nodes, hence the unit.
    """
    n_nodes = np.bincount(component).astype(np.float64)
    owner = component[batch.edges[:, 0]]
    for row in event_rows(batch, Grid.of_pairs(MULTISCALE), Filtering(tie_tol=0.0)):
        for heights, closes_cycle in zip(row.heights, row.closes_cycle, strict=True):
            for part in (~closes_cycle, closes_cycle):
                mine, height = owner[part], heights[part]
                count = np.maximum(np.bincount(mine, minlength=len(n_nodes)), 1)
                yield np.bincount(mine, height, len(n_nodes)) / count / n_nodes
                yield np.sqrt(np.bincount(mine, height**2, len(n_nodes)) / count) / n_nodes


def _split(bucket: Codes, value: NDArray[np.float64]) -> Codes:
    """Split buckets where neighbours in order of value lie further apart than rounding can put copies."""
    order = np.lexsort((value, bucket))
    starts = (np.diff(bucket[order], prepend=0) != 0) | (np.diff(value[order], prepend=0.0) > TOLERANCE)
    finer = np.empty(len(bucket), dtype=np.int64)
    finer[order] = np.cumsum(starts)
    return finer


def _farther(batch: GraphBatch, component: Codes, colour: Codes, bucket: Codes) -> Codes:
    """Refine the colours of nodes that look alike to their neighbours by the colours at every distance.

    In a regular graph without labels all nodes have one colour; without more to go by the exact test took 20 seconds
    for two copies of a random cubic graph of 400 nodes. A hash will do, since equal lists stay equal.
    """
    adjacency, shared = batch.adjacency(), np.bincount(bucket)[bucket] > 1
    seen = np.zeros(batch.n_nodes, dtype=np.int64)
    for number, nodes in enumerate(_owned(component, len(bucket))):
        if not shared[number] or len(nodes) > DISTANCES or len(np.unique(colour[nodes])) == len(nodes):
            continue
        steps = shortest_path(adjacency[nodes][:, nodes], directed=False, unweighted=True).astype(np.int64)
        lists = np.sort(steps * batch.n_nodes + colour[nodes], axis=1)
        seen[nodes] = [hash(row.tobytes()) for row in lists]
    return rows_to_codes(np.column_stack([colour, _value_codes(seen)]))


# -- deciding ----------------------------------------------------------------------------------------------------------


def _decided(batch: GraphBatch, component: Codes, colour: Codes, bucket: Codes) -> Codes:
    """Number the components, copies alike: within a bucket each is tested against one of each class found so far."""
    networkx = _networkx()
    nodes, edges = _owned(component, len(bucket)), _owned(component[batch.edges[:, 0]], len(bucket))
    shared = np.bincount(bucket)[bucket] > 1
    known: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
    classes = np.arange(len(bucket))
    for number in np.flatnonzero(shared).tolist():
        graph = _as_networkx(networkx, batch, colour, nodes[number], edges[number])
        candidates = known[int(bucket[number])]
        for twin, other in candidates:
            if networkx.vf2pp_is_isomorphic(graph, other, node_label="colour"):
                classes[number] = twin
                break
        else:
            candidates.append((number, graph))
    return classes


def _owned(owner: Codes, n_owners: int) -> list[Codes]:
    """Return what each owner has."""
    return np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner, minlength=n_owners)))[:-1]


def _as_networkx(networkx: ModuleType, batch: GraphBatch, colour: Codes, nodes: Codes, edges: Codes) -> Any:
    """Return one component with colours at its nodes, in as many layers as the number of an edge's kind has bits.

    VF2++ knows no edge labels, hence the trick of nauty's manual: an edge stands in the layers of the bits of its kind,
    and the copies of a node are linked from layer to layer. With one kind that is the graph itself. The older matcher
    of NetworkX takes edge labels, but recurses once a node and never ends for a grid of 900 nodes or two random cubic
    graphs of 200; edges with a node in their middle leave VF2++ guessing in dense graphs.
    """
    kind = np.ones(batch.n_edges, dtype=np.int64) if batch.edge_labels is None else batch.edge_labels + 1
    graph = networkx.Graph()
    for layer in range(int(kind.max(initial=1)).bit_length()):
        shift = layer * batch.n_nodes
        for node, of_node in zip((nodes + shift).tolist(), colour[nodes].tolist(), strict=True):
            graph.add_node(node, colour=(layer, of_node))
            if layer:
                graph.add_edge(node - batch.n_nodes, node)
        inside = edges[(kind[edges] >> layer) & 1 == 1]
        graph.add_edges_from((batch.edges[inside] + shift).tolist())
    return graph


def _networkx() -> ModuleType:
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("networkx", "networkx", "finding isomorphic copies") from None
    module: ModuleType = nx
    return module
