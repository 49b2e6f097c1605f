"""The paper's worked example: every printed digit beside what the backends compute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pwlr.engine import Filtering, embed
from pwlr.experiments.published import printed_example
from pwlr.graphs import GraphBatch
from pwlr.method.vectors import FeatureLayout, LayoutOptions

__all__ = ["DECIMALS", "ExampleNumber", "example_graph", "example_table"]

DECIMALS = 6
"""The paper rounds to six decimals and leaves zeros at the end out."""

_BACKENDS = ("numpy", "numba")
_VECTORS: Mapping[str, tuple[Literal["sorted", "degree-pairs"], Literal["h0", "h1"]]] = {
    "h0": ("sorted", "h0"),
    "h1": ("sorted", "h1"),
    "opt_h0": ("degree-pairs", "h0"),
    "opt_h1": ("degree-pairs", "h1"),
}
_VARIANTS = {"h0": "PWLR-H0", "h1": "PWLR-H1", "opt_h0": "PWLR-OPT-H0", "opt_h1": "PWLR-OPT-H1"}


@dataclass(frozen=True)
class ExampleNumber:
    """One number of the example's table.

    Attributes
    ----------
    k2 : int or infinity
        k1 is 0 throughout.
    variant : str
        ``PWLR-H0``, ``PWLR-H1``, ``PWLR-OPT-H0`` or ``PWLR-OPT-H1``.
    coordinate : str
        Place in the sorted list from 0, or degree pair, as our column names have it.
    printed_coordinate : str
        The same as the paper prints it.
    printed : str
        The printed digits.
    computed : mapping from backend to float
    agrees : bool
        Whether every backend gives the printed digits.
    note : str or None
        What is wrong with the printed coordinate, where it is not ours.
    """

    k2: float
    variant: str
    coordinate: str
    printed_coordinate: str
    printed: str
    computed: Mapping[str, float]
    agrees: bool
    note: str | None = None


def example_graph() -> GraphBatch:
    """Return the example's graph: nodes v1 to v4 are 0 to 3, with the labels and edge weights of the paper's figure."""
    return GraphBatch.from_edges(
        [[(0, 1), (0, 2), (0, 3), (2, 3)]],
        weights=[[1.0, 2.0, 3.0, 1.0]],
        node_labels=[["A", "B", "C", "C"]],
        name="worked example",
    )


def example_table(backends: Sequence[str] = _BACKENDS) -> list[ExampleNumber]:
    """Compute the example's table: k2 from 0 to 6 and infinity, both homologies, sorted and by degree pair; tau is 0.

    Returns
    -------
    list of ExampleNumber
        In reading order of the printed table.
    """
    example = printed_example()
    rows = example["rows"]
    steps = [math.inf if row["k2"] == "inf" else int(row["k2"]) for row in rows]
    computed = {vector: _computed(vector, steps, backends) for vector in _VECTORS}
    table = []
    for number, (k2, row) in enumerate(zip(steps, rows, strict=True)):
        for vector in _VECTORS:
            coordinates, values = computed[vector]
            paired = _VECTORS[vector][0] == "degree-pairs"
            over_columns = example["degree_pairs"] if paired else coordinates
            for place, (printed, shown) in enumerate(zip(row[vector], over_columns, strict=True)):
                mine = {backend: float(values[backend][number, place]) for backend in backends}
                agrees = all(_same_digits(printed, value) for value in mine.values())
                note = _note(shown, coordinates[place], example["notes"])
                table.append(
                    ExampleNumber(k2, _VARIANTS[vector], coordinates[place], shown, printed, mine, agrees, note)
                )
    return table


def _computed(
    vector: str, steps: Sequence[float], backends: Sequence[str]
) -> tuple[list[str], dict[str, NDArray[np.float64]]]:
    """Return the names of the coordinates of a vector, and its numbers by backend, one row for each k2."""
    representation, homology = _VECTORS[vector]
    pairs = tuple((0.0, float(k2)) for k2 in steps)
    options = LayoutOptions(pairs, representation=representation, homology=homology, tau=0.0)
    graph = example_graph()
    layout = FeatureLayout.fit(graph, options)
    names = [name.partition("[")[2].partition("]")[0] for name in layout.block]
    values = {backend: embed(graph, layout, Filtering(backend=backend)) for backend in backends}
    return names, {backend: array.reshape(len(steps), -1) for backend, array in values.items()}


def _same_digits(printed: str, value: float) -> bool:
    half_a_digit = 0.5 * 10.0**-DECIMALS * (1 + 1e-6)  # a little more, for halves in binary
    return abs(float(printed) - value) <= half_a_digit


def _note(printed: str, computed: str, notes: list[dict[str, Any]]) -> str | None:
    found = (note["says"] for note in notes if (note["printed"], note["computed"]) == (printed, computed))
    return None if printed == computed else next(found, "the printed degree pair is not that of the edge")
