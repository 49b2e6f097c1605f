"""From raw edges, labels and attributes to what a `GraphBatch` holds: the checks at the door, and the mending."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pwlr.errors import GraphFormatError, OptionError

__all__ = ["MAX_NODES", "REPAIRS", "Arcs", "Listing", "as_attributes", "as_labels", "csr_of_edges"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Listing = Literal["once", "both ways"]

REPAIRS = ("drop-self-loops", "drop-zero-weights", "merge-duplicates", "mirror-one-way")
"""What the doors can mend when asked by ``repair=``; everything else that is wrong is refused.

``drop-self-loops`` and ``drop-zero-weights`` leave such edges out; ``merge-duplicates`` keeps the first of several
edges between the same two nodes; ``mirror-one-way`` adds the missing direction where a format lists both.
"""

MAX_NODES = np.iinfo(np.int32).max
"""More nodes than this go into several batches."""


@dataclass(frozen=True)
class Arcs:
    """Edges on their way into a batch, with what they carry; nodes are numbered over the whole batch."""

    node_ptr: IntArray
    sources: IntArray
    targets: IntArray
    weights: FloatArray | None
    labels: NDArray[Any] | None
    attributes: FloatArray | None

    def settled(self, listed: Listing, repair: Collection[str]) -> Arcs:
        """Check, mend where asked, and sort: every edge once, low node first, in ascending order."""
        unknown = set(repair) - set(REPAIRS)
        if isinstance(repair, str) or unknown:
            wanted = repair if isinstance(repair, str) else sorted(unknown)[0]
            raise OptionError(f"repair={wanted!r} is not known: give a list of {', '.join(map(repr, REPAIRS))}")
        return _one_per_edge(_drop_or_refuse(self, frozenset(repair)), listed, frozenset(repair))

    def pick(self, chosen: NDArray[Any]) -> Arcs:
        """Keep some of the arcs, in the given order."""
        return dataclasses.replace(
            self,
            sources=self.sources[chosen],
            targets=self.targets[chosen],
            weights=None if self.weights is None else self.weights[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            attributes=None if self.attributes is None else self.attributes[chosen],
        )

    def refuse(self, arc: int, complaint: str) -> NoReturn:
        """Refuse an arc by the number of its graph and of its nodes inside that graph."""
        source, target = int(self.sources[arc]), int(self.targets[arc])
        graph = int(np.searchsorted(self.node_ptr, min(source, target), side="right")) - 1
        start = int(self.node_ptr[graph])
        raise GraphFormatError(f"graph {graph}: edge ({source - start}, {target - start}) {complaint}")


def _drop_or_refuse(arcs: Arcs, repair: frozenset[str]) -> Arcs:
    """Node numbers in range, no edge across graphs, finite positive weights, no self loops."""
    n_nodes = int(arcs.node_ptr[-1])
    if n_nodes > MAX_NODES:
        raise GraphFormatError(f"{n_nodes} nodes are more than one batch holds ({MAX_NODES}): split it into several")
    for what, values in (("weights", arcs.weights), ("edge labels", arcs.labels), ("attributes", arcs.attributes)):
        if values is not None and len(values) != len(arcs.sources):
            raise GraphFormatError(f"{len(values)} {what} for {len(arcs.sources)} edges: give one for each edge")
    if len(arcs.sources) == 0:
        return arcs
    _check_ends(arcs, n_nodes)
    return _without_loops(_without_zero_weights(arcs, repair), repair)


def _check_ends(arcs: Arcs, n_nodes: int) -> None:
    """Refuse node numbers that do not exist and edges that leave their graph."""
    low, high = np.minimum(arcs.sources, arcs.targets), np.maximum(arcs.sources, arcs.targets)
    if low.min() < 0 or high.max() >= n_nodes:
        arc = int(np.flatnonzero((low < 0) | (high >= n_nodes))[0])
        raise GraphFormatError(
            f"edge ({arcs.sources[arc]}, {arcs.targets[arc]}) names a node out of range: "
            f"the batch has nodes 0 to {n_nodes - 1}"
        )
    graph_of = np.repeat(np.arange(len(arcs.node_ptr) - 1), np.diff(arcs.node_ptr))
    across = graph_of[low] != graph_of[high]
    if across.any():
        arc = int(np.flatnonzero(across)[0])
        first, second = graph_of[arcs.sources[arc]], graph_of[arcs.targets[arc]]
        raise GraphFormatError(
            f"edge ({arcs.sources[arc]}, {arcs.targets[arc]}) joins graph {first} and graph {second}: "
            "an edge must stay inside one graph"
        )


def _without_zero_weights(arcs: Arcs, repair: frozenset[str]) -> Arcs:
    """Refuse weights that no walk can have; drop zeros if asked to."""
    if arcs.weights is None:
        return arcs
    bad = ~np.isfinite(arcs.weights) | (arcs.weights < 0)
    if bad.any():
        arc = int(np.flatnonzero(bad)[0])
        arcs.refuse(arc, f"has weight {arcs.weights[arc]}: weights must be finite and positive")
    zero = arcs.weights == 0
    if not zero.any():
        return arcs
    if "drop-zero-weights" not in repair:
        arcs.refuse(int(np.flatnonzero(zero)[0]), "has weight 0: leave it out or pass repair=['drop-zero-weights']")
    return arcs.pick(~zero)


def _without_loops(arcs: Arcs, repair: frozenset[str]) -> Arcs:
    loops = arcs.sources == arcs.targets
    if not loops.any():
        return arcs
    if "drop-self-loops" not in repair:
        arcs.refuse(int(np.flatnonzero(loops)[0]), "is a self loop: leave it out or pass repair=['drop-self-loops']")
    return arcs.pick(~loops)


def _one_per_edge(arcs: Arcs, listed: str, repair: frozenset[str]) -> Arcs:
    """Sort, settle duplicates and directions: every edge once, low node first, in ascending order."""
    if len(arcs.sources) == 0:
        return arcs
    if listed == "both ways":
        mirror = _mirrors(arcs)
        if mirror is not None:
            forward = np.flatnonzero(arcs.sources < arcs.targets)
            _check_agreement(arcs, forward, mirror[forward])
            return arcs.pick(forward)
    low, high = np.minimum(arcs.sources, arcs.targets), np.maximum(arcs.sources, arcs.targets)
    pair = low * int(arcs.node_ptr[-1]) + high
    backward = arcs.sources > arcs.targets
    key = pair * 2 + backward if listed == "both ways" else pair
    order = np.argsort(key, kind="stable")  # TU files come in ascending runs, which a merge sort uses
    key = key[order]
    repeated = np.flatnonzero(key[1:] == key[:-1]) + 1
    if len(repeated):
        if "merge-duplicates" not in repair:
            arcs.refuse(
                int(order[repeated[0]]),
                "is there more than once: keep one (or sum the weights), or pass repair=['merge-duplicates']",
            )
        order = np.delete(order, repeated)
    if listed == "both ways":
        order = _mirrored(arcs, pair, order, repair)
    arcs = arcs.pick(order)
    return dataclasses.replace(
        arcs, sources=np.minimum(arcs.sources, arcs.targets), targets=np.maximum(arcs.sources, arcs.targets)
    )


def _mirrors(arcs: Arcs) -> IntArray | None:
    """Where the mirror of every arc is, if the arcs come sorted and each has one; linear, the case of most files."""
    n_nodes = int(arcs.node_ptr[-1])
    key = arcs.sources * n_nodes + arcs.targets
    if not (key[1:] > key[:-1]).all():
        return None
    indptr = _row_pointer(arcs.sources, n_nodes)
    there = sp.csr_array((np.arange(len(key)), arcs.targets, indptr), shape=(n_nodes, n_nodes))
    back = there.T.tocsr()
    same = np.array_equal(back.indptr, indptr) and np.array_equal(back.indices, arcs.targets)
    return back.data.astype(np.int64) if same else None


def _mirrored(arcs: Arcs, pair: IntArray, order: IntArray, repair: frozenset[str]) -> IntArray:
    """Check that each edge stands there both ways with the same values; return one arc of each."""
    pair = pair[order]
    starts = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
    lonely = np.diff(np.r_[starts, len(pair)]) == 1
    if lonely.any() and "mirror-one-way" not in repair:
        arc = int(order[starts[np.flatnonzero(lonely)[0]]])
        arcs.refuse(arc, "goes one way only: add its mirror or pass repair=['mirror-one-way']")
    _check_agreement(arcs, order[starts[~lonely]], order[starts[~lonely] + 1])
    return order[starts]


def _check_agreement(arcs: Arcs, first: IntArray, second: IntArray) -> None:
    """Refuse edges that carry one thing there and another back."""
    for what, values in (("weight", arcs.weights), ("label", arcs.labels), ("attributes", arcs.attributes)):
        if values is None:
            continue
        differs = values[first] != values[second]
        if differs.ndim == 2:
            differs = differs.any(axis=1)
        if differs.any():
            position = int(np.flatnonzero(differs)[0])
            there, back = values[first[position]], values[second[position]]
            arcs.refuse(int(first[position]), f"has {what} {there} one way and {back} the other: they must agree")


def csr_of_edges(edges: NDArray[np.int32], n_nodes: int) -> tuple[IntArray, NDArray[np.int32], IntArray]:
    """Neighbour lists of sorted edges, and the edge behind every entry; linear time."""
    # SciPy adds sparse matrices in linear time and keeps rows sorted; edge numbers travel as data, from 1.
    upper = sp.csr_array(
        (
            np.arange(1, len(edges) + 1, dtype=np.int64),
            edges[:, 1],
            _row_pointer(edges[:, 0], n_nodes),
        ),
        shape=(n_nodes, n_nodes),
    )
    both = (upper + upper.T.tocsr()).tocsr()
    both.sort_indices()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data.astype(np.int64) - 1


def _row_pointer(rows: NDArray[Any], n_nodes: int) -> IntArray:
    """Where the entries of every node begin, when they are sorted by node."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_nodes))])


# -- labels and attributes ---------------------------------------------------------------------------------------------


def as_labels(values: Any, what: str) -> NDArray[Any]:
    """Bring labels to int64 or str; refuse missing ones, true fractions and mixtures.

    Whole numbers stored as floats (1.0) and booleans are taken as integers, because many files hold them so.
    """
    array = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
    if array.ndim != 1:
        raise GraphFormatError(f"{what} labels must be one value for each {what}; got an array of shape {array.shape}")
    if array.dtype.kind == "O":
        array = _unboxed(array, what)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**53)
        if not whole.all():
            culprit = int(np.flatnonzero(~whole)[0])
            raise GraphFormatError(
                f"{what} label {array[culprit]} of {what} {culprit} is not a whole number: "
                "labels are integers or strings; "
                f"pass measured numbers as {what} attributes"
            )
    elif array.dtype.kind == "u" and len(array) and array.max() > np.iinfo(np.int64).max:
        raise GraphFormatError(f"{what} label {array.max()} does not fit a 64-bit integer: use strings")
    elif array.dtype.kind not in "iubU":
        raise GraphFormatError(f"{what} labels must be integers or strings, not {array.dtype}")
    return array.astype(str) if array.dtype.kind == "U" else array.astype(np.int64)


def _unboxed(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Turn an array of Python objects into one of integers, floats or strings."""
    legal = (str, int, float, np.integer, np.floating, np.bool_)
    strange = {kind for kind in set(map(type, array)) if not issubclass(kind, legal)}
    if strange:
        position, value = next((i, value) for i, value in enumerate(array) if type(value) in strange)
        if value is None:
            raise GraphFormatError(f"{what} {position} has no label although others have: label all of them or none")
        raise GraphFormatError(
            f"{what} label {value!r} of {what} {position} is a {type(value).__name__}: labels are integers or strings"
        )
    are_strings = np.fromiter((isinstance(value, str) for value in array), dtype=bool, count=len(array))
    if are_strings.any() and not are_strings.all():
        text, number = array[are_strings][0], array[~are_strings][0]
        raise GraphFormatError(
            f"{what} labels mix strings ({text!r}) and numbers ({number!r}): make all of them one or the other"
        )
    if are_strings.any():
        return array.astype(str)
    unboxed = np.array(array.tolist() if len(array) else [], dtype=None if len(array) else np.int64)
    if unboxed.dtype.kind == "O":
        raise GraphFormatError(f"a {what} label does not fit a 64-bit integer: use strings")
    return unboxed


def as_attributes(values: Any, what: str) -> FloatArray:
    """Bring attributes to a finite float64 array of two dimensions; refuse ragged rows and NaN."""
    array = _rectangular(values, what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise GraphFormatError(f"{what} attributes must be a table of one row for each {what}; got shape {array.shape}")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise GraphFormatError(
            f"attribute {column} of {what} {row} is {array[row, column]}: "
            "attributes must be finite; fill missing values first"
        )
    return array


def _rectangular(values: Any, what: str) -> FloatArray:
    """Turn a table, or a sequence of rows of equal length, into a float64 array."""
    values = values if isinstance(values, np.ndarray) else list(values)
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    try:
        rows = [np.asarray(row) for row in values]
    except ValueError:
        raise GraphFormatError(f"{what} attributes must be one row of numbers for each {what}") from None
    if any(row.dtype.kind not in "fiub" for row in rows if row.size):
        raise GraphFormatError(f"{what} attributes must be numbers")
    usual = rows[0].size if rows else 0
    for position, row in enumerate(rows):
        if row.size != usual:
            raise GraphFormatError(
                f"{what} {position} has {row.size} attributes but {what} 0 has {usual}: give all {what}s equally many"
            )
    return np.array([row.reshape(-1) for row in rows], dtype=np.float64).reshape(len(rows), -1)
