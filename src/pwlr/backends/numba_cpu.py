"""The method retold fast for the CPU: one kernel call a row of the (k1, k2) grid, all k2 inside, compiled by Numba.

The same meaning as `pwlr.method.filtration.rows`, which tells it plainly; the tie rule itself is defined there
(`tie_order`). What is different here is how the order is found. From one step to the next edges move little, so each
graph's last order is kept: where a look at neighbours shows that it still is THE order, nothing is sorted at all; else
an insertion sort mends it; only where groups of ties run into each other, or too much has moved, is the rule applied
from scratch. The H0 edges are found anew only when an H1 edge has overtaken an H0 edge that lies on a cycle: otherwise
every H1 edge still comes last on the cycle that it closed, so they are the same. All ways lead to the one order that
the rule defines, so no result depends on the way.

Every kernel stands in this file (Numba's cache does not see changes in other files). Kernels run without the GIL,
serial over the graphs of one shard, and use no fastmath. Node features stand in panels of four columns, each panel node
by node, zeros behind the last column: fixed strides, and adding zeros changes no bit.
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

_H0, _H1, _BRIDGE = 0, 1, 2
"""What an edge is: it joins components, closes a cycle, or lies on no cycle, so that it is H0 whatever the heights."""

_OVERTAKEN, _UNCLEAR, _GIVEN_UP = 1, 2, 4
"""What happened while an order was mended: an H1 edge overtook an H0 edge, ties lie close to others, much has moved."""

_NO_SIGN = (1 << 62) - 1
"""``index & _NO_SIGN`` tells the compiler that an index is not negative; else it asks each time, at half the speed."""

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
    ones: NDArray[np.float64]
    component: NDArray[np.uint32]  # where the first node of a node's component stands
    bridge: NDArray[np.bool_]
    joins: NDArray[np.int64]  # by graph: the number of H0 edges that are not bridges


# -- the door ----------------------------------------------------------------------------------------------------------


def rows(work: Prepared, grid: Grid, *, p: float = 1.0, tie_tol: float = TIE_TOL) -> Iterator[EventRow]:
    """Yield the rows of the (k1, k2) grid, as `pwlr.method.filtration.rows` does; see there."""
    shard = _shard(work)
    X = _panels(work, shard.panel_ptr)
    Z = X.copy()
    # Where sorting starts: as the edges come, then (each row renews it) with the order at the row's first k2.
    start = (np.arange(len(work.edges)) - np.repeat(work.edge_ptr[:-1], np.diff(work.edge_ptr))).astype(np.uint32)
    done = 0.0
    for k1, k2_values in grid.rows:
        if math.isinf(k1):
            Z, steps = X.copy(), _LIMIT
        else:
            steps, done = int(k1 - done), k1
        shape = len(k2_values), len(work.edges)
        height, order, closes = np.empty(shape), np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.bool_)
        events = height.reshape(-1), order.reshape(-1), closes.reshape(-1)
        _row(shard, steps, _strides(k2_values), float(p), float(tie_tol), Z, start, events)
        row = EventRow(k1, k2_values, height, order, closes)
        del height, order, closes, events  # so that a row that nobody keeps is gone before the next is made
        yield row
        del row


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
    roots = np.empty(component.max(initial=-1) + 1, dtype=np.int64)
    roots[component[::-1]] = np.arange(n_nodes)[::-1]  # of a component's nodes the first is written last, and stays
    components = np.diff(np.searchsorted(np.sort(roots), work.node_ptr))

    def place(nodes: NDArray[Any]) -> NDArray[np.uint32]:
        return np.asarray(4 * (nodes - first[nodes]), dtype=np.uint32)

    arc_ptr, back_near = M.indptr.astype(np.int64), place(Mt.indices)
    head, tail = place(work.edges[:, 0]), place(work.edges[:, 1])
    bridge = np.empty(len(work.edges), dtype=np.bool_)
    _find_bridges(_closed(work.node_ptr, work.edge_ptr, arc_ptr, back_near, head, tail), bridge)
    shard = _Shard(
        node_ptr=work.node_ptr,
        edge_ptr=work.edge_ptr,
        panel_ptr=np.concatenate([[0], np.cumsum(4 * ((work.n_columns + 3) // 4) * sizes)]),
        arc_ptr=arc_ptr,
        forth_near=place(M.indices),
        forth=M.data,
        back_near=back_near,
        back=Mt.data,
        head=head,
        tail=tail,
        rank=work.tie_rank,
        pi=pi,
        ones=np.ones(n_nodes),
        component=place(roots)[component],
        bridge=bridge,
        joins=sizes - components - np.diff(np.concatenate([[0], np.cumsum(bridge)])[work.edge_ptr]),
    )
    return _Shard(*_closed(*shard))


def _closed(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Views that are all read-only: Numba compiles anew for what is writable, and batches differ in that."""
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return tuple(views)


def _panels(work: Prepared, panel_ptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """X in panels: column c of node v of graph g stands at ``panel_ptr[g] + 4 (n (c // 4) + v) + c % 4``."""
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


# -- structure ---------------------------------------------------------------------------------------------------------


@_kernel
def _find_bridges(structure: Any, bridge: Any) -> None:
    """Mark the edges that lie on no cycle: a depth-first search finds no way round them.

    Of node v: `entered` says when the search came to it and `low` the earliest node that its subtree is joined to.
    """
    node_ptr, edge_ptr, arc_ptr, near, head, tail = structure
    n_nodes = node_ptr[-1]
    entered, low, above = np.zeros(n_nodes, np.int64), np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    pending = np.empty(n_nodes, np.int64)
    for v in range(n_nodes):
        pending[v] = arc_ptr[v]
    for g in range(len(node_ptr) - 1):
        first, clock = node_ptr[g], 1
        for top in range(first, node_ptr[g + 1]):
            if entered[top] > 0:
                continue
            entered[top], low[top], above[top] = clock, clock, -1
            clock += 1
            v = top
            while v >= 0:
                if pending[v] < arc_ptr[v + 1]:
                    u = first + (near[pending[v]] >> 2)
                    pending[v] += 1
                    if entered[u] == 0:
                        entered[u], low[u], above[u] = clock, clock, v
                        clock += 1
                        v = u
                    elif u != above[v]:
                        low[v] = min(low[v], entered[u])
                else:
                    if above[v] >= 0:
                        low[above[v]] = min(low[above[v]], low[v])
                    v = above[v]
        for e in range(edge_ptr[g], edge_ptr[g + 1]):
            u, v = first + (head[e] >> 2), first + (tail[e] >> 2)
            bridge[e] = (above[v] == u and low[v] == entered[v]) or (above[u] == v and low[u] == entered[u])


# -- diffusion ---------------------------------------------------------------------------------------------------------


@_kernel
def _multiply(shard: Any, g: Any, near: Any, values: Any, Y: Any, source: Any, target: Any) -> None:
    """Multiply the panels of one graph, at Y[source:], by M or M^T, as `near` and `values` say, to Y[target:]."""
    first, n = shard.node_ptr[g], shard.node_ptr[g + 1] - shard.node_ptr[g]
    for panel in range(0, shard.panel_ptr[g + 1] - shard.panel_ptr[g], max(4 * n, 1)):
        a = shard.arc_ptr[first] & _NO_SIGN
        for v in range(n):
            t0 = t1 = t2 = t3 = 0.0
            stop = shard.arc_ptr[first + v + 1] & _NO_SIGN
            while a < stop:
                there, value = (source + panel + near[a]) & _NO_SIGN, values[a]
                t0 += value * Y[there]
                t1 += value * Y[there + 1]
                t2 += value * Y[there + 2]
                t3 += value * Y[there + 3]
                a += 1
            here = (target + panel + 4 * v) & _NO_SIGN
            Y[here], Y[here + 1], Y[here + 2], Y[here + 3] = t0, t1, t2, t3


@_kernel
def _to_the_limit(shard: Any, g: Any, dealt: Any, taken: Any, Y: Any, source: Any, target: Any) -> None:
    """The same for M^inf: of every component the sum of taken_v Y_v, dealt out to each of its nodes v times dealt_v."""
    first, n = shard.node_ptr[g], shard.node_ptr[g + 1] - shard.node_ptr[g]
    for panel in range(0, shard.panel_ptr[g + 1] - shard.panel_ptr[g], max(4 * n, 1)):
        here, there = (source + panel) & _NO_SIGN, (target + panel) & _NO_SIGN
        for i in range(4 * n):
            Y[there + i] = 0.0
        # Sums stand at the first node of their component, which is met first on the way up and last on the way down.
        for c in range(4):
            for v in range(n):
                Y[there + shard.component[first + v] + c] += taken[first + v] * Y[here + 4 * v + c]
            for v in range(n - 1, -1, -1):
                Y[there + 4 * v + c] = dealt[first + v] * Y[there + shard.component[first + v] + c]


@_kernel
def _copy(count: Any, source: Any, begin: Any, target: Any, to: Any) -> None:
    """Copy `count` entries from source[begin:] to target[to:]; slices would take Numba seconds to compile."""
    begin, to = begin & _NO_SIGN, to & _NO_SIGN
    for i in range(count):
        target[to + i] = source[begin + i]


# -- heights -----------------------------------------------------------------------------------------------------------


@_kernel
def _heights_1(n: Any, m: Any, panels: Any, head: Any, tail: Any, Y: Any, now: Any, h: Any) -> Any:
    """Fill the heights of one graph's edges for p = 1 and return the largest norm of a node."""
    for e in range(m):
        total = 0.0
        for panel in range(panels):
            here = now + 4 * n * panel
            u, v = (here + head[e]) & _NO_SIGN, (here + tail[e]) & _NO_SIGN
            total += abs(Y[u] - Y[v])
            total += abs(Y[u + 1] - Y[v + 1])
            total += abs(Y[u + 2] - Y[v + 2])
            total += abs(Y[u + 3] - Y[v + 3])
        h[e] = total
    largest = 0.0
    for node in range(n):
        total = 0.0
        for panel in range(panels):
            u = (now + 4 * (n * panel + node)) & _NO_SIGN
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
def _heights_p(n: Any, m: Any, panels: Any, head: Any, tail: Any, Y: Any, now: Any, p: Any, h: Any) -> Any:
    """Fill the heights of one graph's edges for any p and return the largest norm of a node."""
    for e in range(m):
        h[e] = _p_norm(Y, now + head[e], now + tail[e], n, panels, p)
    largest = 0.0
    for u in range(now, now + 4 * n, 4):
        largest = max(largest, _p_norm(Y, u, np.int64(-1), n, panels, p))
    return largest


# -- the tie rule ------------------------------------------------------------------------------------------------------


@_kernel
def _in_order(x: Any, y: Any, rank: Any, h: Any) -> Any:
    """Tell whether x goes before y inside a tie group: by rank, then height, then number."""
    return (rank[x] < rank[y]) | ((rank[x] == rank[y]) & ((h[x] < h[y]) | ((h[x] == h[y]) & (x < y))))


@_kernel
def _mend(m: Any, rank: Any, h: Any, tolerance: Any, order: Any, closes: Any) -> Any:
    """Bring an order that is nearly right to the rule's by insertion; return what happened, a sum of the flags above.

    Neighbours are clearly right if they are far apart, or close and in order: ties so close keep every group narrower
    than the tolerance, and nothing bridges a gap of three tolerances. If all are, this is the order. Conditions stand
    without branches where a processor would often guess wrong.
    """
    far, close = 3.0 * tolerance, tolerance / m
    overtaken, unclear, budget = False, False, 8 * m + 64
    for i in range(1, m):
        x, y = order[i], order[i - 1]
        gap = h[x] - h[y]
        if (gap > far) | ((abs(gap) <= close) & _in_order(y, x, rank, h)):
            continue
        height, closing, j = h[x], closes[x] == _H1, i
        while j > 0:
            y = order[j - 1]
            gap = h[y] - height
            if gap <= tolerance and (gap < -tolerance or not _in_order(x, y, rank, h)):
                break
            overtaken |= closing & (closes[y] == _H0)
            order[j] = y
            j -= 1
        order[j] = x
        if j > 0:
            gap = height - h[order[j - 1]]
            unclear |= (gap <= far) & (abs(gap) > close)
        if j < i:
            gap = h[order[j + 1]] - height
            unclear |= (gap <= far) & (abs(gap) > close)
        budget -= i - j
        if budget < 0:
            return _GIVEN_UP
    return (_OVERTAKEN if overtaken else 0) + (_UNCLEAR if unclear else 0)


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
    first: Any = np.int64(0)  # plain constants would be compiled for apart, here and below
    _merge_sort(first, m, rank, h, np.bool_(False), order, spare)
    for i in range(1, m + 1):
        if i == m or h[order[i]] - h[order[i - 1]] > tolerance:
            if i - first > 1:
                _merge_sort(first, i, rank, h, np.bool_(True), order, spare)
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
def _add_edges(n: Any, m: Any, head: Any, tail: Any, joins: Any, order: Any, parent: Any, closes: Any) -> None:
    """Add the edges in order, but for bridges, and mark what closes a cycle: all of them after `joins` have joined."""
    for v in range(n):
        parent[v] = v
    for i in range(m):
        e = order[i]
        if closes[e] == _BRIDGE:
            continue
        if joins == 0:
            closes[e] = _H1
            continue
        one, other = _root(parent, head[e] >> 2), _root(parent, tail[e] >> 2)
        if one == other:
            closes[e] = _H1
        else:
            closes[e] = _H0
            joins -= 1
            parent[one] = other


# -- a row -------------------------------------------------------------------------------------------------------------


@_kernel
def _row(shard: Any, steps: Any, strides: Any, p: Any, tie_tol: Any, Z: Any, start: Any, events: Any) -> None:
    """Walk all k2 of one k1, graph by graph, and fill heights, orders and flags; Z and `start` are read and renewed.

    Long, because taking the steps in a function of its own nearly doubles the time of everything (Numba 0.68).
    """
    heights, orders, flags = events
    largest, most_nodes, most_edges = 0, 0, 0
    for g in range(len(shard.joins)):
        largest = max(largest, shard.panel_ptr[g + 1] - shard.panel_ptr[g])
        most_nodes = max(most_nodes, shard.node_ptr[g + 1] - shard.node_ptr[g])
        most_edges = max(most_edges, shard.edge_ptr[g + 1] - shard.edge_ptr[g])
    Y, h = np.empty(2 * largest), np.empty(most_edges)
    parent, closes = np.empty(most_nodes, np.uint32), np.empty(most_edges, np.uint8)
    order, spare = np.empty(most_edges, np.uint32), np.empty(most_edges, np.uint32)
    for g in range(len(shard.joins)):
        n, m = shard.node_ptr[g + 1] - shard.node_ptr[g], shard.edge_ptr[g + 1] - shard.edge_ptr[g]
        if m == 0:
            continue
        edge, place, size = shard.edge_ptr[g], shard.panel_ptr[g], shard.panel_ptr[g + 1] - shard.panel_ptr[g]
        panels, now = size // (4 * n), np.int64(0)
        rank, head, tail = shard.rank[edge : edge + m], shard.head[edge : edge + m], shard.tail[edge : edge + m]
        _copy(size, Z, place, Y, now)
        if steps == _LIMIT:
            _to_the_limit(shard, g, shard.ones, shard.pi, Y, now, size - now)
            now = size - now
        for _ in range(steps):
            _multiply(shard, g, shard.forth_near, shard.forth, Y, now, size - now)
            now = size - now
        _copy(size, Y, now, Z, place)
        for e in range(m):
            order[e], closes[e] = start[edge + e], _BRIDGE if shard.bridge[edge + e] else _H0
        for k in range(len(strides)):
            if strides[k] == _LIMIT:
                _copy(size, Z, place, Y, now)
                _to_the_limit(shard, g, shard.pi, shard.ones, Y, now, size - now)
                now = size - now
            for _ in range(strides[k]):
                _multiply(shard, g, shard.back_near, shard.back, Y, now, size - now)
                now = size - now
            if p == 1.0:
                norm = _heights_1(n, m, panels, head, tail, Y, now, h)
            else:
                norm = _heights_p(n, m, panels, head, tail, Y, now, p, h)
            if _find_order(m, rank, h, tie_tol * norm, order, spare, closes) or k == 0:
                _add_edges(n, m, head, tail, shard.joins[g], order, parent, closes)
            base = (k * len(start) + edge) & _NO_SIGN
            for i in range(m):
                heights[base + i] = h[i]
                orders[base + i] = edge + order[i]
                flags[base + i] = closes[i] == _H1
            if k == 0:
                for i in range(m):
                    start[edge + i] = order[i]
