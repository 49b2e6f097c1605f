"""The node features X and the edge weights of A, as the options say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pwlr.errors import GraphFormatError, OptionError
from pwlr.graphs import GraphBatch

__all__ = [
    "EDGE_WEIGHTS",
    "NODE_FEATURES",
    "EdgeWeights",
    "Features",
    "NodeFeatures",
    "check_edge_weights",
    "dense_codes",
    "edge_weights",
    "node_features",
    "resolve_node_features",
]

NodeFeatures = Literal["auto", "labels", "attributes", "both", "degree", "constant"]
NODE_FEATURES: tuple[str, ...] = ("auto", "labels", "attributes", "both", "degree", "constant")

EDGE_WEIGHTS: tuple[str, ...] = ("given", "unit", "attribute", "reciprocal", "label", "max-degree")
EdgeWeights = (
    Literal["given", "unit", "attribute", "reciprocal", "label", "max-degree"]
    | Mapping[Any, float]
    | Callable[[GraphBatch], NDArray[np.float64]]
)


@dataclass(frozen=True)
class Features:
    """X in compact form: of graph g, one one-hot column for each code that g uses, then the columns of `values`.

    Columns that a graph does not use are zero at all its nodes and stay zero, so they add nothing to any height;
    leaving them out is what makes many labels cost nothing.

    Attributes
    ----------
    codes : int32 array, shape (n_nodes,), or None
        Dense codes in ascending order of the values they stand for.
    values : float64 array, shape (n_nodes, a), or None
    """

    codes: NDArray[np.int32] | None
    values: NDArray[np.float64] | None

    def compact(self, node_ptr: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the column of every node's one (-1 without codes) and the number of columns of X for every graph."""
        n_graphs = len(node_ptr) - 1
        n_values = 0 if self.values is None else self.values.shape[1]
        if self.codes is None:
            return np.full(node_ptr[-1], -1, dtype=np.int32), np.full(n_graphs, n_values, dtype=np.int64)
        graph = np.repeat(np.arange(n_graphs), np.diff(node_ptr))
        n_codes = int(self.codes.max()) + 1 if len(self.codes) else 1
        used, column = np.unique(graph * n_codes + self.codes, return_inverse=True)
        first = np.searchsorted(used // n_codes, np.arange(n_graphs + 1))
        return (column - first[graph]).astype(np.int32), np.diff(first) + n_values


def resolve_node_features(batch: GraphBatch, option: str) -> str:
    """Say which features ``"auto"`` means for these graphs: labels, else attributes, else degree."""
    if not isinstance(option, str) or option not in NODE_FEATURES:
        raise OptionError(f"node_features={option!r} is not known: choose one of {', '.join(map(repr, NODE_FEATURES))}")
    if option != "auto":
        return option
    if batch.node_labels is not None:
        return "labels"
    return "degree" if batch.node_attributes is None else "attributes"


def node_features(batch: GraphBatch, option: str = "auto") -> Features:
    """Return X: one-hot labels, attributes as they are, both side by side, one-hot degrees, or a constant 1."""
    chosen = resolve_node_features(batch, option)
    if batch.n_nodes == 0:
        return Features(None, None)
    for what, options in (("labels", ("labels", "both")), ("attributes", ("attributes", "both"))):
        if chosen in options and getattr(batch, f"node_{what}") is None:
            raise OptionError(
                f"node_features={option!r} needs node {what}, but the graphs have none: try 'auto' or 'degree'"
            )
    codes = values = None
    if chosen in ("labels", "both"):
        codes = dense_codes(batch.node_labels)
    elif chosen == "degree":
        codes = dense_codes(batch.degrees)
    elif chosen == "constant":
        values = np.ones((batch.n_nodes, 1))
    if chosen in ("attributes", "both"):
        values = batch.node_attributes
    return Features(codes, values)


def dense_codes(values: Any) -> NDArray[np.int32]:
    """Number values from 0 in ascending order, so that comparing codes is comparing values."""
    return np.unique(values, return_inverse=True)[1].astype(np.int32).reshape(-1)


def check_edge_weights(option: Any) -> None:
    """Refuse what ``edge_weights`` cannot be, before there are graphs."""
    if not (callable(option) or isinstance(option, Mapping) or (isinstance(option, str) and option in _WEIGHTS)):
        known = ", ".join(map(repr, EDGE_WEIGHTS))
        raise OptionError(f"edge_weights={option!r} is not known: choose one of {known}, a mapping or a callable")


def edge_weights(batch: GraphBatch, option: EdgeWeights = "given") -> NDArray[np.float64]:
    """Return the weight of every edge, in the order of ``batch.edges``.

    ``"given"`` is what the batch carries, ``"unit"`` 1, ``"attribute"`` the only edge attribute, ``"reciprocal"`` 1
    over it, ``"label"`` the integer edge label itself, ``"max-degree"`` max(deg u, deg v) with unweighted degrees. A
    mapping gives a weight for every edge label; a callable gets the batch and returns one weight for each edge.
    """
    check_edge_weights(option)
    if batch.n_edges == 0:
        return np.empty(0)
    if callable(option):
        weights = np.asarray(option(batch), dtype=np.float64)
        if weights.shape != (batch.n_edges,):
            raise OptionError(
                f"the edge_weights callable returned shape {weights.shape}: "
                f"wanted ({batch.n_edges},), one for each edge"
            )
        source = "the edge_weights callable"
    elif isinstance(option, Mapping):
        weights, source = _mapped(batch, option), "the edge_weights mapping"
    else:
        weights, source = _WEIGHTS[option](batch), f"edge_weights={option!r}"
    good = np.isfinite(weights) & (weights > 0)
    if not good.all():
        edge = int(np.flatnonzero(~good)[0])
        graph = int(batch.edge_graph[edge])
        u, v = (int(node) for node in batch.edges[edge] - batch.node_ptr[graph])
        raise GraphFormatError(
            f"graph {graph}: edge ({u}, {v}) has weight {weights[edge]} by {source}: "
            "weights must be finite and positive"
            + ("; a mapping {label: weight} can move label 0" if option == "label" else "")
        )
    return weights


def _mapped(batch: GraphBatch, table: Mapping[Any, float]) -> NDArray[np.float64]:
    kinds, code = np.unique(_required(batch, "edge_labels"), return_inverse=True)
    missing = [kind for kind in kinds.tolist() if kind not in table]
    if missing:
        raise OptionError(f"the edge_weights mapping has no weight for edge label {missing[0]!r}")
    return np.array([float(table[kind]) for kind in kinds.tolist()], dtype=np.float64)[code.reshape(-1)]


def _required(batch: GraphBatch, field: str) -> NDArray[Any]:
    values = getattr(batch, field)
    if values is None:
        raise OptionError(
            f"these edge_weights need {field.replace('_', ' ')}, but the graphs have none: use 'given' or 'unit'"
        )
    return np.asarray(values)


def _attribute(batch: GraphBatch) -> NDArray[np.float64]:
    attributes = _required(batch, "edge_attributes")
    if attributes.shape[1] != 1:
        raise OptionError(
            f"the graphs have {attributes.shape[1]} edge attributes: say which one, "
            "e.g. edge_weights=lambda batch: batch.edge_attributes[:, 0]"
        )
    return np.asarray(attributes[:, 0])


def _label(batch: GraphBatch) -> NDArray[np.float64]:
    labels = _required(batch, "edge_labels")
    if labels.dtype.kind == "U":
        raise OptionError(
            "edge_weights='label' needs integer labels; these are strings: pass a mapping {label: weight}"
        )
    return labels.astype(np.float64)


def _reciprocal(batch: GraphBatch) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):  # a zero is refused with the edge's name, not with a warning
        return np.asarray(1.0 / _attribute(batch))


_WEIGHTS: dict[Any, Callable[[GraphBatch], NDArray[np.float64]]] = {
    "given": lambda batch: batch.edge_weights,
    "unit": lambda batch: np.ones(batch.n_edges),
    "attribute": _attribute,
    "reciprocal": _reciprocal,
    "label": _label,
    "max-degree": lambda batch: batch.degrees[batch.edges].max(axis=1).astype(np.float64),
}
