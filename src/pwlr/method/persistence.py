"""Event rows as persistence diagrams, in the shapes that GUDHI, persim and giotto-tda take as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from pwlr.errors import OptionError
from pwlr.graphs import GraphBatch
from pwlr.method.filtration import EventRow

__all__ = ["Diagrams", "Essential", "diagrams"]

FloatArray = NDArray[np.float64]
Essential = Literal["inf", "cap", "drop"]


@dataclass(frozen=True)
class Diagrams(Sequence[list[FloatArray]]):
    """Persistence diagrams of a batch at one (k1, k2).

    ``diagrams[i]`` is ``[H0, H1]`` of graph ``i``, each of shape (n_points, 2), as persim and ripser.py write them;
    ``diagrams.h0`` and ``diagrams.h1`` are lists over the graphs, as ``gudhi.representations`` takes them;
    ``diagrams.to_giotto()`` is one padded array. Points with equal birth and death are kept: every edge is there.

    Attributes
    ----------
    h0, h1 : list of float64 array, shape (n_points, 2)
        (birth, death). Nodes are born at 0. H0 goes up by death, then the components that never die; H1 by birth.
    h0_edges, h1_edges : list of int64 array, shape (n_points, 2)
        The edge behind every point, by its nodes' numbers in their graph; -1 where no edge is behind it.
    essential : "inf", "cap" or "drop"
    k1, k2 : int or infinity
    """

    h0: list[FloatArray]
    h1: list[FloatArray]
    h0_edges: list[NDArray[np.int64]]
    h1_edges: list[NDArray[np.int64]]
    essential: Essential
    k1: float
    k2: float

    def __len__(self) -> int:
        return len(self.h0)

    @overload
    def __getitem__(self, index: int) -> list[FloatArray]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[FloatArray]]: ...
    def __getitem__(self, index: int | slice) -> list[FloatArray] | list[list[FloatArray]]:
        """Return ``[H0, H1]`` of one graph."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return [self.h0[index], self.h1[index]]

    def __iter__(self) -> Iterator[list[FloatArray]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Diagrams({len(self)} graphs, k1={self.k1}, k2={self.k2}, essential={self.essential!r})"

    def to_giotto(self) -> FloatArray:
        """Return the (n_graphs, n_points, 3) array of (birth, death, dimension), padded with points on the diagonal."""
        if self.essential == "inf":
            raise OptionError("giotto-tda takes no infinite deaths: ask for essential='cap' or 'drop'")
        wide = [max((len(points) for points in group), default=0) for group in (self.h0, self.h1)]
        padded = np.zeros((len(self), sum(wide), 3))
        padded[:, wide[0] :, 2] = 1
        for graph, groups in enumerate(self):
            for start, points in zip((0, wide[0]), groups, strict=True):
                padded[graph, start : start + len(points), :2] = points
        return padded


def diagrams(batch: GraphBatch, row: EventRow, step: int = 0, essential: Essential = "inf") -> Diagrams:
    """Turn one (k1, k2) of an event row into diagrams.

    A graph is a 1-dimensional complex, so cycles never die, and neither does one component of each connected part:
    such classes die at infinity, at the graph's largest height (``"cap"``), or are left out (``"drop"``).
    """
    if essential not in ("inf", "cap", "drop"):
        raise OptionError(f"essential={essential!r} is not known: choose one of 'inf', 'cap', 'drop'")
    found = Diagrams([], [], [], [], essential, row.k1, row.k2[step])
    for graph in range(batch.n_graphs):
        first, last = batch.edge_ptr[graph : graph + 2]
        heights, closes = row.heights[step, first:last], row.closes_cycle[step, first:last]
        edges = batch.edges[first:last].astype(np.int64) - batch.node_ptr[graph]
        by_height = np.argsort(heights, kind="stable")
        deaths, births = by_height[~closes[by_height]], by_height[closes[by_height]]
        n_parts = int(np.diff(batch.node_ptr[graph : graph + 2])[0]) - len(deaths)
        end = np.inf if essential == "inf" else float(heights.max(initial=0.0))
        h0 = np.column_stack([np.zeros(len(deaths)), heights[deaths]])
        h1 = np.column_stack([heights[births], np.full(len(births), end)])
        h0_edges, h1_edges = edges[deaths], edges[births]
        if essential == "drop":
            h1, h1_edges = h1[:0], h1_edges[:0]
        else:
            h0 = np.vstack([h0, np.tile([0.0, end], (n_parts, 1))])
            h0_edges = np.vstack([h0_edges, np.full((n_parts, 2), -1)])
        for values, into in ((h0, found.h0), (h1, found.h1)):
            into.append(values)
        for numbers, of in ((h0_edges, found.h0_edges), (h1_edges, found.h1_edges)):
            of.append(numbers)
    return found
