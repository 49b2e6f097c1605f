"""Scikit-learn's random forest, the same trees grown fast.

`grow_forest` grows, bit for bit, the trees of ``RandomForestClassifier(n_estimators, random_state=seed)`` at its
defaults: the same bootstrap rows, the same features tried in the same order, the same thresholds, impurities, leaf
values and votes. One forest answers for every smaller number of trees as well, because the trees of a small forest
are the first trees of a large one: `Forest.staged_predict` reads a whole grid of `n_estimators` off one walk.
`fit_sklearn_forest` hands the same trees out as a genuine, fitted `RandomForestClassifier`.

Why the copy can be exact and still do much less work: bootstrap weights are whole numbers, so class sums carry no
rounding and do not depend on the order of the rows. A split search therefore needs no sort of the rows, only the sums
per distinct value in ascending order, and these come from ranks computed once a forest. Only what feeds a comparison
of two splits, a stored impurity or a vote is done in scikit-learn's order of floating point operations.

The twin is used only where it is proven to agree: `available` grows a few small forests both ways at first use. If a
later scikit-learn grows other trees, one line is logged and scikit-learn itself does the work, behind the same names.
This is the only file that touches scikit-learn's private structures.
"""

from __future__ import annotations

import functools
import logging
import operator
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
import sklearn
from joblib import effective_n_jobs
from numba import types
from numba.extending import intrinsic
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

__all__ = ["Engine", "Forest", "MaxFeatures", "announce", "available", "fit_sklearn_forest", "grow_forest"]

Engine = Literal["auto", "twin", "sklearn"]
MaxFeatures = Literal["sqrt", "log2"] | int | float | None

_LOG = logging.getLogger("pwlr")
_CACHE = os.environ.get("PWLR_NUMBA_CACHE", "1").strip().lower() not in {"0", "false", "no", "off"}

_MAX_SEED = np.iinfo(np.int32).max
_LEAF = -1  # child and feature marks as scikit-learn writes them
_UNDEFINED = -2
_TIE = np.float32(1e-7)  # neighbouring values no further apart are tied; the sum is taken in float32
_EPSILON = np.finfo(np.float64).eps  # purer nodes are leaves
_NEAR = 256  # nodes of at most this many rows read the ranks row by row
_LISTED = 64  # nodes of at least this many rows may use the lists of non-zero entries
# Products of three row counts are formed in int64 by the split search; this many rows keep them far from overflow.
_MAX_ROWS = 1 << 20


class _Columns(NamedTuple):
    """The training matrix as ranks; see `_rank_columns`."""

    ranks: Any  # (2 d n,): rank of each value among the distinct ones of its column; column by column, then row by row
    levels: Any  # the distinct values of all columns, ascending, float32
    level_ptr: Any  # (d + 1,)
    close: Any  # (d,): some neighbouring distinct values count as tied
    list_rows: Any  # rows with a value other than zero, for columns that are mostly zero
    list_ranks: Any
    list_ptr: Any  # (d + 1,)
    zero_rank: Any  # (d,): the rank of zero where the column has a list, else -1


class _Nodes(NamedTuple):
    """Nodes of consecutive trees, in scikit-learn's order; children are numbered within their tree."""

    left: Any
    right: Any
    feature: Any
    threshold: Any
    impurity: Any
    n_samples: Any
    weight: Any
    missing_left: Any
    value: Any  # class fractions, all of a node side by side


class _Scratch(NamedTuple):
    """Working memory of one call, shared by its trees."""

    twister: Any
    counts: Any  # (n,): bootstrap weight of each row
    features: Any  # (d,): a permutation, constant ones first
    constants: Any
    rows: Any  # the tree's rows, partitioned by node
    sums: Any  # their class weights, same order
    spare_rows: Any
    spare_sums: Any
    place: Any  # (n,): where a row stands in `rows`, exact for nodes of at least _LISTED rows
    sum_of: Any  # (n,): class weight by row
    bins: Any  # class sums by rank; all zero between uses
    bitmap: Any  # which ranks occur; all zero between uses
    group_rank: Any
    group_sum: Any
    found: Any  # the ranks on both sides of the best split
    left: Any  # class weights left of the best split
    totals: Any  # class weights of the node at hand
    running: Any  # class weights left of the split at hand
    stack: Any  # start, end, depth, parent, is left child, known constant features
    stack_impurity: Any
    stack_classes: Any


# Typed constants: numba turns uint64 with int64 into float64.
_U0, _U1, _U2, _U6, _U63 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(6), np.uint64(63)

_F = TypeVar("_F", bound=Callable[..., Any])


def _kernel(function: _F) -> _F:
    """Compile lazily, without the GIL; division by zero gives inf instead of an exception, as in C."""
    return cast("_F", numba.njit(cache=_CACHE, nogil=True, error_model="numpy")(function))


# --------------------------------------------------------------------------------------------------------------------
# Kernels. All in this file, because numba's cache does not notice changes in another file's callee.
# Class sums travel in one of two shapes: `bits` > 0 packs all classes of a group into one int64 (`bits` each), so that
# one addition counts a row whatever its class; `bits` == 0 keeps one int64 per class, for many classes on many rows.
# --------------------------------------------------------------------------------------------------------------------


@cast("Callable[[Any], Callable[[Any], Any]]", intrinsic)
def _trailing_zeros(typingctx: Any, word: Any) -> Any:  # noqa: ARG001 (numba's signature)
    """Index of the lowest set bit of a non-zero uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 (numba's signature)
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), codegen


@_kernel
def _longer(array: Any, needed: Any) -> Any:
    """A copy of a one-dimensional array with room for `needed` entries, twice the old length at least."""
    longer = np.empty(max(needed, 2 * array.shape[0]), array.dtype)
    for i in range(array.shape[0]):  # a loop compiles in a tenth of the time that a slice takes
        longer[i] = array[i]
    return longer


@_kernel
def _mt_seed(state: Any, seed: Any) -> Any:
    """Seed a Mersenne Twister as NumPy's legacy `RandomState(seed)` does; state[624] is the position."""
    word = seed & 0xFFFFFFFF
    for i in range(624):
        state[i] = word
        word = (1812433253 * (word ^ (word >> 30)) + i + 1) & 0xFFFFFFFF
    state[624] = 624


@_kernel
def _mt_refill(state: Any) -> Any:
    """Generate the next 624 words in place."""
    for i in range(624):
        following = i + 1 if i < 623 else 0
        partner = i + 397 if i < 227 else i - 227
        mixed = (np.int64(state[i]) & 0x80000000) | (np.int64(state[following]) & 0x7FFFFFFF)
        state[i] = np.int64(state[partner]) ^ (mixed >> 1) ^ (0x9908B0DF * (mixed & 1))
    state[624] = 0


@_kernel
def _mt_below(state: Any, limit: Any, mask: Any) -> Any:
    """Draw an integer in [0, limit] by masked rejection, as legacy `randint` does."""
    while True:
        if state[624] == 624:
            _mt_refill(state)
        word = np.int64(state[state[624]])
        state[624] += 1
        word ^= word >> 11
        word ^= (word << 7) & 0x9D2C5680
        word ^= (word << 15) & 0xEFC60000
        word ^= word >> 18
        word &= mask
        if word <= limit:
            return word


@_kernel
def _draw_tree(seed: Any, bootstrap: Any, state: Any, counts: Any) -> Any:
    """Fill in how often each row is in the tree of this seed; returns the 32-bit state that draws its features.

    In scikit-learn both start from a generator of their own with the same seed, so both see the same first words.
    """
    n = counts.shape[0]
    for i in range(n):
        counts[i] = 0 if bootstrap and n > 1 else 1
    _mt_seed(state, seed)
    drawn = _mt_below(state, 2147483646, 2147483647)
    if bootstrap and n > 1:  # a range of one value would draw nothing from the stream
        state[624] = 0
        mask = 1
        while mask < n - 1:
            mask = 2 * mask + 1
        for _ in range(n):
            counts[_mt_below(state, n - 1, mask)] += 1
    return drawn if drawn != 0 else 1


@_kernel
def _radix_sort(keys: Any, rows: Any, size: Any, spare_keys: Any, spare_rows: Any) -> Any:
    """Sort (key, row) pairs by 32-bit key in place, stable, a byte a pass; bytes equal in all keys are skipped."""
    count = np.empty(256, np.int64)
    for shift in (0, 8, 16, 24):
        for b in range(256):
            count[b] = 0
        for i in range(size):
            count[(keys[i] >> shift) & 255] += 1
        if count[(keys[0] >> shift) & 255] == size:
            continue
        total = 0
        for b in range(256):
            here = count[b]
            count[b] = total
            total += here
        for i in range(size):
            b = (keys[i] >> shift) & 255
            spare_keys[count[b]] = keys[i]
            spare_rows[count[b]] = rows[i]
            count[b] += 1
        for i in range(size):
            keys[i] = spare_keys[i]
            rows[i] = spare_rows[i]


@_kernel
def _rank_columns(columns: Any, ranks: Any) -> Any:
    """Replace values by dense ranks, column by column.

    `columns` is X transposed, float32 (d, n); `ranks` (d, n) is filled. Returns the distinct values (`levels`, cut by
    `level_ptr`), and for columns that are mostly zero the rows and ranks of the other entries in ascending order of
    rank (cut by `list_ptr`; `zero_rank` is -1 where a column has no list). `close` marks columns in which neighbouring
    values are near enough to count as tied. Long: one pass does all per column.
    """
    d, n = columns.shape
    levels = np.empty(1024, np.float32)
    list_rows = np.empty(1024, np.uint32)
    list_ranks = np.empty(1024, ranks.dtype)
    level_ptr = np.zeros(d + 1, np.int64)
    list_ptr = np.zeros(d + 1, np.int64)
    zero_rank = np.full(d, -1, np.int64)
    close = np.zeros(d, np.bool_)
    keys = np.empty(n, np.int64)
    rows = np.empty(n, np.int32)
    spare_keys = np.empty(n, np.int64)
    spare_rows = np.empty(n, np.int32)
    bits = columns.view(np.int32)
    for f in range(d):
        size = 0
        negative = np.int64(0)
        for i in range(n):
            pattern = np.int64(bits[f, i])
            if pattern & 0x7FFFFFFF:  # neither 0.0 nor -0.0; the map makes the order of keys that of the floats
                rows[size] = i
                keys[size] = 0x7FFFFFFF & ~pattern if pattern < 0 else pattern | 0x80000000
                negative += np.int64(pattern < 0)
                size += 1
        if size > 0:
            _radix_sort(keys, rows, size, spare_keys, spare_rows)
        at = level_ptr[f]
        if at + size + 1 > levels.shape[0]:
            levels = _longer(levels, at + size + 1)
        listed = 2 * size < n
        begin = list_ptr[f]
        if listed:
            if begin + size > list_rows.shape[0]:
                list_rows = _longer(list_rows, begin + size)
                list_ranks = _longer(list_ranks, begin + size)
            list_ptr[f + 1] = begin + size
        else:
            list_ptr[f + 1] = begin
        rank = np.int64(-1)
        for k in range(size + 1):
            if k == negative and size < n:  # here the zeros stand in the order
                rank += 1
                levels[at + rank] = 0.0
                for i in range(n):
                    ranks[f, i] = rank
                if listed:
                    zero_rank[f] = rank
            if k < size and (k == 0 or k == negative or keys[k] != keys[k - 1]):
                rank += 1
                levels[at + rank] = columns[f, rows[k]]
            if k < size:
                spare_rows[k] = rank
        for k in range(size):
            ranks[f, rows[k]] = spare_rows[k]
            if listed:
                list_rows[begin + k] = rows[k]
                list_ranks[begin + k] = spare_rows[k]
        level_ptr[f + 1] = at + rank + 1
        for k in range(at, at + rank):
            close[f] |= levels[k + 1] <= levels[k] + _TIE
    return levels, level_ptr, close, list_rows, list_ranks, list_ptr, zero_rank


@_kernel
def _impurity(squares: Any, weight: Any) -> Any:
    """Gini impurity of a set: `squares` is the sum of the squared class weights."""
    return 1.0 - np.float64(squares) / (np.float64(weight) * np.float64(weight))


@_kernel
def _groups_by_list(
    list_rows: Any,
    list_ranks: Any,
    first: Any,
    last: Any,
    zero_rank: Any,
    place: Any,
    sum_of: Any,
    start: Any,
    end: Any,
    total: Any,
    group_rank: Any,
    group_sum: Any,
) -> Any:
    """Class sums per distinct rank from a column's non-zero entries, ascending; packed sums only."""
    size = _U0
    zero_slot = np.int64(-1)
    current = np.int64(-1)
    pending = np.int64(0)
    seen = np.int64(0)
    extent = np.uint64(end - start)
    for e in range(np.uint64(first), np.uint64(last)):
        rank = np.int64(list_ranks[e])
        if rank != current:
            group_rank[size] = current
            group_sum[size] = pending
            size += np.uint64(pending != 0)
            seen += pending
            pending = np.int64(0)
            if current < zero_rank < rank:
                zero_slot = np.int64(size)
                size += _U1
            current = rank
        row = list_rows[e]
        inside = np.uint64(np.int64(place[row]) - start) < extent
        pending += sum_of[row] if inside else np.int64(0)
    group_rank[size] = current
    group_sum[size] = pending
    size += np.uint64(pending != 0)
    seen += pending
    if zero_slot < 0:
        zero_slot = np.int64(size)
        size += _U1
    group_rank[zero_slot] = zero_rank
    group_sum[zero_slot] = total - seen
    empty = np.int64(total == seen)  # no zero in this node: close the gap
    for k in range(zero_slot, np.int64(size) - empty):
        group_rank[k] = group_rank[k + empty]
        group_sum[k] = group_sum[k + empty]
    return np.int64(size) - empty


@_kernel
def _groups_by_bins(
    ranks: Any,
    origin: Any,
    stride: Any,
    rows: Any,
    sums: Any,
    start: Any,
    end: Any,
    shift: Any,
    bins: Any,
    bitmap: Any,
    group_rank: Any,
    group_sum: Any,
) -> Any:
    """Class sums per distinct rank by counting, ascending; packed sums only.

    Even and odd rows count into bins and bitmaps of their own: neighbours often share a rank, and the second addition
    would wait for the first. A bit of `summary` says that 2**`shift` words of the bitmaps are worth a look. Unsigned
    numbers throughout: numba would check signed indices for being negative.
    """
    at, step, p, stop = np.uint64(origin), np.uint64(stride), np.uint64(start), np.uint64(end)
    by = np.uint64(shift)
    summary = _U0
    if (stop - p) & _U1:
        rank = np.uint64(ranks[at + step * np.uint64(rows[p])])
        word = rank >> _U6
        bins[rank << _U1] += sums[p]
        bitmap[word << _U1] |= _U1 << (rank & _U63)
        summary |= _U1 << (word >> by)
        p += _U1
    while p < stop:
        rank = np.uint64(ranks[at + step * np.uint64(rows[p])])
        other = np.uint64(ranks[at + step * np.uint64(rows[p + _U1])])
        word, other_word = rank >> _U6, other >> _U6
        bins[rank << _U1] += sums[p]
        bins[(other << _U1) + _U1] += sums[p + _U1]
        bitmap[word << _U1] |= _U1 << (rank & _U63)
        bitmap[(other_word << _U1) + _U1] |= _U1 << (other & _U63)
        summary |= (_U1 << (word >> by)) | (_U1 << (other_word >> by))
        p += _U2
    size = _U0
    while summary != _U0:
        block = _trailing_zeros(summary)
        summary &= summary - _U1
        for marked in range(block << by, (block + _U1) << by):
            even = marked << _U1
            present = bitmap[even] | bitmap[even + _U1]
            bitmap[even] = _U0
            bitmap[even + _U1] = _U0
            while present != _U0:
                rank = (marked << _U6) + _trailing_zeros(present)
                present &= present - _U1
                even = rank << _U1
                group_rank[size] = rank
                group_sum[size] = bins[even] + bins[even + _U1]
                bins[even] = 0
                bins[even + _U1] = 0
                size += _U1
    return np.int64(size)


@_kernel
def _groups_unpacked(
    ranks: Any,
    origin: Any,
    stride: Any,
    rows: Any,
    sums: Any,
    start: Any,
    end: Any,
    words: Any,
    bins: Any,
    bitmap: Any,
    group_rank: Any,
    group_sum: Any,
) -> Any:
    """As `_groups_by_bins` for one sum per class; `sums` holds the class above the weight."""
    at, step = np.uint64(origin), np.uint64(stride)
    top = np.int64(0)
    for p in range(start, end):
        rank = np.int64(ranks[at + step * np.uint64(rows[p])])
        bins[rank * words + (sums[p] >> 32)] += sums[p] & 0xFFFFFFFF
        bitmap[rank >> 6] |= _U1 << np.uint64(rank & 63)
        top = max(top, rank >> 6)
    size = 0
    for word in range(top + 1):
        present = bitmap[word]
        bitmap[word] = _U0
        while present != _U0:
            rank = (word << 6) + np.int64(_trailing_zeros(present))
            present &= present - _U1
            group_rank[size] = rank
            for k in range(words):
                group_sum[size * words + k] = bins[rank * words + k]
                bins[rank * words + k] = 0
            size += 1
    return size


@_kernel
def _varies(
    ranks: Any, origin: Any, stride: Any, rows: Any, start: Any, end: Any, levels: Any, base: Any, close: Any
) -> Any:
    """Whether a column is more than a tie wide in the node."""
    at, step = np.uint64(origin), np.uint64(stride)
    low = high = np.int64(ranks[at + step * np.uint64(rows[start])])
    for p in range(np.uint64(start + 1), np.uint64(end)):
        rank = np.int64(ranks[at + step * np.uint64(rows[p])])
        if rank < low or rank > high:
            low = min(low, rank)
            high = max(high, rank)
            if not close or levels[base + high] > levels[base + low] + _TIE:
                return True
    return False


@_kernel
def _scan_two(
    levels: Any,
    base: Any,
    close: Any,
    size: Any,
    group_rank: Any,
    group_sum: Any,
    n_first: Any,
    n_second: Any,
    best: Any,
    found: Any,
    left: Any,
) -> Any:
    """Best split of one feature for two classes; returns the best proxy so far and notes the split if it is new.

    The proxy is computed in scikit-learn's order of operations, because equal and nearly equal splits are told apart
    by its last bits. Only splits that pass an exact integer pre-test, with slack for the rounding, get that far.
    """
    weight = n_first + n_second
    slack = 1e-13 * weight
    limit = slack - 0.5 * best
    first = np.int64(0)
    second = np.int64(0)
    for g in range(size - 1):
        first += group_sum[g] & 0xFFFFFFFF
        second += group_sum[g] >> 32
        if close and levels[base + group_rank[g + 1]] <= levels[base + group_rank[g]] + _TIE:
            continue
        on_left = first + second
        on_right = weight - on_left
        first_right = n_first - first
        second_right = n_second - second
        mixed = first * second * on_right + first_right * second_right * on_left
        if np.float64(mixed) > limit * np.float64(on_left * on_right):
            continue
        impurity_left = _impurity(first * first + second * second, on_left)
        impurity_right = _impurity(first_right * first_right + second_right * second_right, on_right)
        proxy = -np.float64(on_right) * impurity_right - np.float64(on_left) * impurity_left
        if proxy > best:
            best = proxy
            limit = slack - 0.5 * best
            found[0] = group_rank[g]
            found[1] = group_rank[g + 1]
            left[0] = first
            left[1] = second
    return best


@_kernel
def _scan_many(levels: Any, base: Any, close: Any, size: Any, bits: Any, words: Any, best: Any, scratch: Any) -> Any:
    """As `_scan_two`, for any number of classes."""
    totals, group_rank, group_sum, left = scratch.totals, scratch.group_rank, scratch.group_sum, scratch.running
    n_classes = totals.shape[0]
    weight = np.int64(0)
    squares_right = np.int64(0)
    for c in range(n_classes):
        left[c] = 0
        weight += totals[c]
        squares_right += totals[c] * totals[c]
    slack = 1e-13 * weight
    limit = best + weight - slack
    on_left = np.int64(0)
    squares_left = np.int64(0)
    for g in range(size - 1):
        for c in range(n_classes):
            moved = (group_sum[g] >> (bits * c)) & ((1 << bits) - 1) if words == 1 else group_sum[g * words + c]
            squares_left += moved * (2 * left[c] + moved)
            squares_right -= moved * (2 * (totals[c] - left[c]) - moved)
            left[c] += moved
            on_left += moved
        if close and levels[base + group_rank[g + 1]] <= levels[base + group_rank[g]] + _TIE:
            continue
        on_right = weight - on_left
        pure = np.float64(squares_left) * np.float64(on_right) + np.float64(squares_right) * np.float64(on_left)
        if pure < limit * (np.float64(on_left) * np.float64(on_right)):
            continue
        proxy = -np.float64(on_right) * _impurity(squares_right, on_right) - np.float64(on_left) * _impurity(
            squares_left, on_left
        )
        if proxy > best:
            best = proxy
            limit = best + weight - slack
            scratch.found[0] = group_rank[g]
            scratch.found[1] = group_rank[g + 1]
            for c in range(n_classes):
                scratch.left[c] = left[c]
    return best


@_kernel
def _partition(
    ranks: Any,
    origin: Any,
    stride: Any,
    last_left: Any,
    rows: Any,
    sums: Any,
    spare_rows: Any,
    spare_sums: Any,
    place: Any,
    start: Any,
    end: Any,
) -> Any:
    """Move the rows with a rank of at most `last_left` to the front; returns where the others begin."""
    at, step, middle, kept = np.uint64(origin), np.uint64(stride), np.uint64(start), _U0
    for p in range(np.uint64(start), np.uint64(end)):  # no branch: both places are written, one pointer moves
        row = rows[p]
        weight = sums[p]
        goes_right = np.uint64(np.int64(ranks[at + step * np.uint64(row)]) > last_left)
        rows[middle] = row
        sums[middle] = weight
        spare_rows[kept] = row
        spare_sums[kept] = weight
        middle += _U1 - goes_right
        kept += goes_right
    for k in range(kept):
        rows[middle + k] = spare_rows[k]
        sums[middle + k] = spare_sums[k]
    if end - start >= _LISTED:
        for p in range(np.uint64(start), np.uint64(end)):
            place[rows[p]] = p
    return np.int64(middle)


@_kernel
def _start_tree(seed: Any, bootstrap: Any, y: Any, bits: Any, words: Any, scratch: Any) -> Any:
    """Draw the tree's rows, their class weights onto the stack; returns how many rows, and the feature generator."""
    counts = scratch.counts
    state = _draw_tree(seed, bootstrap, scratch.twister, counts)
    for c in range(scratch.stack_classes.shape[1]):
        scratch.stack_classes[0, c] = 0
    size = 0
    for i in range(y.shape[0]):
        scratch.place[i] = -1
        if counts[i] > 0:
            weight = np.int64(counts[i])
            packed = weight << (bits * y[i]) if words == 1 else (y[i] << 32) | weight
            scratch.rows[size] = i
            scratch.sums[size] = packed
            scratch.sum_of[i] = packed
            scratch.place[i] = size
            scratch.stack_classes[0, y[i]] += weight
            size += 1
    for f in range(scratch.features.shape[0]):
        scratch.features[f] = f
    return size, state


@_kernel
def _grow_tree(
    columns: Any,
    y: Any,
    bits: Any,
    words: Any,
    n_candidates: Any,
    seed: Any,
    bootstrap: Any,
    nodes: Any,
    base: Any,
    scratch: Any,
) -> Any:
    """Grow one tree depth first, left child first; returns the number of its nodes and its depth.

    The bookkeeping of `features` is scikit-learn's, swap by swap, since later draws depend on it. It keeps, from left
    to right: known constants already drawn, known constants, constants found here, features not drawn, features drawn.

    Long, and deliberately one function: a call from here that is more than a leaf makes numba count references to all
    the arrays in the tuples, atomically, at each node or feature; that took two thirds of the time.
    """
    ranks, levels, level_ptr, close = columns.ranks, columns.levels, columns.level_ptr, columns.close
    list_rows, list_ranks, list_ptr, zero_ranks = (
        columns.list_rows,
        columns.list_ranks,
        columns.list_ptr,
        columns.zero_rank,
    )
    bins, bitmap, place, sum_of = scratch.bins, scratch.bitmap, scratch.place, scratch.sum_of
    features, constants, rows, sums = scratch.features, scratch.constants, scratch.rows, scratch.sums
    group_rank, group_sum, found, left_of = scratch.group_rank, scratch.group_sum, scratch.found, scratch.left
    stack, stack_impurity, stack_classes = scratch.stack, scratch.stack_impurity, scratch.stack_classes
    totals = scratch.totals
    lefts, rights, node_feature, node_threshold = nodes.left, nodes.right, nodes.feature, nodes.threshold
    node_impurity, node_samples, node_weight = nodes.impurity, nodes.n_samples, nodes.weight
    missing_left, node_value = nodes.missing_left, nodes.value
    n_classes = totals.shape[0]
    n = y.shape[0]
    d = features.shape[0]
    by_row = n * d
    n_rows, state = _start_tree(seed, bootstrap, y, bits, words, scratch)
    squares = np.int64(0)
    tree_weight = np.int64(0)
    for c in range(n_classes):
        squares += stack_classes[0, c] * stack_classes[0, c]
        tree_weight += stack_classes[0, c]
    stack_impurity[0] = _impurity(squares, tree_weight)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4], stack[0, 5] = 0, n_rows, 0, -1, 0, 0
    height = 1
    used = 0
    deepest = 0
    while height > 0:
        height -= 1
        start, end, depth, parent = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        known = stack[height, 5]
        impurity = stack_impurity[height]
        weight = np.int64(0)
        total = np.int64(0)
        for c in range(n_classes):
            totals[c] = stack_classes[height, c]
            weight += totals[c]
            total += totals[c] << (bits * c)  # the packed sum, where sums are packed
        if parent >= 0:
            if stack[height, 4]:
                lefts[base + parent] = used
            else:
                rights[base + parent] = used
        node = base + used
        lefts[node], rights[node] = _LEAF, _LEAF  # a leaf, until it is split
        node_feature[node], node_threshold[node] = _UNDEFINED, _UNDEFINED
        node_impurity[node] = impurity
        node_samples[node] = end - start
        node_weight[node] = weight
        missing_left[node] = False
        for c in range(n_classes):
            node_value[node * n_classes + c] = np.float64(totals[c]) / np.float64(weight)
        deepest = max(deepest, depth)
        used += 1
        if end - start < 2 or impurity <= _EPSILON:
            continue

        # Few rows are read where a row lies together and stays in the cache for the whole subtree.
        near = end - start <= _NEAR
        stride = d if near else 1
        undrawn_end = features.shape[0]
        visited = 0
        new = 0  # constants found here
        drawn = 0  # known constants drawn
        constant = known
        best = -np.inf
        best_feature = np.int64(-1)
        while undrawn_end > constant and (visited < n_candidates or visited <= new + drawn):
            visited += 1
            state ^= (state << 13) & 0xFFFFFFFF
            state ^= state >> 17
            state ^= (state << 5) & 0xFFFFFFFF
            at = drawn + np.int64(np.uint32(state & 0x7FFFFFFF) % np.uint32(undrawn_end - new - drawn))
            if at < known:
                features[drawn], features[at] = features[at], features[drawn]
                drawn += 1
                continue
            at += new
            feature = np.int64(features[at])
            low = level_ptr[feature]
            origin = by_row + feature if near else feature * n
            size = 0
            listed = list_ptr[feature + 1] - list_ptr[feature]
            varies = level_ptr[feature + 1] - low > 1 and _varies(
                ranks, origin, stride, rows, start, end, levels, low, close[feature]
            )
            if varies and best < 0.0:
                if words == 1 and end - start >= _LISTED and zero_ranks[feature] >= 0 and listed < end - start:
                    size = _groups_by_list(
                        list_rows,
                        list_ranks,
                        list_ptr[feature],
                        list_ptr[feature + 1],
                        zero_ranks[feature],
                        place,
                        sum_of,
                        start,
                        end,
                        total,
                        group_rank,
                        group_sum,
                    )
                elif words == 1:
                    shift = 0
                    while level_ptr[feature + 1] - low > 4096 << shift:
                        shift += 1
                    size = _groups_by_bins(
                        ranks, origin, stride, rows, sums, start, end, shift, bins, bitmap, group_rank, group_sum
                    )
                else:
                    size = _groups_unpacked(
                        ranks, origin, stride, rows, sums, start, end, words, bins, bitmap, group_rank, group_sum
                    )
            if not varies:
                features[at], features[constant] = features[constant], features[at]
                new += 1
                constant += 1
                continue
            undrawn_end -= 1
            features[undrawn_end], features[at] = features[at], features[undrawn_end]
            if best == 0.0:  # pure on both sides: nothing can be better, but what varies steers the draws
                continue
            before = best
            if n_classes == 2 and words == 1:
                best = _scan_two(
                    levels, low, close[feature], size, group_rank, group_sum, totals[0], totals[1], best, found, left_of
                )
            else:
                best = _scan_many(levels, low, close[feature], size, bits, words, best, scratch)
            if best > before:
                best_feature = feature
        for k in range(known):
            features[k] = constants[k]
        for k in range(known, constant):
            constants[k] = features[k]
        if best_feature < 0:
            continue

        on_left = np.int64(0)
        squares_left = np.int64(0)
        squares_right = np.int64(0)
        for c in range(n_classes):
            on_left += left_of[c]
            squares_left += left_of[c] * left_of[c]
            squares_right += (totals[c] - left_of[c]) * (totals[c] - left_of[c])
        on_right = weight - on_left
        impurity_left = _impurity(squares_left, on_left)
        impurity_right = _impurity(squares_right, on_right)
        share_right = np.float64(on_right) / np.float64(weight)
        share_left = np.float64(on_left) / np.float64(weight)
        gain = (np.float64(weight) / np.float64(tree_weight)) * (
            impurity - share_right * impurity_right - share_left * impurity_left
        )
        if gain + _EPSILON < 0.0:
            continue
        low = level_ptr[best_feature]
        origin = by_row + best_feature if near else best_feature * n
        middle = _partition(
            ranks, origin, stride, found[0], rows, sums, scratch.spare_rows, scratch.spare_sums, place, start, end
        )
        node_feature[node] = best_feature
        node_threshold[node] = np.float64(levels[low + found[0]]) / 2.0 + np.float64(levels[low + found[1]]) / 2.0
        missing_left[node] = middle - start > end - middle
        for c in range(n_classes):
            stack_classes[height, c] = totals[c] - left_of[c]
            stack_classes[height + 1, c] = left_of[c]
        stack_impurity[height] = impurity_right
        stack_impurity[height + 1] = impurity_left
        stack[height, 0], stack[height, 1], stack[height, 4] = middle, end, 0
        stack[height + 1, 0], stack[height + 1, 1], stack[height + 1, 4] = start, middle, 1
        for child in range(height, height + 2):
            stack[child, 2], stack[child, 3], stack[child, 5] = depth + 1, used - 1, constant
        height += 2
    return used, deepest


@_kernel
def _grow_trees(columns: Any, y: Any, n_classes: Any, bits: Any, n_candidates: Any, seeds: Any, bootstrap: Any) -> Any:
    """Grow one tree per seed; returns the nodes, the offsets of the trees and their depths."""
    n = y.shape[0]
    d = columns.close.shape[0]
    words = 1 if bits > 0 else n_classes
    widest = 1
    for f in range(d):
        widest = max(widest, columns.level_ptr[f + 1] - columns.level_ptr[f])
    scratch = _Scratch(
        twister=np.empty(625, np.uint32),
        counts=np.empty(n, np.int32),
        features=np.empty(d, np.uint32),
        constants=np.empty(d, np.uint32),
        rows=np.empty(n, np.uint32),
        sums=np.empty(n, np.int64),
        spare_rows=np.empty(n, np.uint32),
        spare_sums=np.empty(n, np.int64),
        place=np.empty(n, np.int32),
        sum_of=np.empty(n, np.int64),
        bins=np.zeros(widest * max(2, words), np.int64),
        bitmap=np.zeros(2 * 64 * ((widest >> 11) + 1), np.uint64),
        group_rank=np.empty(widest + 2, np.int64),
        group_sum=np.empty((widest + 2) * words, np.int64),
        found=np.empty(2, np.int64),
        left=np.empty(n_classes, np.int64),
        totals=np.empty(n_classes, np.int64),
        running=np.empty(n_classes, np.int64),
        stack=np.empty((n + 2, 6), np.int64),
        stack_impurity=np.empty(n + 2, np.float64),
        stack_classes=np.empty((n + 2, n_classes), np.int64),
    )
    room = 4 * n
    nodes = _Nodes(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.float64),
        np.empty(room, np.float64),
        np.empty(room, np.int32),
        np.empty(room, np.float64),
        np.empty(room, np.bool_),
        np.empty(room * n_classes, np.float64),
    )
    offsets = np.zeros(seeds.shape[0] + 1, np.int64)
    depths = np.zeros(seeds.shape[0], np.int64)
    for t in range(seeds.shape[0]):
        base = offsets[t]
        if base + 2 * n > nodes.left.shape[0]:
            nodes = _Nodes(
                _longer(nodes.left, base + 2 * n),
                _longer(nodes.right, base + 2 * n),
                _longer(nodes.feature, base + 2 * n),
                _longer(nodes.threshold, base + 2 * n),
                _longer(nodes.impurity, base + 2 * n),
                _longer(nodes.n_samples, base + 2 * n),
                _longer(nodes.weight, base + 2 * n),
                _longer(nodes.missing_left, base + 2 * n),
                _longer(nodes.value, (base + 2 * n) * n_classes),
            )
        used, depths[t] = _grow_tree(columns, y, bits, words, n_candidates, seeds[t], bootstrap, nodes, base, scratch)
        offsets[t + 1] = base + used
    return nodes, offsets, depths


@_kernel
def _staged_sums(rows: Any, n_classes: Any, nodes: Any, offsets: Any, stages: Any, seeds: Any, out_of_bag: Any) -> Any:
    """Sums of the leaf values of the first trees, read off after each of the ascending `stages`.

    `rows` is float32 (n, d). With `out_of_bag`, `rows` are the training rows and a tree speaks only of those that its
    seed did not draw. Returns the sums (stages, n, classes) and how many trees spoke (stages, n).
    """
    n = rows.shape[0]
    sums = np.zeros((n, n_classes), np.float64)
    votes = np.zeros(n, np.int64)
    staged_sums = np.empty((stages.shape[0], n, n_classes), np.float64)
    staged_votes = np.empty((stages.shape[0], n), np.int64)
    twister = np.empty(625, np.uint32)
    counts = np.zeros(n, np.int32)
    stage = 0
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        if out_of_bag:
            _draw_tree(seeds[t], True, twister, counts)
        for i in range(n):
            if counts[i] > 0:
                continue
            node = base
            while nodes.left[node] >= 0:
                value = rows[i, nodes.feature[node]]
                goes_left = value <= nodes.threshold[node] or (value != value and nodes.missing_left[node])
                node = base + (nodes.left[node] if goes_left else nodes.right[node])
            votes[i] += 1
            for c in range(n_classes):
                sums[i, c] += nodes.value[node * n_classes + c]
        while stage < stages.shape[0] and stages[stage] == t + 1:
            for i in range(n):
                staged_votes[stage, i] = votes[i]
                for c in range(n_classes):
                    staged_sums[stage, i, c] = sums[i, c]
            stage += 1
    return staged_sums, staged_votes


@_kernel
def _tree_importances(n_features: Any, nodes: Any, offsets: Any) -> Any:
    """Unnormalised impurity decrease per tree and feature, (trees, d)."""
    importances = np.zeros((offsets.shape[0] - 1, n_features), np.float64)
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        for node in range(base, offsets[t + 1]):
            if nodes.left[node] >= 0:
                left, right = base + nodes.left[node], base + nodes.right[node]
                importances[t, nodes.feature[node]] += (
                    nodes.weight[node] * nodes.impurity[node]
                    - nodes.weight[left] * nodes.impurity[left]
                    - nodes.weight[right] * nodes.impurity[right]
                )
        for f in range(n_features):
            importances[t, f] /= nodes.weight[base]
    return importances


# --------------------------------------------------------------------------------------------------------------------
# The host's side.
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Forest:
    """A grown random forest as flat arrays, one row per node, the trees one after another.

    Every method takes `n_trees`: the answer is that of a forest of only the first so many trees.

    Attributes
    ----------
    children_left, children_right : ndarray of int32, shape (n_nodes,)
        Node numbers within the same tree, -1 at leaves.
    feature : ndarray of int32, shape (n_nodes,)
        The feature split on, -2 at leaves.
    threshold : ndarray of float64, shape (n_nodes,)
        Rows with a value of at most this go left, -2 at leaves.
    impurity : ndarray of float64, shape (n_nodes,)
        Gini impurity.
    n_node_samples : ndarray of int32, shape (n_nodes,)
        Distinct training rows in the node.
    weighted_n_node_samples : ndarray of float64, shape (n_nodes,)
        The same, counted as often as the bootstrap drew them.
    missing_go_to_left : ndarray of bool, shape (n_nodes,)
        Where a missing value goes at prediction: to the child with more training rows.
    value : ndarray of float64, shape (n_nodes, n_classes)
        Class fractions.
    tree_offsets : ndarray of int64, shape (n_trees + 1,)
        Where each tree begins in the arrays above.
    max_depths : ndarray of int64, shape (n_trees,)
        Depth of each tree.
    seeds : ndarray of int64, shape (n_trees,)
        The `random_state` of each tree; the bootstrap rows follow from it.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    n_features : int
        Number of columns of X.
    bootstrap : bool
        Whether the trees saw bootstrap samples.
    train_X : ndarray of float32, shape (n_samples, n_features)
        The training rows, needed for the out-of-bag votes; not a copy if they came as float32 rows.
    train_y : ndarray of int64, shape (n_samples,)
        The training labels as positions in `classes`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> forest = grow_forest(X, ["a", "a", "b", "b"], n_trees=10, random_state=0)
    >>> forest.predict(X)
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

    children_left: npt.NDArray[np.int32]
    children_right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    impurity: npt.NDArray[np.float64]
    n_node_samples: npt.NDArray[np.int32]
    weighted_n_node_samples: npt.NDArray[np.float64]
    missing_go_to_left: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    tree_offsets: npt.NDArray[np.int64]
    max_depths: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]
    n_features: int
    bootstrap: bool
    train_X: npt.NDArray[np.float32]  # noqa: N815 (X is scikit-learn's name)
    train_y: npt.NDArray[np.int64]

    @property
    def n_trees(self) -> int:
        """Number of trees grown."""
        return len(self.seeds)

    def predict_proba(self, X: npt.ArrayLike, n_trees: int | None = None) -> npt.NDArray[np.float64]:
        """Class probabilities: the mean of the leaf fractions over the first `n_trees` trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        n_trees : int, optional
            Use only the first so many trees; all of them by default.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            As ``RandomForestClassifier.predict_proba`` with ``n_jobs=1``.
        """
        return np.asarray(self.staged_predict_proba(X, [self._count(n_trees)])[0])

    def predict(self, X: npt.ArrayLike, n_trees: int | None = None) -> npt.NDArray[Any]:
        """The most probable class of each row; of equal ones the first in `classes`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        n_trees : int, optional
            Use only the first so many trees; all of them by default.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return np.asarray(self.staged_predict(X, [self._count(n_trees)])[0])

    def staged_predict_proba(self, X: npt.ArrayLike, n_trees: Sequence[int]) -> npt.NDArray[np.float64]:
        """`predict_proba` for several numbers of trees, in one walk.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        n_trees : sequence of int
            Numbers of trees, in any order.

        Returns
        -------
        ndarray of float64, shape (len(n_trees), n_samples, n_classes)
            One block per number of trees.
        """
        rows = _as_rows(X, self.n_features)
        sums, _ = self._staged(rows, n_trees, out_of_bag=False)
        return np.asarray(sums / np.asarray(n_trees, dtype=np.float64)[:, None, None])

    def staged_predict(self, X: npt.ArrayLike, n_trees: Sequence[int]) -> npt.NDArray[Any]:
        """`predict` for several numbers of trees, in one walk.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to classify.
        n_trees : sequence of int
            Numbers of trees, in any order.

        Returns
        -------
        ndarray of shape (len(n_trees), n_samples)
            Labels.
        """
        return np.asarray(self.classes[np.argmax(self.staged_predict_proba(X, n_trees), axis=2)])

    def oob_decision_function(self, n_trees: int | None = None) -> npt.NDArray[np.float64]:
        """Class probabilities of the training rows from the trees that did not see them.

        Parameters
        ----------
        n_trees : int, optional
            Use only the first so many trees; all of them by default.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            As `oob_decision_function_`: rows that every tree saw are all zero.
        """
        return np.asarray(self.staged_oob_decision_function([self._count(n_trees)])[0])

    def oob_score(self, n_trees: int | None = None) -> float:
        """Accuracy of the out-of-bag votes, as `oob_score_`.

        Parameters
        ----------
        n_trees : int, optional
            Use only the first so many trees; all of them by default.

        Returns
        -------
        float
            Rows that every tree saw count as voted for the first class.
        """
        return float(self.staged_oob_score([self._count(n_trees)])[0])

    def staged_oob_decision_function(self, n_trees: Sequence[int]) -> npt.NDArray[np.float64]:
        """`oob_decision_function` for several numbers of trees, in one walk.

        Parameters
        ----------
        n_trees : sequence of int
            Numbers of trees, in any order.

        Returns
        -------
        ndarray of float64, shape (len(n_trees), n_samples, n_classes)
            One block per number of trees.
        """
        if not self.bootstrap:
            raise ValueError("out-of-bag votes need bootstrap=True: without it every tree saw every row")
        sums, votes = self._staged(self.train_X, n_trees, out_of_bag=True)
        return np.asarray(sums / np.maximum(votes, 1)[:, :, None])

    def staged_oob_score(self, n_trees: Sequence[int]) -> npt.NDArray[np.float64]:
        """`oob_score` for several numbers of trees, in one walk.

        Parameters
        ----------
        n_trees : sequence of int
            Numbers of trees, in any order.

        Returns
        -------
        ndarray of float64, shape (len(n_trees),)
            Accuracies.
        """
        voted = np.argmax(self.staged_oob_decision_function(n_trees), axis=2)
        return np.asarray(np.mean(voted == self.train_y, axis=1), dtype=np.float64)

    def feature_importances(self, n_trees: int | None = None) -> npt.NDArray[np.float64]:
        """Mean decrease in impurity by feature, as `feature_importances_`.

        Parameters
        ----------
        n_trees : int, optional
            Use only the first so many trees; all of them by default.

        Returns
        -------
        ndarray of float64, shape (n_features,)
            Sums to 1, or all zero if no tree has a split.
        """
        offsets = self.tree_offsets[: self._count(n_trees) + 1]
        raw = _tree_importances(self.n_features, self._nodes(), offsets)
        split = raw[np.diff(offsets) > 1]
        if len(split) == 0:
            return np.zeros(self.n_features)
        for tree in split:
            normalizer = np.sum(tree)  # summed tree by tree: the pairwise order decides the last bit
            if normalizer > 0.0:
                tree /= normalizer
        mean = np.mean(split, axis=0, dtype=np.float64)
        return cast("npt.NDArray[np.float64]", mean / np.sum(mean))

    def _nodes(self) -> _Nodes:
        """The node arrays as the kernels take them."""
        return _Nodes(
            self.children_left,
            self.children_right,
            self.feature,
            self.threshold,
            self.impurity,
            self.n_node_samples,
            self.weighted_n_node_samples,
            self.missing_go_to_left,
            self.value.reshape(-1),
        )

    def _count(self, n_trees: int | None) -> int:
        """Number of trees asked for, all by default."""
        return self.n_trees if n_trees is None else operator.index(n_trees)

    def _staged(
        self, rows: npt.NDArray[np.float32], n_trees: Sequence[int], *, out_of_bag: bool
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Sums (stages, n, classes) and numbers of votes (stages, n), in the order of `n_trees`."""
        wanted = np.array([operator.index(count) for count in n_trees], dtype=np.int64)
        for position, count in enumerate(wanted):
            if not 1 <= count <= self.n_trees:
                raise ValueError(
                    f"n_trees at index {position} is {count}, but the forest has {self.n_trees} trees: "
                    f"choose 1 to {self.n_trees}"
                )
        stages, back = np.unique(wanted, return_inverse=True)
        last = int(stages[-1]) if len(stages) else 0
        sums, votes = _staged_sums(
            rows, len(self.classes), self._nodes(), self.tree_offsets[: last + 1], stages, self.seeds, out_of_bag
        )
        return sums[back], votes[back]


def grow_forest(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    n_trees: int,
    random_state: int,
    n_jobs: int = 1,
    max_features: MaxFeatures = "sqrt",
    bootstrap: bool = True,
    engine: Engine = "auto",
) -> Forest:
    """Grow scikit-learn's random forest classifier into flat arrays.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows; taken as float32, as scikit-learn does.
    y : array-like of shape (n_samples,)
        Labels, numbers or strings.
    n_trees : int
        Number of trees (`n_estimators`).
    random_state : int
        Seed of the forest. Forests with the same seed share their first trees.
    n_jobs : int, default=1
        Number of threads; the trees do not depend on it.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features tried per split, as in scikit-learn.
    bootstrap : bool, default=True
        Whether each tree sees a bootstrap sample or all rows.
    engine : {"auto", "twin", "sklearn"}, default="auto"
        "auto" uses the fast twin where it is proven to agree (see `available`) and X has no missing values;
        "twin" insists on it, without the proof; "sklearn" lets scikit-learn grow the trees.

    Returns
    -------
    Forest
        The same whichever engine grew it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> forest = grow_forest(X, np.arange(10) // 5, n_trees=200, random_state=7)
    >>> forest.staged_predict(X[:1], [10, 200])
    array([[0],
           [0]])
    """
    task = _Task.of(X, y, n_trees, random_state, n_jobs, max_features, bootstrap)
    if _use_twin(task, engine):
        return _grow_twin(task)
    return _from_sklearn(_fit_genuine(task), task)


def fit_sklearn_forest(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    n_trees: int,
    random_state: int,
    n_jobs: int = 1,
    max_features: MaxFeatures = "sqrt",
    bootstrap: bool = True,
    oob_score: bool = False,
    engine: Engine = "auto",
) -> RandomForestClassifier:
    """Fit a genuine scikit-learn random forest, fast.

    Parameters
    ----------
    X, y, n_trees, random_state, n_jobs, max_features, bootstrap, engine
        As in `grow_forest`; `n_jobs` also becomes the classifier's own.
    oob_score : bool, default=False
        Whether to set `oob_score_` and `oob_decision_function_`; nothing is said of rows that every tree saw.

    Returns
    -------
    RandomForestClassifier
        Fitted, the same as after its own `fit`, bit for bit: it predicts, explains itself and is pickled as usual.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> model = fit_sklearn_forest(X, np.arange(10) // 5, n_trees=10, random_state=7)
    >>> model.predict(X[:2])
    array([0, 0])
    """
    task = _Task.of(X, y, n_trees, random_state, n_jobs, max_features, bootstrap)
    if _use_twin(task, engine):
        return _to_sklearn(_grow_twin(task), task, oob_score=oob_score)
    return _fit_genuine(task, X, oob_score=oob_score)


@functools.cache
def available() -> bool:
    """Whether the fast twin agrees with the installed scikit-learn; tried once a process, at first use.

    Returns
    -------
    bool
        If not, one line is logged and scikit-learn's own code grows all forests.
    """
    difference = _first_difference()
    if difference is not None:
        _LOG.warning("forests are grown by scikit-learn itself, which is slower: %s", difference)
    return difference is None


@dataclass(frozen=True, eq=False)
class _Task:
    """What to grow, checked; `model` is an unfitted scikit-learn forest with the same parameters."""

    model: RandomForestClassifier
    X: Any  # float32, dense or sparse; scikit-learn grows the same trees on both, so the twin need not care
    y: npt.NDArray[Any]
    codes: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]
    candidates: int  # features tried per split

    @classmethod
    def of(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        n_trees: int,
        random_state: int,
        n_jobs: int,
        max_features: MaxFeatures,
        bootstrap: bool,
    ) -> _Task:
        """Check the arguments the way scikit-learn does."""
        if operator.index(n_trees) < 1:
            raise ValueError(f"n_trees is {n_trees}, but a forest needs at least 1 tree")
        model = RandomForestClassifier(
            n_trees,
            random_state=operator.index(random_state),
            n_jobs=n_jobs,
            max_features=max_features,
            bootstrap=bootstrap,
        )
        checked = validate_data(model, X, y, accept_sparse="csc", dtype=np.float32, ensure_all_finite="allow-nan")
        rows, labels = cast("tuple[Any, npt.NDArray[Any]]", checked)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(model, rows, labels, codes.astype(np.int64), classes, _candidates(max_features, rows.shape[1]))

    def rows(self) -> npt.NDArray[np.float32]:
        """The training rows, dense."""
        return np.ascontiguousarray(cast("Any", self.X).toarray() if issparse(self.X) else self.X)

    def obstacle(self) -> str | None:
        """Why the twin cannot grow this forest, if so."""
        if _jit_is_off():
            return "numba's compiler is switched off"
        if self.X.shape[0] > _MAX_ROWS:
            return f"X has more than {_MAX_ROWS} rows"
        if np.isnan(cast("Any", self.X).data if issparse(self.X) else self.X).any():
            return "X has missing values"
        return None


def _candidates(wanted: MaxFeatures, width: int) -> int:
    """Features tried per split, of `width` columns."""
    if wanted is None:
        return width
    if wanted == "sqrt":
        return max(1, int(np.sqrt(width)))
    if wanted == "log2":
        return max(1, int(np.log2(width)))
    if isinstance(wanted, float) and 0.0 < wanted <= 1.0:
        return max(1, int(wanted * width))
    if isinstance(wanted, (int, np.integer)) and wanted >= 1:
        return int(wanted)
    raise ValueError(
        f"max_features is {wanted!r}, but only 'sqrt', 'log2', None, an int from 1 or a float in (0, 1] are known"
    )


def _jit_is_off() -> bool:
    """Whether NUMBA_DISABLE_JIT is set: the kernels would run as plain Python, far slower than scikit-learn."""
    return bool(getattr(numba.config, "DISABLE_JIT", False))


_PATIENCE = 2_000  # trees: scikit-learn grows so many small ones in a few seconds, compiling the kernels takes ten
_asked = {"trees": 0}


def announce(n_trees: int) -> None:
    """Say that so many trees are going to be grown, so that compiling need not wait until it has proved to pay."""
    _asked["trees"] += n_trees


def _is_worth_compiling(task: _Task) -> bool:
    """Whether the kernels are compiled already, or so many trees were asked for that compiling them pays.

    Both ways grow the same trees, so a first small forest need not wait for the compiler.
    """
    if cast("Any", _grow_trees).signatures or _is_cached():
        return True
    _asked["trees"] += task.model.n_estimators
    return _asked["trees"] > _PATIENCE


@functools.cache
def _is_cached() -> bool:
    """Whether an earlier process left the compiled kernels in numba's cache."""
    folder = cast("Any", _grow_trees).stats.cache_path if _CACHE else None
    return folder is not None and any(Path(folder).glob(f"*.{_grow_trees.__name__}-*.nbi"))


def _use_twin(task: _Task, engine: Engine) -> bool:
    """Choose who grows the trees."""
    if engine == "sklearn":
        return False
    if engine == "auto":
        return task.obstacle() is None and _is_worth_compiling(task) and available()
    if engine == "twin":
        obstacle = task.obstacle()
        if obstacle is not None:
            raise ValueError(f"engine='twin' cannot grow this forest: {obstacle}; use engine='auto'")
        return True
    raise ValueError(f"engine is {engine!r}, but only 'auto', 'twin' and 'sklearn' are known")


def _grow_twin(task: _Task) -> Forest:
    """Grow the forest with the kernels above."""
    n, d = task.X.shape
    n_classes = len(task.classes)
    model = task.model
    seeds = np.random.RandomState(model.random_state).randint(_MAX_SEED, size=model.n_estimators).astype(np.int64)
    ranks = np.empty((2, d * n), dtype=np.uint16 if n < 1 << 16 else np.int32)
    by_column = ranks[0].reshape(d, n)
    rows = task.rows()
    levels = _rank_columns(np.ascontiguousarray(rows.T), by_column)
    ranks[1].reshape(n, d)[...] = by_column.T
    columns = _Columns(ranks.reshape(-1), *levels)
    bits = 32 if n_classes <= 2 else n.bit_length()
    bits = bits if bits * n_classes < 64 + (n_classes == 2) else 0

    def grow(some: npt.NDArray[np.int64]) -> Any:
        return _grow_trees(columns, task.codes, n_classes, bits, task.candidates, some, model.bootstrap)

    jobs = min(effective_n_jobs(model.n_jobs), len(seeds))
    if jobs == 1:
        blocks = [grow(seeds)]
    else:  # more blocks than threads, so that none waits long for the last
        with ThreadPoolExecutor(jobs) as pool:
            blocks = list(pool.map(grow, np.array_split(seeds, min(4 * jobs, len(seeds)))))
    offsets = np.concatenate([[0], *(np.diff(block[1]) for block in blocks)]).cumsum()
    counts = [block[1][-1] for block in blocks]

    def joined(name: str, per_node: int = 1) -> Any:
        parts = [getattr(block[0], name)[: count * per_node] for block, count in zip(blocks, counts, strict=True)]
        return parts[0].copy() if len(parts) == 1 else np.concatenate(parts)  # without the room to spare

    return Forest(
        children_left=joined("left"),
        children_right=joined("right"),
        feature=joined("feature"),
        threshold=joined("threshold"),
        impurity=joined("impurity"),
        n_node_samples=joined("n_samples"),
        weighted_n_node_samples=joined("weight"),
        missing_go_to_left=joined("missing_left"),
        value=joined("value", n_classes).reshape(-1, n_classes),
        tree_offsets=offsets,
        max_depths=np.concatenate([block[2] for block in blocks]),
        seeds=seeds,
        classes=task.classes,
        n_features=d,
        bootstrap=bool(model.bootstrap),
        train_X=rows,
        train_y=task.codes,
    )


def _fit_genuine(task: _Task, X: Any = None, *, oob_score: bool = False) -> RandomForestClassifier:
    """Let scikit-learn fit; `X` is the user's own matrix where its column names matter."""
    model = clone(task.model).set_params(oob_score=oob_score)
    return model.fit(task.X if X is None else X, task.y)


def _from_sklearn(model: RandomForestClassifier, task: _Task) -> Forest:
    """Flatten a fitted scikit-learn forest."""
    trees = [estimator.tree_ for estimator in model.estimators_]

    def joined(name: str, dtype: type) -> npt.NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in trees]).astype(dtype)

    rows = task.rows()
    return Forest(
        joined("children_left", np.int32),
        joined("children_right", np.int32),
        joined("feature", np.int32),
        joined("threshold", np.float64),
        joined("impurity", np.float64),
        joined("n_node_samples", np.int32),
        joined("weighted_n_node_samples", np.float64),
        joined("missing_go_to_left", np.bool_),
        np.ascontiguousarray(joined("value", np.float64)[:, 0, :]),
        np.cumsum([0, *(tree.node_count for tree in trees)]),
        np.array([tree.max_depth for tree in trees]),
        np.array([estimator.random_state for estimator in model.estimators_], dtype=np.int64),
        task.classes,
        rows.shape[1],
        bool(model.bootstrap),
        rows,
        task.codes,
    )


def _to_sklearn(forest: Forest, task: _Task, *, oob_score: bool) -> RandomForestClassifier:
    """Fill a genuine scikit-learn forest with our trees, through the state that its trees are pickled by."""
    model = task.model.set_params(oob_score=oob_score)
    n, n_classes = len(forest.train_y), len(forest.classes)
    pattern = RandomForestClassifier(1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    pattern_tree = pattern.estimators_[0].tree_
    nodes = np.zeros(len(forest.feature), dtype=pattern_tree.__getstate__()["nodes"].dtype)
    for name in ("feature", "threshold", "impurity", "n_node_samples", "weighted_n_node_samples", "missing_go_to_left"):
        nodes[name] = getattr(forest, name)
    nodes["left_child"], nodes["right_child"] = forest.children_left, forest.children_right
    values = forest.value[:, None, :]
    tree_classes = np.arange(n_classes, dtype=np.float64)  # a tree of a forest knows its classes by number only
    estimators = []
    for t, seed in enumerate(forest.seeds.tolist()):
        part = slice(forest.tree_offsets[t], forest.tree_offsets[t + 1])
        tree = type(pattern_tree)(forest.n_features, np.array([n_classes], dtype=np.intp), 1)
        state = {"max_depth": int(forest.max_depths[t]), "node_count": part.stop - part.start}
        tree.__setstate__({**state, "nodes": nodes[part], "values": values[part]})
        estimator = DecisionTreeClassifier(max_features=model.max_features, random_state=seed)
        estimator.n_features_in_, estimator.n_outputs_ = forest.n_features, 1
        estimator.classes_, estimator.n_classes_ = tree_classes.copy(), np.int64(n_classes)
        estimator.max_features_, estimator.tree_ = task.candidates, tree
        estimators.append(estimator)
    model.estimator_, model.estimators_ = model.estimator, estimators
    model.classes_, model.n_classes_, model.n_outputs_ = forest.classes.copy(), n_classes, 1
    private = {"_n_samples": n, "_n_samples_bootstrap": n if forest.bootstrap else None, "_sample_weight": None}
    for name in private.keys() & vars(pattern).keys():  # the last came with scikit-learn 1.9
        setattr(model, name, private[name])
    if oob_score:
        model.oob_decision_function_ = forest.oob_decision_function()
        model.oob_score_ = forest.oob_score()
    return model


def _as_rows(X: Any, n_features: int) -> npt.NDArray[np.float32]:
    """Rows to predict as a dense float32 matrix."""
    rows = check_array(X, accept_sparse=True, dtype=np.float32, ensure_all_finite="allow-nan")
    if rows.shape[1] != n_features:
        raise ValueError(f"X has {rows.shape[1]} columns, but the forest was grown on {n_features}")
    return np.ascontiguousarray(cast("Any", rows).toarray() if issparse(rows) else rows)


def _first_difference() -> str | None:
    """Grow a few small forests both ways; names the first thing that differs, if any."""
    if _jit_is_off():
        return "numba's compiler is switched off"
    rng = np.random.RandomState(0)
    for n_classes, width in ((2, 9), (3, 9), (2, 40)):
        X = rng.poisson(0.7, (60, width)).astype(np.float32)
        X[:, ::3] *= rng.standard_normal((60, len(range(0, width, 3)))).astype(np.float32)
        X[:, 1] = 4.0
        X[:20] = X[20:40]
        task = _Task.of(X, rng.randint(n_classes, size=60), 4, n_classes, 1, "sqrt", True)
        try:
            with warnings.catch_warnings():  # four trees are too few for everybody's out-of-bag vote; no matter here
                warnings.simplefilter("ignore")
                difference = _compare(
                    _fit_genuine(task, oob_score=True), _to_sklearn(_grow_twin(task), task, oob_score=True)
                )
        except Exception as error:  # noqa: BLE001 (whatever a later scikit-learn does to us, the answer is its own code)
            difference = f"{type(error).__name__}: {error}"
        if difference is not None:
            return f"the fast twin does not agree with scikit-learn {sklearn.__version__} ({difference})"
    return None


def _compare(genuine: Any, twin: Any) -> str | None:
    """Name what differs between two fitted forests, to the last bit, or give None."""
    if vars(genuine).keys() != vars(twin).keys():
        return "attributes of the forest"
    for one, other in zip(genuine.estimators_, twin.estimators_, strict=True):
        if vars(one).keys() != vars(other).keys() or one.random_state != other.random_state:
            return "attributes of a tree"
        ours = other.tree_.__getstate__()
        for name, expected in one.tree_.__getstate__().items():
            if not np.array_equal(expected, ours[name]):
                return str(name)
    if not np.array_equal(genuine.oob_decision_function_, twin.oob_decision_function_):
        return "out-of-bag votes"
    if not np.array_equal(genuine.feature_importances_, twin.feature_importances_):
        return "importances"
    return None
