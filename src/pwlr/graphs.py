"""`GraphBatch`: many graphs, packed into a few flat arrays, checked once at the door and never changed again.

Everything behind the door (the method, the backends, the estimators) relies on what is checked here: finite positive
weights, no self loops, no duplicate edges, every edge in both directions with one weight, edges inside one graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pwlr.errors import GraphFormatError, OptionError
from pwlr.packing import MAX_NODES, Arcs, Listing, as_attributes, as_labels, csr_of_edges

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["GraphBatch", "pack", "shard_bounds"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_PER_NODE = ("node_labels", "node_attributes")
_PER_EDGE = ("edge_labels", "edge_attributes")
_PER_GRAPH = ("y", "ids")


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """An immutable set of undirected graphs in packed (CSR) form.

    Build one with a door (`from_edges`, `from_networkx`, `from_tu`, ...) rather than by hand. Nodes are numbered over
    the whole batch: graph ``g`` owns nodes ``node_ptr[g]:node_ptr[g + 1]`` and edges ``edge_ptr[g]:edge_ptr[g + 1]``.

    Attributes
    ----------
    node_ptr : int64 array, shape (n_graphs + 1,)
    indptr : int64 array, shape (n_nodes + 1,)
        ``indices[indptr[v]:indptr[v + 1]]`` are the neighbours of node ``v``, ascending.
    indices : int32 array, shape (2 * n_edges,)
    weights : float64 array, shape (2 * n_edges,)
        Goes with `indices`; the same in both directions.
    edge_ptr : int64 array, shape (n_graphs + 1,)
    edges : int32 array, shape (n_edges, 2)
        Every edge once, ``u < v``, in ascending order.
    node_labels, edge_labels : int64 or str array, or None
        Discrete labels; compared by value.
    node_attributes, edge_attributes : float64 array of two dimensions, or None
    y : array, shape (n_graphs,), or None
        Classes or measured numbers.
    ids : array, shape (n_graphs,), or None
        What the graphs were called where they came from.
    name : str
    node_label_names, edge_label_names : mapping from label to words, or None
        Words for integer labels, used in the names of columns only; they never change a number.
    """

    node_ptr: IntArray
    indptr: IntArray
    indices: NDArray[np.int32]
    weights: FloatArray
    edge_ptr: IntArray
    edges: NDArray[np.int32]
    node_labels: NDArray[Any] | None = None
    node_attributes: FloatArray | None = None
    edge_labels: NDArray[Any] | None = None
    edge_attributes: FloatArray | None = None
    y: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    name: str = ""
    node_label_names: Mapping[int, str] | None = None
    edge_label_names: Mapping[int, str] | None = None

    def __post_init__(self) -> None:
        """Bring every array to its type, check all promises, and close the arrays for writing."""
        _normalize(self)
        _check_structure(self)
        _check_companions(self)
        _freeze(self)

    # -- doors ---------------------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Sequence[Any],
        *,
        n_nodes: Sequence[int] | None = None,
        weights: Sequence[Any] | None = None,
        node_labels: Sequence[Any] | None = None,
        node_attributes: Sequence[Any] | None = None,
        edge_labels: Sequence[Any] | None = None,
        edge_attributes: Sequence[Any] | None = None,
        y: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        name: str = "",
        repair: Collection[str] = (),
    ) -> GraphBatch:
        """Build a batch from one edge list per graph.

        Parameters
        ----------
        edges : sequence of edge lists
            One per graph: pairs ``(u, v)`` (each undirected edge once, either way round) of node numbers from 0.
        n_nodes : sequence of int, optional
            Nodes of each graph. Default: as many as there are labels or attributes, else the largest number used + 1.
        weights, edge_labels, edge_attributes : sequence of sequences, optional
            One entry per edge for each graph. Weights are finite and positive; default 1.
        node_labels, node_attributes : sequence of sequences, optional
            One entry per node for each graph.
        y, ids : array-like, optional
            One entry per graph.
        repair : collection of str
            Which of `pwlr.packing.REPAIRS` to apply instead of refusing.

        Examples
        --------
        >>> GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["C", "C"]])
        GraphBatch(2 graphs, 5 nodes, 4 edges; node labels: 2 kinds)
        """
        from pwlr.io.convert import batch_from_edges

        return batch_from_edges(
            edges,
            n_nodes=n_nodes,
            weights=weights,
            node_labels=node_labels,
            node_attributes=node_attributes,
            edge_labels=edge_labels,
            edge_attributes=edge_attributes,
            y=y,
            ids=ids,
            name=name,
            repair=repair,
        )

    @classmethod
    def from_tu(cls, path: str | PathLike[str], *, name: str | None = None, repair: Collection[str] = ()) -> GraphBatch:
        """Read a data set in the TU text format from a folder or a zip; see `pwlr.io.tu.read_tu`."""
        from pwlr.io.tu import read_tu

        return read_tu(path, name=name, repair=repair)

    @classmethod
    def from_networkx(cls, graphs: Iterable[Any], **options: Any) -> GraphBatch:
        """Convert NetworkX graphs; see `pwlr.io.convert.batch_from_networkx` for the attribute names."""
        from pwlr.io.convert import batch_from_networkx

        return batch_from_networkx(graphs, **options)

    @classmethod
    def from_igraph(cls, graphs: Iterable[Any], **options: Any) -> GraphBatch:
        """Convert igraph graphs; see `pwlr.io.convert.batch_from_igraph` for the attribute names."""
        from pwlr.io.convert import batch_from_igraph

        return batch_from_igraph(graphs, **options)

    @classmethod
    def from_scipy(cls, matrices: Iterable[Any], **options: Any) -> GraphBatch:
        """Convert symmetric SciPy sparse adjacency matrices; see `pwlr.io.convert.batch_from_scipy`."""
        from pwlr.io.convert import batch_from_scipy

        return batch_from_scipy(matrices, **options)

    @classmethod
    def from_grakel(cls, graphs: Iterable[Any], **options: Any) -> GraphBatch:
        """Convert GraKeL's lists (edges, node labels, edge labels); see `pwlr.io.convert.batch_from_grakel`."""
        from pwlr.io.convert import batch_from_grakel

        return batch_from_grakel(graphs, **options)

    def to_networkx(self) -> list[Any]:
        """Return the graphs as NetworkX graphs with ``label``, ``attributes`` and ``weight`` set."""
        from pwlr.io.convert import batch_to_networkx

        return batch_to_networkx(self)

    def to_igraph(self) -> list[Any]:
        """Return the graphs as igraph graphs with ``label``, ``attributes`` and ``weight`` set."""
        from pwlr.io.convert import batch_to_igraph

        return batch_to_igraph(self)

    def to_scipy(self) -> list[sp.csr_array]:
        """Return the weighted adjacency matrix of every graph."""
        from pwlr.io.convert import batch_to_scipy

        return batch_to_scipy(self)

    def to_grakel(self) -> list[Any]:
        """Return GraKeL's lists: ``[edge dictionary, node labels, edge labels]`` per graph."""
        from pwlr.io.convert import batch_to_grakel

        return batch_to_grakel(self)

    @classmethod
    def concatenate(cls, batches: Iterable[GraphBatch]) -> GraphBatch:
        """Join batches one after the other; what one of them carries (labels, `y`, ...) all must carry."""
        return _concatenate(list(batches))

    # -- what is in it -------------------------------------------------------------------------------------------------

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of undirected edges of all graphs."""
        return len(self.edges)

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``; scikit-learn then cuts folds with index arrays instead of one graph at a time."""
        return (self.n_graphs,)

    @cached_property
    def degrees(self) -> IntArray:
        """Unweighted degree of every node."""
        return _closed(np.diff(self.indptr))

    @cached_property
    def node_graph(self) -> IntArray:
        """Number of the graph that every node belongs to."""
        return _closed(np.repeat(np.arange(self.n_graphs), np.diff(self.node_ptr)))

    @cached_property
    def edge_graph(self) -> IntArray:
        """Number of the graph that every edge belongs to."""
        return _closed(np.repeat(np.arange(self.n_graphs), np.diff(self.edge_ptr)))

    @property
    def edge_weights(self) -> FloatArray:
        """Weight of every edge, in the order of `edges`."""
        # Rows and their neighbours ascend, so the arcs u -> v with u < v come in the very order of `edges`.
        row = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        return np.asarray(self.weights[row < self.indices])

    def adjacency(self, edge_values: NDArray[Any] | None = None) -> sp.csr_array:
        """Return one block-diagonal adjacency matrix of the batch, with `edge_values` in place of the weights."""
        values = self.weights if edge_values is None else np.asarray(edge_values)[self.arc_edges]
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    @property
    def arc_edges(self) -> IntArray:
        """Number of the edge that every entry of `indices` is a direction of."""
        return csr_of_edges(self.edges, self.n_nodes)[2]

    # -- a sequence of graphs ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_graphs

    def __getitem__(self, key: Any) -> GraphBatch:
        """Return the graphs that an int, slice, index array or mask picks; always a batch."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes everything that has a shape with (rows, ...)
        if isinstance(key, slice) and key.step in (None, 1):
            start, stop, _ = key.indices(self.n_graphs)
            return _take(self, np.arange(start, max(start, stop)))
        return _take(self, _as_positions(key, self.n_graphs))

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self[i] for i in range(self.n_graphs))

    def __eq__(self, other: object) -> bool:
        """Same arrays, same labels, same `y`, `ids` and name."""
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(GraphBatch)
        )

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be taken for a table of numbers."""
        raise TypeError("a GraphBatch is not an array: embed it first, e.g. PWLRTransformer().fit_transform(graphs)")

    def replace(self, **changes: Any) -> Self:
        """Return a checked copy with some fields replaced, e.g. ``batch.replace(y=classes)``."""
        unknown = set(changes) - {field.name for field in dataclasses.fields(self)}
        if unknown:
            raise OptionError(f"GraphBatch has no field {sorted(unknown)[0]!r} to replace")
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        counted = [_count(self.n_graphs, "graph"), _count(self.n_nodes, "node"), _count(self.n_edges, "edge")]
        carried = []
        for what in ("node", "edge"):
            labels, attributes = getattr(self, f"{what}_labels"), getattr(self, f"{what}_attributes")
            if labels is not None:
                carried.append(f"{what} labels: {_count(len(np.unique(labels)), 'kind')}")
            if attributes is not None:
                carried.append(f"{what} attributes: {_count(attributes.shape[1], 'column')}")
        if self.y is not None:
            carried.append(f"y: {_describe_y(self.y)}")
        title = f"{self.name}: " if self.name else ""
        return f"GraphBatch({'; '.join([title + ', '.join(counted), *carried])})"

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, value)
        _freeze(self)  # unpickled arrays come back writable


# -- the packing press -------------------------------------------------------------------------------------------------


def pack(
    node_ptr: ArrayLike,
    sources: ArrayLike,
    targets: ArrayLike,
    *,
    listed: Listing,
    weights: ArrayLike | None = None,
    node_labels: Any = None,
    node_attributes: Any = None,
    edge_labels: Any = None,
    edge_attributes: Any = None,
    y: Any = None,
    ids: Any = None,
    name: str = "",
    node_label_names: Mapping[int, str] | None = None,
    edge_label_names: Mapping[int, str] | None = None,
    repair: Collection[str] = (),
) -> GraphBatch:
    """Check, mend where asked, sort and pack; the one way from raw edges to a `GraphBatch`.

    `sources` and `targets` number nodes over the whole batch. ``listed="once"`` means that every undirected edge
    stands there once, ``"both ways"`` that each direction does (then one-way arcs are refused).
    """
    node_ptr = np.asarray(node_ptr, dtype=np.int64)
    arcs = Arcs(
        node_ptr,
        np.asarray(sources, dtype=np.int64).reshape(-1),
        np.asarray(targets, dtype=np.int64).reshape(-1),
        None if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1),
        None if edge_labels is None else as_labels(edge_labels, "edge"),
        None if edge_attributes is None else as_attributes(edge_attributes, "edge"),
    ).settled(listed, repair)
    edges = np.column_stack([arcs.sources, arcs.targets]).astype(np.int32)
    n_nodes = int(node_ptr[-1])
    indptr, indices, arc_edges = csr_of_edges(edges, n_nodes)
    batch = object.__new__(GraphBatch)
    fields: dict[str, Any] = {
        "node_ptr": node_ptr,
        "indptr": indptr,
        "indices": indices,
        "weights": np.ones(len(indices)) if arcs.weights is None else arcs.weights[arc_edges],
        "edge_ptr": np.searchsorted(edges[:, 0], node_ptr),
        "edges": edges,
        "node_labels": node_labels,
        "node_attributes": node_attributes,
        "edge_labels": arcs.labels,
        "edge_attributes": arcs.attributes,
        "y": y,
        "ids": ids,
        "name": name,
        "node_label_names": node_label_names,
        "edge_label_names": edge_label_names,
    }
    for key, value in fields.items():
        object.__setattr__(batch, key, value)
    _normalize(batch)
    _check_companions(batch)
    _freeze(batch)
    return batch


# -- checks ------------------------------------------------------------------------------------------------------------


def _normalize(batch: GraphBatch) -> None:
    """Bring every field to the type that the class promises, in memory that nobody else holds."""
    types = {"node_ptr": np.int64, "indptr": np.int64, "edge_ptr": np.int64, "indices": np.int32, "weights": np.float64}
    for field, dtype in types.items():
        object.__setattr__(batch, field, np.array(getattr(batch, field), dtype=dtype, order="C"))
    object.__setattr__(batch, "edges", np.array(batch.edges, dtype=np.int32, order="C").reshape(-1, 2))
    for field in (*_PER_NODE, *_PER_EDGE):
        value, what = getattr(batch, field), field.partition("_")[0]
        if value is not None:
            convert = as_labels if field.endswith("labels") else as_attributes
            object.__setattr__(batch, field, convert(value, what))
    for field in _PER_GRAPH:
        value = getattr(batch, field)
        if value is not None:
            object.__setattr__(batch, field, _per_graph(value, field))
    object.__setattr__(batch, "name", str(batch.name))


def _per_graph(value: Any, field: str) -> NDArray[Any]:
    """Bring `y` or `ids` to an array of numbers or strings."""
    array = np.array(value)
    if array.dtype.kind == "O":
        if not all(isinstance(item, str) for item in array.flat):
            raise GraphFormatError(f"{field} must be numbers or strings, one for each graph, none missing")
        array = array.astype(str)
    return array


def _check_structure(batch: GraphBatch) -> None:
    """Check the packed arrays of a batch that somebody built by hand, by packing its edges again."""
    for field, length in (("node_ptr", None), ("indptr", None), ("edge_ptr", len(batch.node_ptr))):
        pointer = getattr(batch, field)
        if pointer.ndim != 1 or len(pointer) == 0 or pointer[0] != 0 or (np.diff(pointer) < 0).any():
            raise GraphFormatError(f"{field} must start at 0 and never go down")
        if length is not None and len(pointer) != length:
            raise GraphFormatError(f"{field} has {len(pointer)} entries where node_ptr has {length}")
    if batch.node_ptr[-1] != batch.n_nodes or batch.edge_ptr[-1] != batch.n_edges:
        raise GraphFormatError("node_ptr and edge_ptr must end at the number of nodes (rows of indptr) and of edges")
    if not len(batch.indices) == len(batch.weights) == batch.indptr[-1] == 2 * batch.n_edges:
        raise GraphFormatError(
            "indices and weights need two entries for each edge, and indptr must end at their number"
        )
    row = np.repeat(np.arange(batch.n_nodes), np.diff(batch.indptr))
    packed = pack(batch.node_ptr, row, batch.indices, listed="both ways", weights=batch.weights)
    for field in ("indptr", "indices", "weights", "edge_ptr", "edges"):
        if not np.array_equal(getattr(packed, field), getattr(batch, field)):
            raise GraphFormatError(
                f"{field} does not tell the same sorted edges as the other arrays: use GraphBatch.from_edges"
            )


def _check_companions(batch: GraphBatch) -> None:
    """Check that what goes with nodes, edges and graphs has as many entries as there are."""
    counts = {
        **dict.fromkeys(_PER_NODE, (batch.n_nodes, "nodes")),
        **dict.fromkeys(_PER_EDGE, (batch.n_edges, "edges")),
        **dict.fromkeys(_PER_GRAPH, (batch.n_graphs, "graphs")),
    }
    for field, (wanted, what) in counts.items():
        value = getattr(batch, field)
        if value is None:
            continue
        if field in _PER_GRAPH and value.ndim != 1:
            raise GraphFormatError(f"{field} must be one value for each graph; got an array of shape {value.shape}")
        if len(value) != wanted:
            raise GraphFormatError(f"{field} has {len(value)} entries for {wanted} {what}: give one for each")


def _freeze(batch: GraphBatch) -> None:
    for field in dataclasses.fields(batch):
        value = getattr(batch, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(batch, field.name, _closed(value))


def _closed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


# -- cutting and joining -----------------------------------------------------------------------------------------------


def _as_positions(key: Any, n_graphs: int) -> IntArray:
    """Turn what stands between the brackets into graph numbers."""
    if isinstance(key, slice):
        return np.arange(n_graphs)[key]
    array = np.asarray(key)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind == "b":
        if array.shape != (n_graphs,):
            raise IndexError(f"a mask of shape {array.shape} cannot pick from {n_graphs} graphs")
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise TypeError(f"graphs are picked by an int, a slice, an index array or a mask, not by {key!r}")
    positions = np.atleast_1d(array).astype(np.int64)
    if len(positions) and (positions.min() < -n_graphs or positions.max() >= n_graphs):
        raise IndexError(f"graph {key!r} is out of range: the batch has {n_graphs} graphs")
    return np.where(positions < 0, positions + n_graphs, positions)


def _segments(pointer: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Pointer of the chosen segments laid end to end, and where each of their entries comes from."""
    lengths = pointer[chosen + 1] - pointer[chosen]
    laid = np.concatenate([[0], np.cumsum(lengths)])
    return laid, np.arange(laid[-1]) + np.repeat(pointer[chosen] - laid[:-1], lengths)


def _take(batch: GraphBatch, chosen: IntArray) -> GraphBatch:
    """Cut graphs out of a checked batch; nothing needs to be checked again."""
    node_ptr, nodes = _segments(batch.node_ptr, chosen)
    edge_ptr, edges = _segments(batch.edge_ptr, chosen)
    arc_ptr, arcs = _segments(batch.indptr[batch.node_ptr], chosen)
    moved = node_ptr[:-1] - batch.node_ptr[chosen]
    fields: dict[str, Any] = {
        field.name: getattr(batch, field.name) for field in dataclasses.fields(GraphBatch)
    }  # name and label names stay
    fields |= {
        "node_ptr": node_ptr,
        "indptr": np.concatenate([[0], np.cumsum(np.diff(batch.indptr)[nodes])]),
        "indices": (batch.indices[arcs] + np.repeat(moved, np.diff(arc_ptr))).astype(np.int32),
        "weights": batch.weights[arcs],
        "edge_ptr": edge_ptr,
        "edges": (batch.edges[edges] + np.repeat(moved, np.diff(edge_ptr))[:, None]).astype(np.int32),
    }
    for names, positions in ((_PER_NODE, nodes), (_PER_EDGE, edges), (_PER_GRAPH, chosen)):
        for field in names:
            if fields[field] is not None:
                fields[field] = fields[field][positions]
    return _trusted(fields)


def _concatenate(batches: list[GraphBatch]) -> GraphBatch:
    if not batches:
        return pack([0], [], [], listed="once")
    if len(batches) == 1:
        return batches[0]
    node_shift = np.cumsum([0, *(batch.n_nodes for batch in batches)])
    if node_shift[-1] > MAX_NODES:
        raise GraphFormatError(f"{node_shift[-1]} nodes are more than one batch holds ({MAX_NODES})")
    fields: dict[str, Any] = {
        "node_ptr": _joined_pointer([batch.node_ptr for batch in batches]),
        "indptr": _joined_pointer([batch.indptr for batch in batches]),
        "edge_ptr": _joined_pointer([batch.edge_ptr for batch in batches]),
        "indices": np.concatenate([b.indices + np.int32(s) for b, s in zip(batches, node_shift, strict=False)]),
        "edges": np.concatenate([b.edges + np.int32(s) for b, s in zip(batches, node_shift, strict=False)]),
        "weights": np.concatenate([batch.weights for batch in batches]),
        "name": batches[0].name if len({batch.name for batch in batches}) == 1 else "",
    }
    for names, count in ((_PER_NODE, "n_nodes"), (_PER_EDGE, "n_edges"), (_PER_GRAPH, "n_graphs")):
        counts = [getattr(batch, count) for batch in batches]
        for field in names:
            fields[field] = _joined_companion([getattr(batch, field) for batch in batches], counts, field)
    for field in ("node_label_names", "edge_label_names"):
        fields[field] = _joined_names([getattr(batch, field) for batch in batches])
    return _trusted(fields)


def _joined_pointer(pointers: list[IntArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(pointer) for pointer in pointers]))])


def _joined_companion(parts: list[NDArray[Any] | None], counts: list[int], field: str) -> NDArray[Any] | None:
    """Join labels, attributes, y or ids: all batches that could carry them do, in one type, or none does."""
    filled = [part for part, count in zip(parts, counts, strict=True) if count]
    present = [part for part in filled if part is not None]
    if not present:
        return next((part for part in parts if part is not None), None) if not filled else None
    if len(present) < len(filled):
        without = next(i for i, (part, count) in enumerate(zip(parts, counts, strict=True)) if count and part is None)
        raise GraphFormatError(
            f"batch {without} has no {field} but another has: give {field} to all of them or to none"
        )
    kinds = {part.dtype.kind for part in present}
    if len(kinds) > 1 and "U" in kinds:
        raise GraphFormatError(f"{field} are strings in one batch and numbers in another: make them one type")
    if len({part.shape[1:] for part in present}) > 1:
        widths = sorted({part.shape[1] for part in present})
        raise GraphFormatError(f"{field} have {widths[0]} columns in one batch and {widths[-1]} in another")
    return np.concatenate(present)


def _joined_names(parts: list[Mapping[int, str] | None]) -> dict[int, str] | None:
    """Join words for labels; where two batches use different words for a label, the words are dropped."""
    joined: dict[int, str] = {}
    for part in parts:
        if part is None or any(joined.get(label, words) != words for label, words in part.items()):
            return None
        joined.update(part)
    return joined


def _trusted(fields: dict[str, Any]) -> GraphBatch:
    """Build a batch from arrays that are known to be right."""
    batch = object.__new__(GraphBatch)
    for key, value in fields.items():
        object.__setattr__(batch, key, value)
    _freeze(batch)
    return batch


def shard_bounds(batch: GraphBatch, n_shards: int, n_columns: int) -> IntArray:
    """Cut the batch into consecutive shards of nearly equal cost, m (l + log m) summed over their graphs."""
    m = np.diff(batch.edge_ptr).astype(np.float64)
    n = np.diff(batch.node_ptr)
    cost = np.cumsum(m * (n_columns + np.log2(m + 1)) + n + 1)
    total = cost[-1] if len(cost) else 0.0
    cuts = np.searchsorted(cost, total * np.arange(1, n_shards) / n_shards, side="left") + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, batch.n_graphs), [batch.n_graphs]])).astype(np.int64)


# -- words -------------------------------------------------------------------------------------------------------------


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    if first is None or second is None or isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return first is second
    return bool(first == second)


def _count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def _describe_y(y: NDArray[Any]) -> str:
    values = np.unique(y) if len(y) else y
    if y.dtype.kind == "f" and len(values) > 2:
        return f"numbers {values[0]:.6g} to {values[-1]:.6g}"
    return _count(len(values), "class", "classes")
