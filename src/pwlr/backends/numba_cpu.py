"""The method retold fast for the CPU: one kernel call a row of the (k1, k2) grid, all k2 inside, JIT-compiled by Numba.

The same meaning as `pwlr.method.filtration.rows`, which tells it plainly; the tie rule itself is defined there
(`tie_order`). What is different here is how the order is found. From one step to the next edges move little, so each
graph's last order is kept: where a look at neighbours shows that it still is THE order, nothing is sorted at all; else an
insertion sort mends it; and only where groups of ties run into each other, or too much has moved, the rule is applied
from scratch. The H0 edges are found anew only when an edge that closed a cycle has overtaken one that did not:
otherwise every cycle still closes last, so they are the same. All ways lead to the one order that the rule defines, so
no result depends on the way.

Every kernel stands in this file (Numba's cache does not see changes in other files). Kernels run without the GIL, serial
over the graphs of one shard, and use no fastmath. Node features stand in panels of four columns, each panel node by node,
zeros behind the last column: fixed strides, and adding zeros changes no bit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pwlr.method.diffusion import Grid, stationary, transition_matrix, weighted_degrees
from pwlr.method.filtration import TIE_TOL, EventRow, Prepared

__all__ = ["rows"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_CACHE = os.environ.get("PWLR_NUMBA_CACHE", "1").lower() not in {"0", "false", "no", "off"}

_OVERTAKEN, _UNCLEAR, _GIVEN_UP = 1, 2, 4
"""What happened while an order was mended: an H1 edge overtook an H0 edge, ties lie close to others, much has moved."""

_NO_SIGN = (1 << 62) - 1
"""``index & _NO_SIGN`` tells the compiler that an index is not negative: counting from the end costs it twice the time."""

_LIMIT = -1
"""What stands for infinitely many steps inside kernels."""


def _kernel(function: _Function) -> _Function:
    return cast("_Function", njit(nogil=True, cache=_CACHE, error_model="numpy", boundscheck=False)(function))


class _Shard(NamedTuple):
    """What all rows share; positions of nodes and edges are local to their graph, node positions times 4."""

    node_ptr: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]
    panel_ptr: NDArray[np.int64]  # where the panels of each graph begin in X and Z
    arc_ptr: NDArray[np.int64]  # by node: its entries in M, its own among them; the same for M^T
    forth_near: NDArray[np.uint32]  # by entry of M: where that neighbour stands
    forth: NDArray[np.float64]
    back_near: NDArray[np.uint32]  # the same for M^T
    back: NDArray[np.float64]
    head: NDArray[np.uint32]  # by edge: where its ends stand
    tail: NDArray[np.uint32]
    rank: NDArray[np.int32]
    pi: NDArray[np.float64]
    component: NDArray[np.uint32]  # where the first node of a node's component stands
    trees: NDArray[np.int64]  # by graph: the number of H0 edges, nodes less components


# -- the door ----------------------------------------------------------------------------------------------------------


def rows(work: Prepared, grid: Grid, *, p: float = 1.0, tie_tol: float = TIE_TOL) -> Iterator[EventRow]:
    """Yield the rows of the (k1, k2) grid, as `pwlr.method.filtration.rows` does; see there."""
    shard = _shard(work)
    X = _panels(work, shard.panel_ptr)
    Z = X.copy()
    graph = np.repeat(np.arange(len(work.edge_ptr) - 1), np.diff(work.edge_ptr))
    # Where sorting starts from: before the first row by rank, then the order at the first k2 of the row before.
    start = (np.lexsort((work.tie_rank, graph)) - work.edge_ptr[graph]).astype(np.uint32)
    done = 0.0
    for k1, k2_values in grid.rows:
        if math.isinf(k1):
            Z, steps = X.copy(), _LIMIT
        else:
            steps, done = int(k1 - done), k1
        shape = len(k2_values), len(work.edges)
        height, order, closes = np.empty(shape), np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.bool_)
        flat = height.reshape(-1), order.reshape(-1), closes.reshape(-1)
        _row(shard, steps, _strides(k2_values), float(p), float(tie_tol), Z, start, *flat)
        yield EventRow(k1, k2_values, height, order, closes)


def _strides(k2_values: tuple[float, ...]) -> NDArray[np.int64]:
    """Random-walk steps from each k2 to the next."""
    strides, done = np.empty(len(k2_values), dtype=np.int64), 0.0
    for i, k2 in enumerate(k2_values):
        strides[i] = _LIMIT if math.isinf(k2) else int(k2 - done)
        done = k2
    return strides


def _shard(work: Prepared) -> _Shard:
    """Bring the structure into the kernels' form; M and pi are the plain telling's, bit for bit."""
    sizes, n_nodes = np.diff(work.node_ptr), len(work.indptr) - 1
    first = np.repeat(work.node_ptr[:-1], sizes)
    M = transition_matrix(work.indptr, work.indices, work.weights)
    Mt = M.T.tocsr()
    component, pi = stationary(M, weighted_degrees(work.indptr, work.indices, work.weights))
    roots = np.unique(component, return_index=True)[1]
    components = np.diff(np.searchsorted(np.sort(roots), work.node_ptr))

    def place(nodes: NDArray[Any]) -> NDArray[np.uint32]:
        return np.asarray(4 * (nodes - first[nodes]), dtype=np.uint32)

    shard = _Shard(
        node_ptr=work.node_ptr,
        edge_ptr=work.edge_ptr,
        panel_ptr=np.concatenate([[0], np.cumsum(4 * ((work.n_columns + 3) // 4) * sizes)]),
        arc_ptr=M.indptr.astype(np.int64),
        forth_near=place(M.indices),
        forth=M.data,
        back_near=place(Mt.indices),
        back=Mt.data,
        head=place(work.edges[:, 0]),
        tail=place(work.edges[:, 1]),
        rank=work.tie_rank,
        pi=pi,
        component=place(roots)[component] if n_nodes else place(roots),
        trees=sizes - components,
    )
    return _Shard(*map(_closed, shard))


def _closed(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: Numba compiles anew for what is writable, and batches differ in that."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _panels(work: Prepared, panel_ptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """X in panels of four columns; of graph g, column c of its node v stands at ``panel_ptr[g] + 4 (n (c // 4) + v) + c % 4``."""
    X = np.zeros(panel_ptr[-1])
    sizes = np.diff(work.node_ptr)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    place = panel_ptr[graph] + 4 * (np.arange(len(graph)) - work.node_ptr[graph])

    def fill(nodes: NDArray[Any], column: NDArray[Any], values: Any) -> None:
        X[place[nodes] + 4 * sizes[graph[nodes]] * (column // 4) + column % 4] = values

    coded = np.flatnonzero(work.column >= 0)
    fill(coded, work.column[coded].astype(np.int64), 1.0)
    n_values = work.values.shape[1]
    for i in range(n_values):
        fill(np.arange(len(graph)), work.n_columns[graph] - n_values + i, work.values[:, i])
    return X


# -- diffusion ---------------------------------------------------------------------------------------------------------


@_kernel
def _multiply(shard: Any, g: Any, near: Any, values: Any, Y: Any, T: Any) -> None:
    """Y = M Y for the panels of one graph, or Y = M^T Y, as `near` and `values` say; T is scratch."""
    first, n = shard.node_ptr[g], shard.node_ptr[g + 1] - shard.node_ptr[g]
    size = shard.panel_ptr[g + 1] - shard.panel_ptr[g]
    for panel in range(0, size, max(4 * n, 1)):
        a = shard.arc_ptr[first] & _NO_SIGN
        for v in range(n):
            t0 = t1 = t2 = t3 = 0.0
            stop = shard.arc_ptr[first + v + 1] & _NO_SIGN
            while a < stop:
                there, value = (panel + near[a]) & _NO_SIGN, values[a]
                t0 += value * Y[there]
                t1 += value * Y[there + 1]
                t2 += value * Y[there + 2]
                t3 += value * Y[there + 3]
                a += 1
            here = (panel + 4 * v) & _NO_SIGN
            T[here], T[here + 1], T[here + 2], T[here + 3] = t0, t1, t2, t3
    for i in range(size):
        Y[i] = T[i]


@_kernel
def _to_the_limit(shard: Any, g: Any, walk: Any, Y: Any, sums: Any) -> None:
    """Y^T M^inf (walk) or M^inf Y of one graph, in place: by component, its sum dealt out by pi, or its mean by pi."""
    first, n = shard.node_ptr[g], shard.node_ptr[g + 1] - shard.node_ptr[g]
    for panel in range(0, shard.panel_ptr[g + 1] - shard.panel_ptr[g], max(4 * n, 1)):
        for i in range(4 * n):
            sums[i] = 0.0
        for v in range(n):
            for c in range(4):
                value = Y[panel + 4 * v + c]
                sums[shard.component[first + v] + c] += value if walk else shard.pi[first + v] * value
        for v in range(n):
            for c in range(4):
                value = sums[shard.component[first + v] + c]
                Y[panel + 4 * v + c] = shard.pi[first + v] * value if walk else value


@_kernel
def _copy(count: Any, source: Any, begin: Any, target: Any) -> None:
    """target[:count] = source[begin : begin + count]; slices would take Numba seconds to compile."""
    for i in range(count):
        target[i] = source[(begin + i) & _NO_SIGN]


@_kernel
def _wl_steps(shard: Any, g: Any, steps: Any, Z: Any, Y: Any, T: Any) -> None:
    """Z = M^steps Z for the panels of one graph; Y and T are scratch."""
    first, size = shard.panel_ptr[g], shard.panel_ptr[g + 1] - shard.panel_ptr[g]
    _copy(size, Z, first, Y)
    if steps == _LIMIT:
        _to_the_limit(shard, g, False, Y, T)
    for _ in range(steps):
        _multiply(shard, g, shard.forth_near, shard.forth, Y, T)
    for i in range(size):
        Z[(first + i) & _NO_SIGN] = Y[i]


# -- heights -----------------------------------------------------------------------------------------------------------


@_kernel
def _heights_1(n: Any, m: Any, panels: Any, head: Any, tail: Any, Y: Any, h: Any) -> Any:
    """Fill the heights of one graph's edges for p = 1 and return the largest norm of a node."""
    for e in range(m):
        total = 0.0
        for panel in range(panels):
            u, v = (4 * n * panel + head[e]) & _NO_SIGN, (4 * n * panel + tail[e]) & _NO_SIGN
            total += abs(Y[u] - Y[v])
            total += abs(Y[u + 1] - Y[v + 1])
            total += abs(Y[u + 2] - Y[v + 2])
            total += abs(Y[u + 3] - Y[v + 3])
        h[e] = total
    largest = 0.0
    for node in range(n):
        total = 0.0
        for panel in range(panels):
            u = (4 * (n * panel + node)) & _NO_SIGN
            total = total + abs(Y[u]) + abs(Y[u + 1]) + abs(Y[u + 2]) + abs(Y[u + 3])
        largest = max(largest, total)
    return largest


@_kernel
def _p_norm(Y: Any, u: Any, v: Any, n: Any, panels: Any, p: Any) -> Any:
    """|| Y[:, u] - Y[:, v] ||_p, or || Y[:, u] ||_p for v = -1; scaled, so that no power over- or underflows."""
    largest = 0.0
    for panel in range(0, 4 * n * panels, 4 * n):
        for c in range(panel, panel + 4):
            largest = max(largest, abs(Y[c + u] - Y[c + v] if v >= 0 else Y[c + u]))
    if p == np.inf or largest == 0.0:
        return largest
    total = 0.0
    for panel in range(0, 4 * n * panels, 4 * n):
        for c in range(panel, panel + 4):
            share = abs(Y[c + u] - Y[c + v] if v >= 0 else Y[c + u]) / largest
            total += share * share if p == 2.0 else share**p
    return largest * (math.sqrt(total) if p == 2.0 else total ** (1.0 / p))


@_kernel
def _heights_p(n: Any, m: Any, panels: Any, head: Any, tail: Any, Y: Any, p: Any, h: Any) -> Any:
    """Fill the heights of one graph's edges for any p and return the largest norm of a node."""
    for e in range(m):
        h[e] = _p_norm(Y, np.int64(head[e]), np.int64(tail[e]), n, panels, p)
    largest = 0.0
    for u in range(0, 4 * n, 4):
        largest = max(largest, _p_norm(Y, u, -1, n, panels, p))
    return largest


# -- the tie rule ------------------------------------------------------------------------------------------------------


@_kernel
def _in_order(x: Any, y: Any, rank: Any, h: Any) -> Any:
    """Tell whether x goes before y inside a tie group: by rank, then height, then number."""
    return (rank[x] < rank[y]) | ((rank[x] == rank[y]) & ((h[x] < h[y]) | ((h[x] == h[y]) & (x < y))))


@_kernel
def _mend(m: Any, rank: Any, h: Any, tolerance: Any, order: Any, closes: Any) -> Any:
    """Bring an order that is nearly right to the rule's by insertion; return what happened, a sum of the flags below.

    Neighbours are clearly right if they are far apart, or close and in order: ties so close keep every group narrower
    than the tolerance, and nothing bridges a gap of three tolerances. If all are, this is the order.
    """
    far, close = 3.0 * tolerance, tolerance / m
    happened, budget = 0, 8 * m + 64
    for i in range(1, m):
        x, y = order[i], order[i - 1]
        gap = h[x] - h[y]
        if (gap > far) | ((abs(gap) <= close) & _in_order(y, x, rank, h)):
            continue
        height, j = h[x], i
        while j > 0:
            y = order[j - 1]
            gap = h[y] - height
            if gap < -tolerance or (gap <= tolerance and not _in_order(x, y, rank, h)):
                break
            happened |= closes[x] & ~closes[y]
            order[j] = y
            j -= 1
        order[j] = x
        if j > 0:
            gap = height - h[order[j - 1]]
            if not (gap > far or abs(gap) <= close):
                happened |= _UNCLEAR
        if j < i:
            gap = h[order[j + 1]] - height
            if not (gap > far or abs(gap) <= close):
                happened |= _UNCLEAR
        budget -= i - j
        if budget < 0:
            return happened | _GIVEN_UP
    return happened


@_kernel
def _groups_are_clear(m: Any, h: Any, tolerance: Any, order: Any) -> Any:
    """Tell whether runs of neighbours within the tolerance are the rule's groups: narrow, and wide apart."""
    low = high = h[order[0]]
    below = -np.inf
    for i in range(1, m):
        height = h[order[i]]
        if height - high > tolerance:
            low, high, below = height, height, high
        else:
            low, high = min(low, height), max(high, height)
            if not (high - low <= tolerance and low - below > tolerance):
                return False
    return True


@_kernel
def _merge_sort(first: Any, last: Any, rank: Any, h: Any, grouped: Any, order: Any, spare: Any) -> None:
    """Sort order[first:last] by height, or (grouped) by the order inside a tie group."""
    for start in range(first, last, 8):
        for i in range(start + 1, min(start + 8, last)):
            x, j = order[i], i
            while j > start:
                y = order[j - 1]
                if not (_in_order(x, y, rank, h) if grouped else h[x] < h[y]):
                    break
                order[j] = y
                j -= 1
            order[j] = x
    width = 8
    while width < last - first:
        for start in range(first, last - width, 2 * width):
            middle, stop = start + width, min(start + 2 * width, last)
            for i in range(start, middle):
                spare[i] = order[i]
            i, j, k = start, middle, start
            while i < middle and j < stop:
                x, y = spare[i], order[j]
                if _in_order(y, x, rank, h) if grouped else h[y] < h[x]:
                    order[k] = y
                    j += 1
                else:
                    order[k] = x
                    i += 1
                k += 1
            while i < middle:
                order[k] = spare[i]
                i += 1
                k += 1
        width *= 2


@_kernel
def _tie_order(m: Any, rank: Any, h: Any, tolerance: Any, order: Any, spare: Any) -> None:
    """Apply the tie rule from scratch: sort by height, cut into groups, sort every group."""
    _merge_sort(0, m, rank, h, False, order, spare)
    first = 0
    for i in range(1, m + 1):
        if i == m or h[order[i]] - h[order[i - 1]] > tolerance:
            if i - first > 1:
                _merge_sort(first, i, rank, h, True, order, spare)
            first = i


@_kernel
def _find_order(m: Any, rank: Any, h: Any, tolerance: Any, order: Any, spare: Any, closes: Any) -> Any:
    """Bring `order` to the rule's; return whether the H0 edges may be others than before."""
    happened = _mend(m, rank, h, tolerance, order, closes)
    if happened & _GIVEN_UP or (happened & _UNCLEAR and not _groups_are_clear(m, h, tolerance, order)):
        _tie_order(m, rank, h, tolerance, order, spare)
        return True
    return happened & _OVERTAKEN != 0


@_kernel
def _root(parent: Any, node: Any) -> Any:
    """Return the representative of a node, halving the path to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@_kernel
def _add_edges(n: Any, m: Any, head: Any, tail: Any, trees: Any, order: Any, parent: Any, closes: Any) -> None:
    """Add the edges in order and mark those that close a cycle; once all components are joined, all do."""
    for v in range(n):
        parent[v] = v
    missing = trees
    for i in range(m):
        e = order[i]
        if missing == 0:
            closes[e] = 1
            continue
        one, other = _root(parent, head[e] >> 2), _root(parent, tail[e] >> 2)
        if one == other:
            closes[e] = 1
        else:
            closes[e] = 0
            missing -= 1
            parent[one] = other


# -- a row -------------------------------------------------------------------------------------------------------------


@_kernel
def _row(
    shard: Any,
    steps: Any,
    strides: Any,
    p: Any,
    tie_tol: Any,
    Z: Any,
    start: Any,
    heights: Any,
    orders: Any,
    closing: Any,
) -> None:
    """Walk all k2 of one k1, graph by graph, and fill heights, orders and flags; Z and `start` are read and renewed."""
    largest, most_nodes, most_edges = 0, 0, 0
    for g in range(len(shard.trees)):
        largest = max(largest, shard.panel_ptr[g + 1] - shard.panel_ptr[g])
        most_nodes = max(most_nodes, shard.node_ptr[g + 1] - shard.node_ptr[g])
        most_edges = max(most_edges, shard.edge_ptr[g + 1] - shard.edge_ptr[g])
    Y, T, h = np.empty(largest), np.empty(max(largest, 4 * most_nodes)), np.empty(most_edges)
    parent, closes = np.empty(most_nodes, np.uint32), np.empty(most_edges, np.uint8)
    order, spare = np.empty(most_edges, np.uint32), np.empty(most_edges, np.uint32)
    for g in range(len(shard.trees)):
        n, m = shard.node_ptr[g + 1] - shard.node_ptr[g], shard.edge_ptr[g + 1] - shard.edge_ptr[g]
        if m == 0:
            continue
        _wl_steps(shard, g, steps, Z, Y, T)
        edge, size = shard.edge_ptr[g], shard.panel_ptr[g + 1] - shard.panel_ptr[g]
        rank, head, tail = shard.rank[edge : edge + m], shard.head[edge : edge + m], shard.tail[edge : edge + m]
        for e in range(m):
            order[e], closes[e] = start[edge + e], 0
        for k in range(len(strides)):
            if strides[k] == _LIMIT:
                _copy(size, Z, shard.panel_ptr[g], Y)
                _to_the_limit(shard, g, True, Y, T)
            for _ in range(strides[k]):
                _multiply(shard, g, shard.back_near, shard.back, Y, T)
            panels = size // (4 * n)
            norm = (
                _heights_1(n, m, panels, head, tail, Y, h)
                if p == 1.0
                else _heights_p(n, m, panels, head, tail, Y, p, h)
            )
            if _find_order(m, rank, h, tie_tol * norm, order, spare, closes) or k == 0:
                _add_edges(n, m, head, tail, shard.trees[g], order, parent, closes)
            base = (k * len(start) + edge) & _NO_SIGN
            for i in range(m):
                heights[base + i] = h[i]
                orders[base + i] = edge + order[i]
                closing[base + i] = closes[i] != 0
            if k == 0:
                for i in range(m):
                    start[edge + i] = order[i]
