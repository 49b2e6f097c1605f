"""Heights of the edges, the tie rule, and the pass that tells deaths of components (H0) from births of cycles (H1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pwlr.errors import OptionError
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import Grid, random_walks, stationary, transition_matrix, weighted_degrees, wl_steps
from pwlr.method.features import EdgeWeights, edge_weights, node_features
from pwlr.method.kinds import edge_kinds

__all__ = [
    "TIE_TOL",
    "EventRow",
    "Prepared",
    "check_p",
    "heights",
    "prepare",
    "rows",
    "tie_order",
]

FloatArray = NDArray[np.float64]

TIE_TOL = 1e-9
"""Heights this close, relative to the largest node-feature norm, count as equal."""


@dataclass(frozen=True)
class EventRow:
    """What happens along the filtration: all k2 of one k1, for every edge of the batch.

    Attributes
    ----------
    k1 : int or infinity
    k2 : tuple of int or infinity
    heights : float64 array, shape (len(k2), n_edges)
        Height of every edge, by edge number.
    order : int32 array, shape (len(k2), n_edges)
        Within the edges of a graph, their numbers (over the whole batch) in the order in which they are added.
    closes_cycle : bool array, shape (len(k2), n_edges)
        By edge number: True for H1 (a cycle is born), False for H0 (a component dies).
    """

    k1: float
    k2: tuple[float, ...]
    heights: FloatArray
    order: NDArray[np.int32]
    closes_cycle: NDArray[np.bool_]


@dataclass(frozen=True)
class Prepared:
    """What a backend gets: the structure, the weights of A, X in compact form, and the rank of ties. No labels."""

    node_ptr: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: FloatArray
    edge_ptr: NDArray[np.int64]
    edges: NDArray[np.int32]
    column: NDArray[np.int32]
    n_columns: NDArray[np.int64]
    values: FloatArray
    tie_rank: NDArray[np.int32]


def prepare(batch: GraphBatch, features: str = "auto", weighting: EdgeWeights = "given") -> Prepared:
    """Turn a batch and its options into what the backends work on."""
    given = isinstance(weighting, str) and weighting == "given"
    X = node_features(batch, features)
    column, n_columns = X.compact(batch.node_ptr)
    return Prepared(
        batch.node_ptr,
        batch.indptr,
        batch.indices,
        batch.weights if given else edge_weights(batch, weighting)[batch.arc_edges],
        batch.edge_ptr,
        batch.edges,
        column,
        n_columns,
        np.empty((batch.n_nodes, 0)) if X.values is None else X.values,
        tie_rank(batch),
    )


def check_p(p: Any) -> float:
    """Bring the exponent of the height norm to a float of at least 1."""
    if isinstance(p, bool) or not isinstance(p, int | float | np.integer | np.floating) or not p >= 1:
        raise OptionError(f"p={p!r} is not a norm: give a number of at least 1, or infinity")
    return float(p)


# -- heights -----------------------------------------------------------------------------------------------------------


def p_norm(differences: FloatArray, p: float) -> FloatArray:
    """||row||_p of every row, added up column by column.

    NumPy's own row sums group columns by how many there are; here zero columns behind the last used one change no bit,
    so a graph has the same heights alone and in a batch.
    """
    size = np.abs(differences)
    total = np.zeros(len(size))
    if p == 1:
        for column in size.T:
            total += column
        return total
    largest = np.zeros(len(size))
    for column in size.T:
        np.maximum(largest, column, out=largest)
    if math.isinf(p):
        return largest
    scale = np.where(largest > 0, largest, 1.0)  # scaled, so that no power over- or underflows
    for column in size.T:
        total += (column / scale) ** p
    return np.asarray(largest * total ** (1.0 / p))


def heights(Y: FloatArray, edges: NDArray[np.int32], p: float) -> FloatArray:
    """h(u, v) = || Y[:, u] - Y[:, v] ||_p for every edge."""
    return p_norm(Y[edges[:, 0]] - Y[edges[:, 1]], p)


# -- the tie rule ------------------------------------------------------------------------------------------------------


def tie_rank(batch: GraphBatch) -> NDArray[np.int32]:
    """Rank of every edge inside a tie group: ascending degree pair, then ascending finest kind."""
    return edge_kinds(batch).of_each.astype(np.int32)


def tie_order(height: FloatArray, rank: NDArray[Any], tolerance: float) -> NDArray[np.int64]:
    """THE tie rule, for the edges of one graph: the order in which they are added.

    Heights that lie within `tolerance` of their neighbour in sorted order form one tie group. Groups go up by height;
    inside a group edges go by `rank` (degree pair, then finest kind), then height, then edge number. Ranks do not
    depend on how nodes are numbered, and edges of one rank are exchangeable, so by the matroid exchange property the H0
    edges of each rank are equally many in each group whatever the numbering: every sum by kind is an invariant.
    """
    by_height = np.argsort(height, kind="stable")
    gaps = np.diff(height[by_height], prepend=height[by_height[:1]])
    group = np.empty(len(height), dtype=np.int64)
    group[by_height] = np.cumsum(gaps > tolerance)
    return np.lexsort((height, rank, group))


def closing_edges(edges: NDArray[Any], order: NDArray[Any]) -> NDArray[np.bool_]:
    """Add the edges of one graph in order; tell which of them close a cycle (union-find)."""
    parent = {int(node): int(node) for node in edges.flat}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    closes = np.zeros(len(edges), dtype=bool)
    for edge in order:
        u, v = root(int(edges[edge, 0])), root(int(edges[edge, 1]))
        closes[edge] = u == v
        parent[u] = v
    return closes


# -- all together ------------------------------------------------------------------------------------------------------


def rows(work: Prepared, grid: Grid, *, p: float = 1.0, tie_tol: float = TIE_TOL) -> Iterator[EventRow]:
    """Yield the rows of the (k1, k2) grid: the method from X to its events, one k1 at a time."""
    M = transition_matrix(work.indptr, work.indices, work.weights)
    limit = stationary(M, weighted_degrees(work.indptr, work.indices, work.weights))
    k1_values = [k1 for k1, _ in grid.rows]
    for (k1, k2_values), Z in zip(grid.rows, wl_steps(M, _dense(work), k1_values, limit), strict=True):
        height = np.empty((len(k2_values), len(work.edges)))
        order = np.empty(height.shape, dtype=np.int32)
        closes = np.empty(height.shape, dtype=bool)
        for step, Y in enumerate(random_walks(M, Z, k2_values, limit)):
            height[step] = heights(Y, work.edges, p)
            norm = p_norm(Y, p)
            for first, last, start, stop in _spans(work):
                tolerance = tie_tol * norm[start:stop].max(initial=0.0)
                local = tie_order(height[step, first:last], work.tie_rank[first:last], tolerance)
                order[step, first:last] = first + local
                closes[step, first:last] = closing_edges(work.edges[first:last], local)
        yield EventRow(k1, k2_values, height, order, closes)


def _spans(work: Prepared) -> Iterator[tuple[int, int, int, int]]:
    """First and last edge, first and last node of every graph."""
    return zip(
        work.edge_ptr[:-1].tolist(),
        work.edge_ptr[1:].tolist(),
        work.node_ptr[:-1].tolist(),
        work.node_ptr[1:].tolist(),
        strict=True,
    )


def _dense(work: Prepared) -> FloatArray:
    """X with each graph's own columns to the left and zeros behind them."""
    n_nodes, n_values = work.values.shape
    X = np.zeros((n_nodes, int(work.n_columns.max(initial=0))))
    graph = np.repeat(np.arange(len(work.n_columns)), np.diff(work.node_ptr))
    coded = np.flatnonzero(work.column >= 0)
    X[coded, work.column[coded]] = 1.0
    first_value = work.n_columns[graph] - n_values
    X[np.arange(n_nodes)[:, None], first_value[:, None] + np.arange(n_values)] = work.values
    return X
