"""Kinds of nodes and edges, and what a set of graphs shows of them before any height is known.

A kind is a row of small integers: degrees as they are, labels as codes that ascend like their values, so that comparing
rows is comparing kinds. Codes mean something only beside the values they stand for; between two sets of graphs kinds
are always compared through the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from pwlr.errors import GraphFormatError
from pwlr.graphs import GraphBatch

__all__ = [
    "KeptKinds",
    "Kinds",
    "LabelTypes",
    "Presence",
    "Survey",
    "bridges",
    "common_types",
    "component_counts",
    "edge_kinds",
    "label_types",
    "node_kinds",
    "rows_to_codes",
]

Table = NDArray[np.int64]
LabelTypes = tuple[str, str]

_INT64 = np.iinfo(np.int64).max


# -- tables of kinds ---------------------------------------------------------------------------------------------------


def rows_to_codes(table: Table) -> Table:
    """Number the rows of a table of non-negative integers: equal rows alike, in ascending order, from 0."""
    code = np.zeros(len(table), dtype=np.int64)
    room = 1  # how many values `code` can take so far
    for column in table.T:
        base = int(column.max(initial=0)) + 1
        if room > _INT64 // base:
            code, room = _dense(code), len(table)
        code, room = code * base + column, room * base
    return _dense(code)


def _dense(code: Table) -> Table:
    return np.unique(code, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _sorted_distinct(code: Table) -> Table:
    # np.unique hashes integers, which costs several times what sorting them does where most are distinct
    code = np.sort(code)
    return code[np.diff(code, prepend=-1) > 0]


def _positions(rows: Table, among: Table) -> Table:
    """Return where each row stands in another table of distinct rows, -1 where it does not."""
    # negative entries are labels that the other table does not know; their rows are found nowhere
    known = np.asarray((rows >= 0).all(axis=1))
    code = rows_to_codes(np.vstack([among, np.where(known[:, None], rows, 0)]))
    position = np.full(len(code) + 1, -1, dtype=np.int64)
    position[code[: len(among)]] = np.arange(len(among))
    return np.where(known, position[code[len(among) :]], -1)


@dataclass(frozen=True)
class Kinds:
    """The kinds of the nodes or the edges of a batch.

    Attributes
    ----------
    table : int64 array, shape (n_kinds, 2) or (n_kinds, 5)
        Of nodes: degree, label. Of edges: lower degree, higher degree, label at the lower-degree end, label at the
        other end, edge label; at equal degrees the lower label comes first. Rows are distinct and ascend.
    of_each : int64 array
        Which kind every node or edge is of.
    node_values, edge_values : array
        The values that label codes stand for; empty without labels (then all codes are 0).
    """

    table: Table
    of_each: Table
    node_values: NDArray[Any]
    edge_values: NDArray[Any]


def node_kinds(batch: GraphBatch) -> Kinds:
    """Return the kind of every node: its degree and label."""
    values, code = _coded(batch.node_labels, batch.n_nodes)
    return _distinct(np.column_stack([batch.degrees, code]), values, values[:0])


def edge_kinds(batch: GraphBatch) -> Kinds:
    """Return the finest kind of every edge: both ends' degree and label, and its own label."""
    node_values, node_code = _coded(batch.node_labels, batch.n_nodes)
    edge_values, edge_code = _coded(batch.edge_labels, batch.n_edges)
    degree, label = batch.degrees[batch.edges], node_code[batch.edges]
    swap = (degree[:, 0] > degree[:, 1]) | ((degree[:, 0] == degree[:, 1]) & (label[:, 0] > label[:, 1]))
    degree[swap], label[swap] = degree[swap, ::-1], label[swap, ::-1]
    return _distinct(np.column_stack([degree, label, edge_code]), node_values, edge_values)


def _coded(labels: NDArray[Any] | None, count: int) -> tuple[NDArray[Any], Table]:
    if labels is None:
        return np.empty(0, dtype=np.int64), np.zeros(count, dtype=np.int64)
    values, codes = np.unique(labels, return_inverse=True)
    return values, codes.reshape(-1).astype(np.int64)


def _distinct(rows: Table, node_values: NDArray[Any], edge_values: NDArray[Any]) -> Kinds:
    code = rows_to_codes(rows)
    table = np.empty((int(code.max(initial=-1)) + 1, rows.shape[1]), dtype=np.int64)
    table[code] = rows
    return Kinds(table, code, node_values, edge_values)


def _recoded(table: Table, node_moves: Table, edge_moves: Table) -> Table:
    """Write other codes for the labels of a table of kinds."""
    table = table.copy()
    if table.shape[1] == 2:
        table[:, 1] = node_moves[table[:, 1]]
    else:
        table[:, 2:4] = node_moves[table[:, 2:4]]
        table[:, 4] = edge_moves[table[:, 4]]
    return table


def _moves(values: NDArray[Any], to: NDArray[Any]) -> Table:
    """Return for every code of `values` its code among the sorted values `to`, -1 where it is not there."""
    if len(values) == 0:
        return np.zeros(1, dtype=np.int64)  # without labels all codes are 0 and stay so
    if len(to) == 0:
        return np.full(len(values), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(to, values), len(to) - 1)
    return np.where(to[place] == values, place, -1)


def _union(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    # an empty array has no type of its own and must not turn integers into strings
    return np.union1d(first, second) if len(first) and len(second) else first if len(first) else second


# -- the back-off ------------------------------------------------------------------------------------------------------


def _coarse(table: Table, level: int) -> Table:
    """Return what finest kinds are called at a level: 0 themselves, 1 without degrees, 2 the degrees of an edge."""
    if level == 0:
        return table
    if table.shape[1] == 2:
        return table[:, 1:]
    if level == 2:
        return table[:, :2]
    return np.column_stack([table[:, 2:4].min(axis=1), table[:, 2:4].max(axis=1), table[:, 4]])


@dataclass(frozen=True)
class KeptKinds:
    """The kinds that have columns, as (level, table), finest first; a kind's place over all is its column group.

    Label codes stand for ``node_values`` and ``edge_values``.
    """

    levels: tuple[tuple[int, Table], ...]
    node_values: NDArray[Any]
    edge_values: NDArray[Any]

    def __len__(self) -> int:
        return sum(len(kept) for _, kept in self.levels)

    def find(self, kinds: Kinds) -> Table:
        """Return the place of each kind, backing off where it was not kept; -1 for the totals alone."""
        table = _recoded(
            kinds.table, _moves(kinds.node_values, self.node_values), _moves(kinds.edge_values, self.edge_values)
        )
        return self.place(table)

    def place(self, table: Table) -> Table:
        """Return the place of each row of a table in this object's own codes."""
        found = np.full(len(table), -1, dtype=np.int64)
        start = 0
        for level, kept in self.levels:
            open_rows = np.flatnonzero(found < 0)
            position = _positions(_coarse(table[open_rows], level), kept)
            found[open_rows] = np.where(position >= 0, start + position, -1)
            start += len(kept)
        return found


@dataclass(frozen=True)
class Presence:
    """Which kinds occur in which graphs: one (graph, kind) entry for each kind that a graph has."""

    table: Table
    graph: Table
    kind: Table

    @classmethod
    def of(cls, kinds: Kinds, graph: Table) -> Presence:
        """Note the kinds of every graph."""
        width = max(len(kinds.table), 1)
        return cls(kinds.table, *np.divmod(_sorted_distinct(graph * width + kinds.of_each), width))

    def keep(self, n_levels: int, min_graphs: int) -> tuple[tuple[int, Table], ...]:
        """Keep at each level the kinds that at least `min_graphs` graphs show among what the finer levels left over."""
        kept = []
        graph, kind = self.graph, self.kind
        for level in range(n_levels):
            left, which = np.unique(kind, return_inverse=True)
            rows = _coarse(self.table[left], level)
            code = rows_to_codes(rows)
            n_codes = int(code.max(initial=-1)) + 1
            names = np.empty((n_codes, rows.shape[1]), dtype=np.int64)
            names[code] = rows
            of_entry = code[which.reshape(-1)]
            cells = _sorted_distinct(graph * max(n_codes, 1) + of_entry)
            enough = np.bincount(cells % max(n_codes, 1), minlength=n_codes)[:n_codes] >= min_graphs
            kept.append((level, names[enough]))
            rest = ~enough[of_entry]
            graph, kind = graph[rest], kind[rest]
        return tuple(kept)


# -- a survey of graphs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Survey:
    """What the graphs of a fit show, without any diffusion; surveys of disjoint sets of graphs merge exactly.

    ``on_cycle`` tells which edge kinds stand on an edge that is not a bridge somewhere; ``max_h0`` and ``max_h1`` are
    the lengths of the longest lists.
    """

    n_graphs: int
    max_h0: int
    max_h1: int
    nodes: Presence
    edges: Presence
    on_cycle: NDArray[np.bool_]
    node_values: NDArray[Any]
    edge_values: NDArray[Any]
    label_types: LabelTypes
    label_names: tuple[Mapping[Any, str], Mapping[Any, str]] = field(default=({}, {}))

    @classmethod
    def of(cls, batch: GraphBatch) -> Survey:
        """Survey one batch."""
        h0 = np.diff(batch.node_ptr) - component_counts(batch)
        nodes, edges = node_kinds(batch), edge_kinds(batch)
        on_cycle = np.zeros(len(edges.table), dtype=bool)
        on_cycle[edges.of_each[~bridges(batch)]] = True
        return cls(
            batch.n_graphs,
            int(h0.max(initial=0)),
            int((np.diff(batch.edge_ptr) - h0).max(initial=0)),
            Presence.of(nodes, batch.node_graph),
            Presence.of(edges, batch.edge_graph),
            on_cycle,
            edges.node_values,
            edges.edge_values,
            label_types(batch),
            (dict(batch.node_label_names or {}), dict(batch.edge_label_names or {})),
        )

    def merge(self, other: Survey) -> Survey:
        """Return the survey of both sets of graphs."""
        types = common_types(self.label_types, other.label_types)
        node_values = _union(self.node_values, other.node_values)
        edge_values = _union(self.edge_values, other.edge_values)
        moves = [
            (_moves(part.node_values, node_values), _moves(part.edge_values, edge_values)) for part in (self, other)
        ]
        nodes, _ = _merged(self.nodes, other.nodes, self.n_graphs, moves)
        edges, code = _merged(self.edges, other.edges, self.n_graphs, moves)
        on_cycle = np.zeros(len(edges.table), dtype=bool)
        on_cycle[code[np.concatenate([self.on_cycle, other.on_cycle])]] = True
        return Survey(
            self.n_graphs + other.n_graphs,
            max(self.max_h0, other.max_h0),
            max(self.max_h1, other.max_h1),
            nodes,
            edges,
            on_cycle,
            node_values,
            edge_values,
            types,
            ({**other.label_names[0], **self.label_names[0]}, {**other.label_names[1], **self.label_names[1]}),
        )

    def kept_nodes(self, min_graphs: int) -> KeptKinds:
        """Keep node kinds: (degree, label), then the label."""
        return KeptKinds(self.nodes.keep(2, min_graphs), self.node_values, self.edge_values)

    def kept_edges(self, min_graphs: int) -> KeptKinds:
        """Keep edge kinds: the finest, then labels without degrees, then the degree pair."""
        return KeptKinds(self.edges.keep(3, min_graphs), self.node_values, self.edge_values)

    def degree_pairs(self) -> KeptKinds:
        """Keep all degree pairs of edges, and nothing else."""
        pairs = np.unique(_coarse(self.edges.table, 2), axis=0)
        return KeptKinds(((2, pairs),), self.node_values, self.edge_values)


def _merged(
    first: Presence, second: Presence, n_graphs: int, moves: list[tuple[Table, Table]]
) -> tuple[Presence, Table]:
    """Lay two presences end to end in common codes; also return the new number of each old kind."""
    rows = np.vstack([_recoded(part.table, *move) for part, move in zip((first, second), moves, strict=True)])
    code = rows_to_codes(rows)
    table = np.empty((int(code.max(initial=-1)) + 1, rows.shape[1]), dtype=np.int64)
    table[code] = rows
    kind = np.concatenate([code[first.kind], code[len(first.table) + second.kind]])
    return Presence(table, np.concatenate([first.graph, second.graph + n_graphs]), kind), code


def label_types(batch: GraphBatch) -> LabelTypes:
    """Say what node labels and edge labels are: strings, integers or none; any where there is nothing to label."""

    def say(labels: NDArray[Any] | None, count: int) -> str:
        if count == 0:
            return "any"
        return "none" if labels is None else {"U": "strings", "i": "integers"}[labels.dtype.kind]

    return say(batch.node_labels, batch.n_nodes), say(batch.edge_labels, batch.n_edges)


def common_types(
    first: LabelTypes, second: LabelTypes, said: tuple[str, str] = ("some graphs have", "others have")
) -> LabelTypes:
    """Return label types that fit both; refuse if there are none."""
    for a, b in zip(first, second, strict=True):
        if a != b and "any" not in (a, b):
            raise GraphFormatError(
                f"{said[0]} node labels: {first[0]}, edge labels: {first[1]}; "
                f"{said[1]} node labels: {second[0]}, edge labels: {second[1]}: make them alike"
            )
    node, edge = (b if a == "any" else a for a, b in zip(first, second, strict=True))
    return node, edge


# -- what can be told of a graph without any height --------------------------------------------------------------------


def component_counts(batch: GraphBatch) -> NDArray[np.int64]:
    """Number of connected components of every graph; so #H0 = nodes - components, and #H1 = edges - #H0."""
    component = np.asarray(connected_components(batch.adjacency(), directed=False)[1])
    # a component's nodes lie in one graph, so its first node names it once
    first = np.unique(component, return_index=True)[1]
    return np.bincount(batch.node_graph[first], minlength=batch.n_graphs)


def bridges(batch: GraphBatch) -> NDArray[np.bool_]:
    """Tell the edges that lie on no cycle; they are H0 edges whatever the heights.

    A spanning tree is grown from one artificial root; every other edge then closes one cycle with the tree, whose tree
    edges are found by climbing from both ends to where they meet, all such edges side by side.
    """
    if batch.n_edges == 0:
        return np.zeros(0, dtype=bool)
    parent, depth = _spanning_tree(batch)
    u, v = batch.edges[:, 0], batch.edges[:, 1]
    in_tree = (parent[u] == v) | (parent[v] == u)
    on_cycle = np.zeros(len(parent), dtype=bool)  # of the tree edge from a node up to its parent
    a, b = u[~in_tree].astype(np.int64), v[~in_tree].astype(np.int64)
    while len(a):
        a_moves, b_moves = depth[a] >= depth[b], depth[b] >= depth[a]
        on_cycle[a[a_moves]] = on_cycle[b[b_moves]] = True
        a, b = np.where(a_moves, parent[a], a), np.where(b_moves, parent[b], b)
        apart = a != b
        a, b = a[apart], b[apart]
    lower_end = np.where(parent[u] == v, u, v)
    return np.asarray(in_tree & ~on_cycle[lower_end])


def _spanning_tree(batch: GraphBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parent and depth of every node in breadth-first trees, all hung under one extra node at the end."""
    n_nodes = batch.n_nodes
    adjacency = batch.adjacency()
    component = np.asarray(connected_components(adjacency, directed=False)[1])
    tops = np.unique(component, return_index=True)[1]
    hooks = coo_array((np.ones(len(tops)), (np.full(len(tops), n_nodes), tops)), shape=(n_nodes + 1, n_nodes + 1))
    grown = csr_array(
        (adjacency.data, adjacency.indices, np.append(adjacency.indptr, adjacency.indptr[-1])), shape=hooks.shape
    )
    parent = breadth_first_order(grown + hooks.tocsr(), n_nodes, directed=True)[1].astype(np.int64)
    parent[n_nodes] = n_nodes
    depth = (parent != np.arange(n_nodes + 1)).astype(np.int64)
    above = parent
    while (above != n_nodes).any():  # each round doubles how far `above` looks up
        depth = depth + depth[above]
        above = above[above]
    return parent, depth
