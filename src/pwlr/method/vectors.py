"""`FeatureLayout`: which column stands for what (learnt without any diffusion), and the vectors that fill it.

A layout comes from a survey of the fitted graphs; surveys of shards merge, so it can be learnt from a stream. Filling
adds up heights edge by edge in the order of the edges, which makes a graph's vector the same bits in every batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pwlr.errors import OptionError, UnseenError, UnseenWarning
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import MULTISCALE, check_steps
from pwlr.method.filtration import EventRow
from pwlr.method.kinds import (
    KeptKinds,
    LabelTypes,
    Survey,
    common_types,
    component_counts,
    edge_kinds,
    label_types,
    node_kinds,
)

__all__ = [
    "Accumulator",
    "FeatureLayout",
    "LayoutOptions",
    "check_unseen",
    "check_unseen_option",
    "parse_k",
    "parse_pairs",
]

Homology = Literal["h0", "h1", "h0+h1"]
Representation = Literal["typed", "sorted", "degree-pairs"]
Stats = Literal["auto", "sum", "moments"]
Unseen = Literal["warn", "ignore", "error"]
Pair = tuple[float, float]

_MOMENTS = ("count", "sum", "sumsq")


# -- options -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayoutOptions:
    """The choices that decide what the columns are; checked when made."""

    pairs: tuple[Pair, ...] = MULTISCALE
    representation: Representation = "typed"
    homology: Homology = "h0+h1"
    stats: Stats = "auto"
    min_graphs: int | Literal["auto"] = "auto"
    tau: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what does not exist."""
        _choose("representation", self.representation, ("typed", "sorted", "degree-pairs"))
        _choose("homology", self.homology, ("h0+h1", "h0", "h1"))
        _choose("stats", self.stats, ("auto", "sum", "moments"))
        if self.stats == "sum" and self.representation == "typed":
            raise OptionError(
                "representation='typed' is always made of moments: leave stats='auto', or use 'degree-pairs'"
            )
        if self.stats == "moments" and self.representation == "sorted":
            raise OptionError(
                "stats='moments' does not go with representation='sorted', which lists the heights themselves"
            )
        if self.min_graphs != "auto" and not (_is_number(self.min_graphs, whole=True) and self.min_graphs >= 1):
            raise OptionError(f"min_graphs={self.min_graphs!r} must be 'auto' or a whole number of at least 1")
        if not _is_number(self.tau) or not np.isfinite(self.tau):
            raise OptionError(f"tau={self.tau!r} must be a finite number")

    @property
    def groups(self) -> tuple[bool, ...]:
        """The wanted values of ``closes_cycle``: False for H0, True for H1."""
        return {"h0": (False,), "h1": (True,), "h0+h1": (False, True)}[self.homology]

    @property
    def moments(self) -> bool:
        """Whether a kind has count, sum and sum of squares, or the sum of (height + tau) alone."""
        return self.representation == "typed" or self.stats == "moments"


def _choose(option: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise OptionError(f"{option}={value!r} is not known: choose one of {', '.join(map(repr, known))}")


def _is_number(value: Any, *, whole: bool = False) -> bool:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def parse_k(k: Any) -> tuple[Pair, ...]:
    """Read ``k``: ``"multiscale"``, one (k1, k2), or a list of them."""
    if isinstance(k, str) and k == "multiscale":
        return MULTISCALE
    return parse_pairs(k, "k", "give (k1, k2), a list of such pairs, or 'multiscale'")


def parse_pairs(k: Any, name: str, wanted: str) -> tuple[Pair, ...]:
    """Read one (k1, k2) or a list of them."""
    if isinstance(k, str):
        raise OptionError(f"{name}={k!r} is not known: {wanted}")
    try:
        items = list(k)
        single = len(items) == 2 and all(np.ndim(item) == 0 and not isinstance(item, str) for item in items)
        pairs = [tuple(items)] if single else [tuple(item) for item in items]
    except TypeError:
        raise OptionError(f"{name}={k!r} is not understood: {wanted}") from None
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise OptionError(f"{name}={k!r} is not understood: {wanted}")
    checked = tuple((check_steps(k1, "k1"), check_steps(k2, "k2")) for k1, k2 in pairs)
    if len(set(checked)) < len(checked):
        raise OptionError(f"{name}={k!r} names a pair twice")
    return checked


# -- the layout --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureLayout:
    """Which column stands for what.

    Attributes
    ----------
    options : LayoutOptions
    n_graphs : int
        Fitted graphs.
    lengths : (int, int)
        Of the H0 and the H1 list of ``sorted``.
    node_kinds, edge_kinds : KeptKinds
        Of ``typed`` with all levels of the back-off; of ``degree-pairs`` the pairs alone.
    with_h1 : bool array
        Which edge kinds have H1 columns.
    min_graphs : int
        The resolved threshold of ``typed``.
    """

    options: LayoutOptions
    n_graphs: int
    lengths: tuple[int, int]
    node_kinds: KeptKinds
    edge_kinds: KeptKinds
    with_h1: NDArray[np.bool_]
    min_graphs: int
    label_types: LabelTypes
    label_names: tuple[Mapping[Any, str], Mapping[Any, str]]

    @classmethod
    def fit(cls, batch: GraphBatch, options: LayoutOptions) -> FeatureLayout:
        """Learn a layout from graphs."""
        return cls.from_survey(Survey.of(batch), options)

    @classmethod
    def from_survey(cls, survey: Survey, options: LayoutOptions) -> FeatureLayout:
        """Learn a layout from a (merged) survey."""
        none = KeptKinds((), survey.node_values, survey.edge_values)
        if options.representation == "degree-pairs":
            pairs = survey.degree_pairs()
            return cls._of(survey, options, none, pairs, np.ones(len(pairs), dtype=bool), 1)
        if options.representation == "sorted":
            return cls._of(survey, options, none, none, np.zeros(0, dtype=bool), 1)
        if options.min_graphs != "auto":
            return cls._typed(survey, options, int(options.min_graphs))
        min_graphs = 5 if survey.n_graphs >= 200 else max(1, survey.n_graphs // 40)
        limit = max(1000, 10 * survey.n_graphs)
        layout = cls._typed(survey, options, min_graphs)
        while layout.n_columns > limit and min_graphs <= survey.n_graphs:
            min_graphs *= 2
            layout = cls._typed(survey, options, min_graphs)
        return layout

    @classmethod
    def _typed(cls, survey: Survey, options: LayoutOptions, min_graphs: int) -> FeatureLayout:
        node_kinds, kinds = survey.kept_nodes(min_graphs), survey.kept_edges(min_graphs)
        cyclic = kinds.place(survey.edges.table[survey.on_cycle])
        with_h1 = np.zeros(len(kinds), dtype=bool)
        with_h1[cyclic[cyclic >= 0]] = True
        return cls._of(survey, options, node_kinds, kinds, with_h1, min_graphs)

    @classmethod
    def _of(cls, survey: Survey, options: LayoutOptions, *parts: Any) -> FeatureLayout:
        lengths = (survey.max_h0, survey.max_h1)
        nodes, edges, with_h1, min_graphs = parts
        return cls(
            options, survey.n_graphs, lengths, nodes, edges, with_h1, min_graphs, survey.label_types, survey.label_names
        )

    # -- columns -------------------------------------------------------------------------------------------------------

    @cached_property
    def once(self) -> tuple[str, ...]:
        """Names of the columns that stand there once, before those of every (k1, k2): node kinds and totals."""
        if self.options.representation != "typed":
            return ()
        births = [f"nodes[{words}]" for words in self._node_words] + ["nodes"]
        chosen = {"h0": [*births, "h0"], "h1": ["h1"], "h0+h1": [*births, "h0", "h1"]}
        return tuple(chosen[self.options.homology])

    @cached_property
    def block(self) -> tuple[str, ...]:
        """Names of the columns of one (k1, k2), without the pair that follows them after an @."""
        groups = {False: "h0", True: "h1"}
        names: list[str] = []
        for closes in self.options.groups:
            group = groups[closes]
            if self.options.representation == "sorted":
                names += [f"{group}[{i}]" for i in range(self.lengths[closes])]
                continue
            stats = [f".{stat}" for stat in _MOMENTS] if self.options.moments else [""]
            words = [w for w, has in zip(self._edge_words, self.in_group(closes), strict=True) if has]
            names += [f"{group}{stat}[{word}]" for word in words for stat in stats]
        return tuple(names)

    def in_group(self, closes: bool) -> NDArray[np.bool_]:
        """Tell which edge kinds have columns in H0 (False) or in H1 (True)."""
        return self.with_h1 if closes else np.ones(len(self.edge_kinds), dtype=bool)

    @property
    def n_columns(self) -> int:
        """Width of the vectors."""
        return self.n_once + len(self.options.pairs) * self.n_block

    @cached_property
    def n_once(self) -> int:
        """Number of columns that no (k1, k2) changes."""
        if self.options.representation != "typed":
            return 0
        return {"h0": len(self.node_kinds) + 2, "h1": 1, "h0+h1": len(self.node_kinds) + 3}[self.options.homology]

    @cached_property
    def n_block(self) -> int:
        """Number of columns of one (k1, k2)."""
        return sum(self.group_width(closes) for closes in self.options.groups)

    def group_width(self, closes: bool) -> int:
        """Number of columns of one (k1, k2) in H0 (False) or in H1 (True)."""
        if self.options.representation == "sorted":
            return self.lengths[closes]
        return int(self.in_group(closes).sum()) * (len(_MOMENTS) if self.options.moments else 1)

    @property
    def names(self) -> list[str]:
        """Name of every column."""
        pairs = [",".join("inf" if np.isinf(steps) else str(steps) for steps in pair) for pair in self.options.pairs]
        return [*self.once, *(f"{name}@{pair}" for pair in pairs for name in self.block)]

    @cached_property
    def _node_words(self) -> list[str]:
        labels = _Words(self.node_kinds.node_values, self.label_names[0])
        (_, finest), (_, by_label) = self.node_kinds.levels
        return [labels.node(label, degree) for degree, label in finest.tolist()] + [
            f"{labels.of(label)},rare" for (label,) in by_label.tolist()
        ]

    @cached_property
    def _edge_words(self) -> list[str]:
        if self.options.representation == "degree-pairs":
            return [f"{low},{high}" for low, high in self.edge_kinds.levels[0][1].tolist()]
        ends = _Words(self.edge_kinds.node_values, self.label_names[0])
        bonds = _Words(self.edge_kinds.edge_values, self.label_names[1])
        finest, by_label, by_degree = (table.tolist() for _, table in self.edge_kinds.levels)
        return [
            *(f"{ends.node(l_a, d_a)}-{ends.node(l_b, d_b)}{bonds.tail(e)}" for d_a, d_b, l_a, l_b, e in finest),
            *(f"{ends.of(l_a)}-{ends.of(l_b)}{bonds.tail(e)},rare" for l_a, l_b, e in by_label),
            *(f"({d_a})-({d_b}),rare" for d_a, d_b in by_degree),
        ]


class _Words:
    """Label codes in column names: the words of their values, quoted where they would be taken for punctuation."""

    def __init__(self, values: NDArray[Any], names: Mapping[Any, str]) -> None:
        words = [names.get(value, str(value)) for value in values.tolist()]
        if len(set(words)) < len(words):
            words = [f"{word}#{value}" for word, value in zip(words, values.tolist(), strict=True)]
        self._words = [_quoted(word) for word in words]

    def of(self, code: int) -> str:
        """Return the words of a label, ``*`` without labels."""
        return self._words[code] if self._words else "*"

    def node(self, code: int, degree: int) -> str:
        """Return ``C(3)``: a node labelled C with three neighbours."""
        return f"{self._words[code] if self._words else ''}({degree})"

    def tail(self, code: int) -> str:
        """Return ``:aromatic`` for an edge label, nothing without labels."""
        return f":{self._words[code]}" if self._words else ""


def _quoted(word: str) -> str:
    clear = word and (word.lstrip("-").isdigit() or not set(word) & set("()[]-:,.@*' "))
    return word if clear else repr(word)


# -- filling -----------------------------------------------------------------------------------------------------------


class Accumulator:
    """Fills the vectors of one batch, one event row after the other.

    Values go to cells (graph, column) that are known before any height is: the kinds of a graph's edges. So a wide
    layout costs what its graphs use of it.
    """

    def __init__(self, layout: FeatureLayout, batch: GraphBatch) -> None:
        self.layout, self.batch = layout, batch
        self._start = {
            pair: layout.n_once + number * layout.n_block for number, pair in enumerate(layout.options.pairs)
        }
        self._parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        if layout.options.representation == "sorted":
            return
        typed = layout.options.representation == "typed"
        if typed:
            said = ("the layout was fitted on graphs with", "these have")
            common_types(layout.label_types, label_types(batch), said)
        kinds = edge_kinds(batch)
        position = layout.edge_kinds.find(kinds)[kinds.of_each]
        # one cell for each (graph, kind) that occurs; every edge knows its cell, -1 if it has no column
        self._edge = np.flatnonzero(position >= 0)
        cell = batch.edge_graph[self._edge] * max(len(layout.edge_kinds), 1) + position[self._edge]
        cells, self._slot = np.unique(cell, return_inverse=True)
        self._cell_graph, self._cell_kind = np.divmod(cells, max(len(layout.edge_kinds), 1))
        if typed:
            self._add_once()

    def add(self, row: EventRow) -> None:
        """Take in those (k1, k2) of an event row that the layout wants."""
        for step, k2 in enumerate(row.k2):
            start = self._start.get((row.k1, k2))
            if start is None:
                continue
            for closes in self.layout.options.groups:
                chosen = row.closes_cycle[step] == closes
                if self.layout.options.representation == "sorted":
                    self._add_sorted(row.heights[step], chosen, start, closes)
                else:
                    self._add_kinds(row.heights[step], chosen, start, closes)
                start += self.layout.group_width(closes)

    def dense(self, dtype: Any = np.float64) -> NDArray[Any]:
        """Return the vectors as an array."""
        X = np.zeros((self.batch.n_graphs, self.layout.n_columns), dtype=dtype)
        for graph, column, value in self._parts:
            X[graph, column] = value  # no cell comes twice
        return X

    def sparse(self, dtype: Any = np.float64) -> sp.csr_array:
        """Return the vectors in CSR form, without stored zeros."""
        empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        graph, column, value = (np.concatenate(part) for part in zip(empty, *self._parts, strict=True))
        value = value.astype(dtype)
        filled = value != 0  # asked after the cast, which can make a zero
        shape = (self.batch.n_graphs, self.layout.n_columns)
        # scikit-learn's trees take 32-bit indices only; SciPy keeps the type of what it is given
        index = np.int32 if max(*shape, len(value)) <= np.iinfo(np.int32).max else np.int64
        return sp.csr_array((value[filled], (graph[filled].astype(index), column[filled].astype(index))), shape=shape)

    def _add_once(self) -> None:
        """Node kinds and the three totals, which no (k1, k2) changes."""
        layout, batch = self.layout, self.batch
        graphs = np.arange(batch.n_graphs)
        n_nodes = np.diff(batch.node_ptr)
        h0 = n_nodes - component_counts(batch)
        totals = {"h0": [n_nodes, h0], "h1": [np.diff(batch.edge_ptr) - h0]}
        chosen = list(chain.from_iterable(totals[group] for group in layout.options.homology.split("+")))
        first_total = layout.n_once - len(chosen)
        for offset, values in enumerate(chosen):
            self._parts.append((graphs, np.full(len(graphs), first_total + offset), values.astype(np.float64)))
        if layout.options.homology == "h1":
            return
        kinds = node_kinds(batch)
        position = layout.node_kinds.find(kinds)[kinds.of_each]
        known = position >= 0
        cell = batch.node_graph[known] * max(len(layout.node_kinds), 1) + position[known]
        cells, counts = np.unique(cell, return_counts=True)
        graph, column = np.divmod(cells, max(len(layout.node_kinds), 1))
        self._parts.append((graph, column, counts.astype(np.float64)))

    def _add_kinds(self, heights: NDArray[np.float64], chosen: NDArray[np.bool_], start: int, closes: bool) -> None:
        """Add up count, sum and sum of squares, or the sum of (height + tau), by kind; edge after edge."""
        layout = self.layout
        has_column = layout.in_group(closes)
        column = start + (np.cumsum(has_column) - 1) * (len(_MOMENTS) if layout.options.moments else 1)
        wanted = chosen[self._edge]
        slot, h = self._slot[wanted], heights[self._edge[wanted]]
        keep = has_column[self._cell_kind] if len(has_column) else np.zeros(0, dtype=bool)
        graph = self._cell_graph[keep]
        stats = (np.ones(len(h)), h, h * h) if layout.options.moments else (h + layout.options.tau,)
        for offset, weights in enumerate(stats):
            sums = np.bincount(slot, weights=weights, minlength=len(self._cell_kind))
            self._parts.append((graph, column[self._cell_kind[keep]] + offset, sums[keep]))

    def _add_sorted(self, heights: NDArray[np.float64], chosen: NDArray[np.bool_], start: int, closes: bool) -> None:
        """List the heights of every graph in ascending order, plus tau; what is longer than the layout is cut off."""
        h, graph = heights[chosen], self.batch.edge_graph[chosen]
        order = np.lexsort((h, graph))
        h, graph = h[order], graph[order]
        place = np.arange(len(h)) - np.searchsorted(graph, np.arange(self.batch.n_graphs))[graph]
        fits = place < self.layout.lengths[closes]
        self._parts.append((graph[fits], start + place[fits], h[fits] + self.layout.options.tau))


# -- what a layout has no column for -----------------------------------------------------------------------------------


def check_unseen_option(unseen: Unseen) -> None:
    """Refuse what ``unseen`` cannot be."""
    _choose("unseen", unseen, ("warn", "ignore", "error"))


def check_unseen(layout: FeatureLayout, batch: GraphBatch, unseen: Unseen) -> None:
    """Warn of, or refuse, longer lists and new degree pairs; ``typed`` falls back to coarser kinds instead."""
    check_unseen_option(unseen)
    if unseen == "ignore" or layout.options.representation == "typed":
        return
    look = _longer_lists if layout.options.representation == "sorted" else _new_pairs
    for complaint in look(layout, batch):
        if unseen == "error":
            raise UnseenError(f"{complaint}; pass unseen='warn' or 'ignore' to go on, or fit on more graphs")
        warnings.warn(f"{complaint}; pass unseen='ignore' to silence this", UnseenWarning, stacklevel=2)


def _longer_lists(layout: FeatureLayout, batch: GraphBatch) -> Iterator[str]:
    h0 = np.diff(batch.node_ptr) - component_counts(batch)
    lists = {"h0": h0, "h1": np.diff(batch.edge_ptr) - h0}
    for group in layout.options.homology.split("+"):
        fitted = layout.lengths[group == "h1"]
        longer = np.flatnonzero(lists[group] > fitted)
        if len(longer):
            graph = int(longer[0])
            yield (
                f"{len(longer)} graphs have a longer {group.upper()} list than the fitted {fitted} "
                f"(graph {graph}: {lists[group][graph]}); the largest heights are cut off"
            )


def _new_pairs(layout: FeatureLayout, batch: GraphBatch) -> Iterator[str]:
    kinds = edge_kinds(batch)
    unknown = np.flatnonzero(layout.edge_kinds.find(kinds)[kinds.of_each] < 0)
    if len(unknown):
        edge = int(unknown[0])
        low, high = sorted(batch.degrees[batch.edges[edge]].tolist())
        graphs = len(np.unique(batch.edge_graph[unknown]))
        yield (
            f"{graphs} graphs have degree pairs that no fitted graph had "
            f"(graph {batch.edge_graph[edge]}: ({low}, {high})); their edges are left out"
        )
