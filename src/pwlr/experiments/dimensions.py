"""The paper's dimension table, counted: how wide every representation is, beside what is printed.

Rows that describe a data set (graphs, nodes, edges, attributes) are those of its files; labels, WL counts and the
widths of our vectors are counted on the graphs that the recipe makes of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pwlr.datasets import available_datasets, content_of, dataset_info, load_dataset
from pwlr.errors import OptionError
from pwlr.experiments.published import dimension_doubt, printed_dimensions
from pwlr.graphs import GraphBatch
from pwlr.method.features import dense_codes
from pwlr.method.kinds import Survey, rows_to_codes
from pwlr.method.vectors import FeatureLayout, LayoutOptions

__all__ = ["QUANTITIES", "WL_ROUNDS", "Dimension", "dimension_table", "dimensions_of", "wl_label_counts"]

IntArray = NDArray[np.int64]

WL_ROUNDS = (1, 10, 20)
"""Numbers of Weisfeiler-Lehman iterations whose label counts the paper prints."""

_WL = "WL_PWL-H0_h"
_FOLDS = 10
_ATTRIBUTES_OF = {"PROTEINS": "PROTEINS_full"}  # the paper prints one column for the two TU sets

QUANTITIES: Mapping[str, str] = {
    "n_graphs": "graphs",
    "avg_nodes": "average number of nodes",
    "avg_edges": "average number of edges in the files",
    "avg_edges_used": "average number of edges that the recipe keeps",
    "n_node_labels": "discrete node labels",
    "node_attribute_dim": "dimension of the node attributes",
    "edge_attribute_dim": "dimension of the edge attributes",
    "avg_dim_all_node_features": "average dimension of all node features",
    "graph_kernels_10fold": "graph kernels (smallest training part of ten folds)",
    **{f"{_WL}{h}": f"WL, PWL-H0 (h = {h})" for h in WL_ROUNDS},
    "PWLR-H0": "PWLR-H0 as the paper counts it (largest number of nodes)",
    "PWLR-H0 filled": "PWLR-H0 as we store it (columns that some graph fills)",
    "PWLR-H1": "PWLR-H1",
    "PWLR-OPT": "PWLR-OPT (degree pairs)",
    "typed": "typed at multiscale k, ours",
}
"""What is counted, in the order of the table, with the words for its row."""


@dataclass(frozen=True)
class Dimension:
    """One figure of the dimension table, printed and counted.

    Attributes
    ----------
    dataset, recipe, quantity : str
        The quantity is a key of `QUANTITIES`, or ``WL_PWL-H0_h`` and another number of iterations.
    printed : float or None
        None where the paper prints nothing, "-" or N/A.
    at_least : bool
        Whether the paper prints a lower bound.
    computed : float or None
        None where there is nothing to count (no labels, no attributes).
    agrees : bool or None
        To the printed digits; None where one of the two is missing.
    explanation, source : str or None
        Why the two differ, where that is known, and who says so.
    """

    dataset: str
    recipe: str
    quantity: str
    printed: float | None
    at_least: bool
    computed: float | None
    agrees: bool | None
    explanation: str | None = None
    source: str | None = None

    @property
    def words(self) -> str:
        """The quantity in words."""
        other_rounds = f"WL, PWL-H0 (h = {self.quantity.removeprefix(_WL)})"
        return QUANTITIES.get(self.quantity, other_rounds)


def dimension_table(
    datasets: Iterable[str] | None = None,
    recipe: str = "as-published",
    *,
    rounds: Sequence[int] = WL_ROUNDS,
    data_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> list[Dimension]:
    """Count every figure of the dimension table.

    Nothing is capped: where the paper prints ">= 10^6", `computed` is the true number.

    Parameters
    ----------
    datasets : iterable of str, optional
        Default: the thirteen sets that the paper prints.
    recipe : {"as-published", "as-written", "plain"}
        The printed label and WL counts are those of ``as-published``, which drops isolated nodes.
    rounds : sequence of int
        Numbers of Weisfeiler-Lehman iterations.
    data_dir, cache_dir, download
        As in `pwlr.load_dataset`.

    Returns
    -------
    list of Dimension
        Data set by data set, in the order of `QUANTITIES`.
    """
    names = list(printed_dimensions()) if datasets is None else list(datasets)
    table = []
    for name in names:
        batch = load_dataset(name, recipe, data_dir=data_dir, cache_dir=cache_dir, download=download)
        table += dimensions_of(batch, recipe, rounds=rounds)
    return table


def dimensions_of(batch: GraphBatch, recipe: str = "plain", *, rounds: Sequence[int] = WL_ROUNDS) -> list[Dimension]:
    """Count the figures of one data set.

    Parameters
    ----------
    batch : GraphBatch
        The graphs that `recipe` makes of the set that the batch is called after.
    recipe : str
        Noted in the records.
    rounds : sequence of int
        Numbers of Weisfeiler-Lehman iterations.
    """
    if any(h < 0 for h in rounds):
        raise OptionError(f"rounds={list(rounds)} must be numbers of iterations from 0 on")
    computed = {**_of_files(batch), **_of_graphs(batch), **_of_labels(batch, rounds), **_widths(batch)}
    order = [*QUANTITIES, *(quantity for quantity in computed if quantity not in QUANTITIES)]
    printed = printed_dimensions().get(batch.name, {})
    return [
        _record(batch.name, recipe, quantity, printed.get(quantity), computed[quantity])
        for quantity in order
        if quantity in computed
    ]


def _record(dataset: str, recipe: str, quantity: str, printed: Any, computed: float | None) -> Dimension:
    at_least = isinstance(printed, dict)
    value: float | None = printed["at_least"] if at_least else printed
    agrees = None
    if value is not None and computed is not None:
        agrees = computed >= value if at_least else abs(computed - value) <= _half_a_digit(value)
    doubt = dimension_doubt(dataset, quantity) if agrees is False else None
    explanation, source = (None, None) if doubt is None else (doubt.says, doubt.source)
    return Dimension(dataset, recipe, quantity, value, at_least, computed, agrees, explanation, source)


def _half_a_digit(printed: float) -> float:
    """Averages are printed with two decimals, counts in full; a little more than half, for halves in binary."""
    return 0.005 * (1 + 1e-6) if isinstance(printed, float) else 0.0


# -- counting ----------------------------------------------------------------------------------------------------------


def _of_files(batch: GraphBatch) -> dict[str, float | None]:
    """Count what the files hold; of a set that the catalogue does not have, the batch is all there is."""
    content = _content(batch.name, batch)
    attributes = _content(_ATTRIBUTES_OF.get(batch.name, batch.name), batch)["node_attributes"]
    graphs, nodes = content["graphs"], content["nodes"]
    return {
        "n_graphs": graphs,
        "avg_nodes": nodes / graphs,
        "avg_edges": content["edges"] / graphs,
        "node_attribute_dim": attributes or None,
        "edge_attribute_dim": content["edge_attributes"] or None,
        "avg_dim_all_node_features": nodes / graphs * (content["node_labels"] + attributes),
        "graph_kernels_10fold": graphs - -(-graphs // _FOLDS),  # the largest fold has the remainder's share
    }


def _content(name: str, batch: GraphBatch) -> Mapping[str, Any]:
    return dataset_info(name).content if name in available_datasets() else content_of(batch)


def _of_graphs(batch: GraphBatch) -> dict[str, float | None]:
    labels = None if batch.node_labels is None else len(np.unique(batch.node_labels))
    return {"avg_edges_used": batch.n_edges / batch.n_graphs, "n_node_labels": labels}


def _of_labels(batch: GraphBatch, rounds: Sequence[int]) -> dict[str, float | None]:
    """Distinct labels of iterations 0 to h together: what a WL or P-WL H0 vector has a column for."""
    counts = wl_label_counts(batch, max(rounds, default=0))
    total = list(accumulate(counts))
    return {f"{_WL}{h}": total[h] for h in rounds}


def _widths(batch: GraphBatch) -> dict[str, float | None]:
    survey = Survey.of(batch)
    return {
        "PWLR-H0": int(np.diff(batch.node_ptr).max(initial=0)),  # its last column can never fill
        "PWLR-H1": survey.max_h1,
        "PWLR-OPT": len(survey.degree_pairs()),
        "PWLR-H0 filled": survey.max_h0,
        "typed": FeatureLayout.from_survey(survey, LayoutOptions()).n_columns,
    }


# -- Weisfeiler-Lehman -------------------------------------------------------------------------------------------------


def wl_label_counts(batch: GraphBatch, rounds: int) -> list[int]:
    """Return the number of distinct Weisfeiler-Lehman labels after 0, 1, ..., `rounds` iterations.

    Exact: labels are compared as (own label, multiset of the neighbours' labels), never by a hash. Graphs without node
    labels start from one label for all.

    Parameters
    ----------
    batch : GraphBatch
        All graphs of a data set, which share their labels.
    rounds : int

    Returns
    -------
    list of int, of length rounds + 1
    """
    start = np.zeros(batch.n_nodes) if batch.node_labels is None else batch.node_labels
    labels = dense_codes(start).astype(np.int64)
    counts = [_number_of(labels)]
    while len(counts) <= rounds:
        labels = _refined(batch, labels)
        counts.append(_number_of(labels))
        if counts[-1] == counts[-2]:  # a refinement that splits nothing never will
            counts += counts[-1:] * (rounds + 1 - len(counts))
    return counts


def _number_of(labels: IntArray) -> int:
    return int(labels.max(initial=-1)) + 1


def _refined(batch: GraphBatch, labels: IntArray) -> IntArray:
    """One iteration: dense codes of (own label, sorted neighbours' labels), read in one neighbour after the other."""
    neighbours = _sorted_by_node(batch, labels)
    code = labels.copy()
    for place in range(int(batch.degrees.max(initial=0))):
        reading = np.flatnonzero(batch.degrees > place)
        pairs = np.column_stack([code[reading], neighbours[batch.indptr[reading] + place]])
        code[reading] = rows_to_codes(pairs)
        # nodes of this degree are done; lifted above all others, they cannot be taken for nodes of another degree
        done = np.flatnonzero(batch.degrees == place + 1)
        code[done] += batch.n_nodes * (place + 1)
    return rows_to_codes(code[:, None])


def _sorted_by_node(batch: GraphBatch, labels: IntArray) -> IntArray:
    """Labels of the neighbours, ascending within each node's stretch of `indptr`."""
    first: IntArray = np.repeat(np.arange(batch.n_nodes), batch.degrees) * max(_number_of(labels), 1)
    labelled: IntArray = np.sort(first + labels[batch.indices])
    return np.asarray(labelled - first)
