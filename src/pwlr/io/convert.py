"""Edge lists, NetworkX, igraph, SciPy and GraKeL graphs in and out; `as_batch` tells them apart.

No library is imported to read its graphs: an object of it can only exist where it is. A further library needs a view
(as `_NetworkXView`) or a function that makes `_OneGraph` objects, and one line in `_DOORS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pwlr.errors import GraphFormatError, MissingExtraError
from pwlr.graphs import GraphBatch, pack
from pwlr.packing import Listing, as_attributes, as_labels

__all__ = [
    "as_batch",
    "batch_from_edges",
    "batch_from_grakel",
    "batch_from_igraph",
    "batch_from_networkx",
    "batch_from_scipy",
    "batch_to_grakel",
    "batch_to_igraph",
    "batch_to_networkx",
    "batch_to_scipy",
]

IntArray = NDArray[np.int64]


# -- whatever a user has -----------------------------------------------------------------------------------------------


def as_batch(graphs: Any) -> GraphBatch:
    """Turn what a user has into a `GraphBatch`: what every estimator does with its input first.

    Parameters
    ----------
    graphs : GraphBatch or iterable
        A batch is returned unchanged. Otherwise a list, tuple, object array or any other iterable whose items are all
        of one kind: batches, NetworkX graphs, igraph graphs, adjacency matrices (SciPy sparse, or square arrays),
        GraKeL graphs or GraKeL's lists ``[edges, node labels, edge labels]``.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> import numpy as np
    >>> as_batch([np.array([[0, 1], [1, 0]])])
    GraphBatch(1 graph, 2 nodes, 1 edge)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    items = _items(graphs)
    return _DOORS[_one_kind(items)](items) if items else GraphBatch.concatenate([])


_ACCEPTED = (
    "give a GraphBatch or a list of NetworkX, igraph, SciPy or GraKeL graphs "
    "(edge lists go through GraphBatch.from_edges, files and data sets through pwlr.load_dataset)"
)
_KIND_WORDS = {
    "batch": "GraphBatch",
    "networkx": "NetworkX graph",
    "igraph": "igraph graph",
    "scipy": "adjacency matrix",
    "grakel": "GraKeL graph",
}


def _one_kind(items: list[Any]) -> str:
    """The kind that all graphs have."""
    first = _kind_of(items[0])
    for position, item in enumerate(items):
        kind = _kind_of(item)
        if kind is None or first is None:
            raise GraphFormatError(f"graph {position} is {_a(type(item).__name__)}: {_ACCEPTED}")
        if kind != first:
            raise GraphFormatError(
                f"graph {position} is {_a(_KIND_WORDS[kind])} but graph 0 is {_a(_KIND_WORDS[first])}: "
                "give graphs of one kind, or convert each kind and join them with GraphBatch.concatenate"
            )
    return str(first)


def _items(graphs: Any) -> list[Any]:
    """List what stands in a collection of graphs; refuse a single graph and what is no collection."""
    kind = None if _is_object_array(graphs) else _kind_of(graphs)
    if kind is not None and not (kind == "grakel" and _may_be_edge_lists(graphs)):
        raise GraphFormatError(f"this is a single {_KIND_WORDS[kind]}: wrap it in a list, [graph]")
    if isinstance(graphs, str | bytes | Mapping) or not isinstance(graphs, Iterable):
        raise GraphFormatError(f"graphs are {_a(type(graphs).__name__)}: {_ACCEPTED}")
    return list(graphs)


def _is_object_array(graphs: Any) -> bool:
    """Whether this is one of the arrays that scikit-learn makes of lists of objects."""
    return isinstance(graphs, np.ndarray) and graphs.dtype.kind == "O"


def _a(words: str) -> str:
    """Words with their article; ndarray is spoken with a vowel."""
    return f"an {words}" if words[:1].lower() in "aeiou" or words.startswith("nd") else f"a {words}"


def _kind_of(item: Any) -> str | None:
    """Which door a graph belongs to, by the module that its type comes from."""
    if isinstance(item, GraphBatch):
        return "batch"
    if sp.issparse(item) or (isinstance(item, np.ndarray) and item.ndim == 2 and item.dtype.kind != "O"):
        return "scipy"
    modules = {kind.__module__.partition(".")[0] for kind in type(item).__mro__}
    if "networkx" in modules and hasattr(item, "is_multigraph"):
        return "networkx"
    if "igraph" in modules and hasattr(item, "get_edgelist"):
        return "igraph"
    if ("grakel" in modules and hasattr(item, "get_edge_dictionary")) or _is_grakel_list(item):
        return "grakel"
    return None


# -- what all doors share ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _OneGraph:
    """A graph on its way in: nodes numbered from 0, everything that is not None goes with nodes or edges in order."""

    n_nodes: int
    edges: IntArray  # (n_edges, 2)
    weights: Any = None
    node_labels: Any = None
    node_attributes: Any = None
    edge_labels: Any = None
    edge_attributes: Any = None

    def both_ways(self) -> _OneGraph:
        """List every edge in both directions."""
        return _OneGraph(
            self.n_nodes,
            np.concatenate([self.edges, self.edges[:, ::-1]]),
            None if self.weights is None else [*self.weights, *self.weights],
            self.node_labels,
            self.node_attributes,
            None if self.edge_labels is None else [*self.edge_labels, *self.edge_labels],
            None if self.edge_attributes is None else [*self.edge_attributes, *self.edge_attributes],
        )


def _pack_graphs(
    graphs: Sequence[_OneGraph],
    *,
    listed: Listing,
    y: ArrayLike | None,
    ids: ArrayLike | None,
    name: str,
    repair: Collection[str],
) -> GraphBatch:
    """Check every graph by itself, so that messages name it, then pack them together."""
    n_nodes = np.array([graph.n_nodes for graph in graphs], dtype=np.int64)
    n_edges = np.array([len(graph.edges) for graph in graphs], dtype=np.int64)
    edges = np.concatenate([np.empty((0, 2), dtype=np.int64), *(graph.edges for graph in graphs)])
    edge_graph = np.repeat(np.arange(len(graphs)), n_edges)
    _refuse_out_of_range(edges, edge_graph, n_nodes)
    node_ptr = np.concatenate([[0], np.cumsum(n_nodes)])
    edges = edges + node_ptr[edge_graph][:, None]
    companions: dict[str, Any] = {
        field: _joined([getattr(graph, field) for graph in graphs], field, n_edges if "node" not in field else n_nodes)
        for field in ("weights", "node_labels", "node_attributes", "edge_labels", "edge_attributes")
    }
    return pack(node_ptr, edges[:, 0], edges[:, 1], listed=listed, y=y, ids=ids, name=name, repair=repair, **companions)


def _refuse_out_of_range(edges: IntArray, edge_graph: IntArray, n_nodes: IntArray) -> None:
    """Refuse local node numbers that a graph does not have; shifted, they would be nodes of another graph."""
    wrong = (edges < 0) | (edges >= n_nodes[edge_graph][:, None])
    if wrong.any():
        edge = int(np.flatnonzero(wrong.any(axis=1))[0])
        u, v = edges[edge].tolist()
        culprit = u if wrong[edge, 0] else v
        n = n_nodes[edge_graph[edge]]
        raise GraphFormatError(
            f"graph {edge_graph[edge]}: edge ({u}, {v}) names node {culprit} but the graph has {n} nodes, "
            "numbered from 0: give n_nodes= or correct the edge"
        )


def _joined(parts: list[Any], field: str, counts: IntArray) -> NDArray[Any] | None:
    """Labels, attributes or weights of all graphs in one array; all graphs with nodes (edges) have them, or none."""
    present = [part is not None for part in parts]
    if not any(present):
        return None
    words = field.replace("_", " ").replace("weights", "edge weights")
    what = words.split()[0]
    converted: list[NDArray[Any]] = []
    for graph, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        if part is None:
            if count:
                other = present.index(True)
                raise GraphFormatError(
                    f"graph {graph} has no {words} but graph {other} has: give {words} to all graphs or to none"
                )
            continue
        try:
            values = _converted(part, field, what)
        except GraphFormatError as error:
            raise GraphFormatError(f"graph {graph}: {error}") from None
        if len(values) != count:
            raise GraphFormatError(
                f"graph {graph}: {len(values)} {words} for {count} {what}s: give one for each {what}"
            )
        if count:
            if converted and not _alike(values, converted[0]):
                raise GraphFormatError(
                    f"graph {graph} has {_nature(values)} as {words}, graphs before it {_nature(converted[0])}: "
                    "make them alike"
                )
            converted.append(values)
    return np.concatenate(converted) if converted else _converted([], field, what)


def _converted(part: Any, field: str, what: str) -> NDArray[Any]:
    if field.endswith("labels"):
        return as_labels(part, what)
    if field.endswith("attributes"):
        return as_attributes(part, what)
    weights = np.asarray(part if isinstance(part, np.ndarray) else list(part))
    if weights.ndim != 1 or (weights.dtype.kind not in "fiub" and weights.size):
        raise GraphFormatError("weights must be one number for each edge")
    return weights.astype(np.float64)


def _alike(values: NDArray[Any], first: NDArray[Any]) -> bool:
    return values.dtype.kind == first.dtype.kind and values.shape[1:] == first.shape[1:]


def _nature(values: NDArray[Any]) -> str:
    if values.ndim == 2:
        return f"{values.shape[1]} columns"
    return "strings" if values.dtype.kind == "U" else "numbers"


def _pairs(edges: Any, graph: int) -> IntArray:
    """Bring an edge list to an integer array of two columns."""
    try:
        array = np.asarray(edges if isinstance(edges, np.ndarray | list | tuple) else list(edges))
    except (TypeError, ValueError):
        raise GraphFormatError(f"graph {graph}: edges must be pairs (u, v) of node numbers from 0") from None
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        weighted = array.ndim == 2 and array.shape[1] == 3
        hint = "; weights go into weights=" if weighted else ""
        raise GraphFormatError(f"graph {graph}: edges must be pairs (u, v), got an array of shape {array.shape}{hint}")
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise GraphFormatError(
            f"graph {graph}: node numbers must be whole numbers from 0, got {array.reshape(-1)[0]!r}"
        )
    return array.astype(np.int64)


# -- edge lists --------------------------------------------------------------------------------------------------------


def batch_from_edges(
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
    """Build a batch from one edge list per graph; see `pwlr.graphs.GraphBatch.from_edges`."""
    arrays = [_pairs(pairs, graph) for graph, pairs in enumerate(edges)]
    per_graph = {
        "weights": weights,
        "node_labels": node_labels,
        "node_attributes": node_attributes,
        "edge_labels": edge_labels,
        "edge_attributes": edge_attributes,
        "n_nodes": n_nodes,
    }
    given = {field: list(values) for field, values in per_graph.items() if values is not None}
    for field, values in given.items():
        if len(values) != len(arrays):
            raise GraphFormatError(
                f"{field} has entries for {len(values)} graphs but there are {len(arrays)} edge lists"
            )
    sizes = given.pop("n_nodes", [None] * len(arrays))
    graphs = []
    for graph, pairs in enumerate(arrays):
        companions = {field: values[graph] for field, values in given.items()}
        graphs.append(_OneGraph(_size(graph, pairs, sizes[graph], companions), pairs, **companions))
    return _pack_graphs(graphs, listed="once", y=y, ids=ids, name=name, repair=repair)


def _size(graph: int, pairs: IntArray, given: Any, companions: Mapping[str, Any]) -> int:
    """Number of nodes: the given one, else as many as there are labels or attributes, else the largest used + 1."""
    if given is not None:
        if not isinstance(given, int | np.integer) or given < 0:
            raise GraphFormatError(f"graph {graph}: n_nodes is {given!r}: give a number from 0")
        return int(given)
    for field in ("node_labels", "node_attributes"):
        if companions.get(field) is not None:
            return len(companions[field])
    return int(pairs.max()) + 1 if len(pairs) else 0


# -- libraries whose nodes and edges carry named values ----------------------------------------------------------------


class _View(Protocol):
    """What `_from_views` wants to know of another library's graph."""

    n_nodes: int
    edges: IntArray
    directed: bool
    remedy: str

    def column(self, of: Literal["node", "edge"], attribute: str) -> list[Any]:
        """Values of an attribute for every node or edge, None where it is missing."""

    def attribute_names(self, of: Literal["node", "edge"]) -> set[str]:
        """Names of the attributes that some node or edge has."""

    def where(self, of: Literal["node", "edge"], position: int) -> str:
        """What the user calls a node or edge."""

    def about(self, key: str) -> Any:
        """Value that the graph itself carries, None if it does not."""


class _NetworkXView:
    """A NetworkX graph of any class."""

    remedy = "graph.to_undirected()"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.names = list(graph.nodes)
        number = {node: i for i, node in enumerate(self.names)}
        self.ends = list(graph.edges())
        self.n_nodes = len(self.names)
        self.edges = np.array([(number[u], number[v]) for u, v in self.ends], dtype=np.int64).reshape(-1, 2)
        self.directed = bool(graph.is_directed())

    def _data(self, of: Literal["node", "edge"]) -> Iterator[Mapping[str, Any]]:
        return (item[-1] for item in (self.graph.nodes if of == "node" else self.graph.edges)(data=True))

    def column(self, of: Literal["node", "edge"], attribute: str) -> list[Any]:
        return [data.get(attribute) for data in self._data(of)]

    def attribute_names(self, of: Literal["node", "edge"]) -> set[str]:
        return {str(key) for data in self._data(of) for key in data}

    def where(self, of: Literal["node", "edge"], position: int) -> str:
        return f"node {self.names[position]!r}" if of == "node" else f"edge {self.ends[position]!r}"

    def about(self, key: str) -> Any:
        return self.graph.graph.get(key)


class _IGraphView:
    """A graph of python-igraph."""

    remedy = "graph.as_undirected()"

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.n_nodes = graph.vcount()
        self.edges = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        self.directed = bool(graph.is_directed())

    def column(self, of: Literal["node", "edge"], attribute: str) -> list[Any]:
        items = self.graph.vs if of == "node" else self.graph.es
        return list(items[attribute]) if attribute in items.attributes() else [None] * len(items)

    def attribute_names(self, of: Literal["node", "edge"]) -> set[str]:
        return set((self.graph.vs if of == "node" else self.graph.es).attributes())

    def where(self, of: Literal["node", "edge"], position: int) -> str:
        return f"node {position}" if of == "node" else f"edge {tuple(self.edges[position].tolist())}"

    def about(self, key: str) -> Any:
        return self.graph[key] if key in self.graph.attributes() else None


def batch_from_networkx(
    graphs: Iterable[Any],
    *,
    node_label: str | None = "auto",
    node_attributes: str | None = "auto",
    edge_weight: str | None = "auto",
    edge_label: str | None = "auto",
    edge_attributes: str | None = "auto",
    y: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    name: str = "",
    repair: Collection[str] = (),
) -> GraphBatch:
    """Convert NetworkX graphs.

    Parameters
    ----------
    graphs : iterable of networkx.Graph
        Nodes keep their order. Directed graphs are taken only where every edge is there both ways (or with
        ``repair=["mirror-one-way"]``); parallel edges of multigraphs are duplicates, which are refused (or, with
        ``repair=["merge-duplicates"]``, the first of them is kept).
    node_label, node_attributes, edge_weight, edge_label, edge_attributes : str or None
        Where the values stand. ``"auto"``: under ``label``, ``attributes`` (a number or a sequence of numbers) and
        ``weight``, if they are there. Any other name must be there. None: not read. What some nodes (edges) have, all
        must have.
    y : array-like, optional
        Default: ``graph.graph["y"]``, if the graphs have it.
    ids : array-like, optional
        Default: ``graph.graph["name"]``, if all graphs have one.
    name : str
        Name of the batch.
    repair : collection of str
        Which of `pwlr.graphs.REPAIRS` to apply instead of refusing.

    Returns
    -------
    GraphBatch
    """
    attributes = _Attributes(node_label, node_attributes, edge_weight, edge_label, edge_attributes)
    views = [_NetworkXView(graph) for graph in _all_of_kind(graphs, "networkx")]
    return _from_views(views, attributes, y=y, ids=ids, name=name, repair=repair)


def batch_from_igraph(
    graphs: Iterable[Any],
    *,
    node_label: str | None = "auto",
    node_attributes: str | None = "auto",
    edge_weight: str | None = "auto",
    edge_label: str | None = "auto",
    edge_attributes: str | None = "auto",
    y: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    name: str = "",
    repair: Collection[str] = (),
) -> GraphBatch:
    """Convert igraph graphs.

    Parameters
    ----------
    graphs : iterable of igraph.Graph
        Directed graphs are taken only where every edge is there both ways, see `batch_from_networkx`.
    node_label, node_attributes, edge_weight, edge_label, edge_attributes : str or None
        Names of vertex and edge attributes, as in `batch_from_networkx`.
    y : array-like, optional
        Default: ``graph["y"]``, if the graphs have it.
    ids : array-like, optional
        Default: ``graph["name"]``, if all graphs have one.
    name : str
        Name of the batch.
    repair : collection of str
        Which of `pwlr.graphs.REPAIRS` to apply instead of refusing.

    Returns
    -------
    GraphBatch
    """
    attributes = _Attributes(node_label, node_attributes, edge_weight, edge_label, edge_attributes)
    views = [_IGraphView(graph) for graph in _all_of_kind(graphs, "igraph")]
    return _from_views(views, attributes, y=y, ids=ids, name=name, repair=repair)


@dataclass(frozen=True)
class _Attributes:
    """Names of attributes that the user asked for."""

    node_label: str | None
    node_attributes: str | None
    edge_weight: str | None
    edge_label: str | None
    edge_attributes: str | None


_ATTRIBUTE_OF_FIELD: dict[str, tuple[str, str]] = {  # field of the batch: option, name that "auto" looks for
    "node_labels": ("node_label", "label"),
    "node_attributes": ("node_attributes", "attributes"),
    "weights": ("edge_weight", "weight"),
    "edge_labels": ("edge_label", "label"),
    "edge_attributes": ("edge_attributes", "attributes"),
}


def _all_of_kind(graphs: Any, kind: str) -> list[Any]:
    items = _items(graphs)
    for position, item in enumerate(items):
        if _kind_of(item) != kind:
            raise GraphFormatError(f"graph {position} is {_a(type(item).__name__)}, not {_a(_KIND_WORDS[kind])}")
    return items


def _from_views(
    views: Sequence[_View],
    attributes: _Attributes,
    *,
    y: ArrayLike | None,
    ids: ArrayLike | None,
    name: str,
    repair: Collection[str],
) -> GraphBatch:
    columns = {field: _columns(views, field, attributes) for field in _ATTRIBUTE_OF_FIELD}
    listed: Listing = "both ways" if any(view.directed for view in views) else "once"
    graphs = []
    for position, view in enumerate(views):
        companions = {field: values[position] for field, values in columns.items() if values is not None}
        graph = _OneGraph(view.n_nodes, view.edges, **companions)
        if view.directed:
            _refuse_one_way(view, position, repair)
        elif listed == "both ways":
            graph = graph.both_ways()
        graphs.append(graph)
    y = _about_graphs(views, "y") if y is None else y
    ids = _about_graphs(views, "name") if ids is None else ids
    return _pack_graphs(graphs, listed=listed, y=y, ids=ids, name=name, repair=repair)


def _columns(views: Sequence[_View], field: str, attributes: _Attributes) -> list[list[Any]] | None:
    """Values of an attribute in every graph; None if it is not wanted, or not there and nobody named it."""
    option, usual = _ATTRIBUTE_OF_FIELD[field]
    wanted = getattr(attributes, option)
    if wanted is None:
        return None
    of: Literal["node", "edge"] = "node" if option.startswith("node") else "edge"
    attribute = usual if wanted == "auto" else wanted
    columns = [view.column(of, attribute) for view in views]
    if all(value is None for column in columns for value in column):
        if wanted == "auto" or not any(columns):
            return None
        names = sorted(set().union(*(view.attribute_names(of) for view in views)))
        known = f"they have {', '.join(names)}" if names else "they have none"
        raise GraphFormatError(f"no {of} has an attribute {attribute!r}: {known}; pass {option}=None to do without")
    for graph, column in enumerate(columns):
        for position, value in enumerate(column):
            if value is None:
                raise GraphFormatError(
                    f"graph {graph}: {views[graph].where(of, position)} has no {attribute!r} although others have: "
                    f"give it to all {of}s, or pass {option}=None to do without"
                )
    return columns


def _refuse_one_way(view: _View, graph: int, repair: Collection[str]) -> None:
    if "mirror-one-way" in repair:
        return
    arcs = set(map(tuple, view.edges.tolist()))
    for position, (u, v) in enumerate(view.edges.tolist()):
        if (v, u) not in arcs:
            raise GraphFormatError(
                f"graph {graph} is directed and {view.where('edge', position)} goes one way only: pass "
                f"{view.remedy}, or repair=['mirror-one-way']"
            )


def _about_graphs(views: Sequence[_View], key: Literal["y", "name"]) -> list[Any] | None:
    """Values that the graphs themselves carry: all of them or none; incomplete names are no names."""
    values = [view.about(key) for view in views]
    missing = [value is None or (key == "name" and value == "") for value in values]
    if not any(missing):
        return values or None
    if key == "y" and not all(missing):
        raise GraphFormatError(
            f"graph {missing.index(True)} has no 'y' although others have: give it to all graphs, or pass y="
        )
    return None


def batch_to_networkx(batch: GraphBatch) -> list[Any]:
    """Return the graphs as `networkx.Graph` objects.

    Nodes are 0, 1, ... with ``label`` and ``attributes`` (a list), edges have ``weight``, ``label`` and ``attributes``,
    graphs ``graph.graph["y"]`` and ``graph.graph["name"]`` (from `ids`), each as far as the batch has it.
    """
    networkx = _import("networkx", "convert to NetworkX")
    return [_to_networkx(networkx, part) for part in map(_unpack, batch)]


def batch_to_igraph(batch: GraphBatch) -> list[Any]:
    """Return the graphs as `igraph.Graph` objects, with the attributes that `batch_to_networkx` sets."""
    igraph = _import("igraph", "convert to igraph")
    return [_to_igraph(igraph, part) for part in map(_unpack, batch)]


def _import(library: str, purpose: str) -> ModuleType:
    try:
        return __import__(library)
    except ImportError:
        raise MissingExtraError(library, library, purpose) from None


@dataclass(frozen=True)
class _Unpacked:
    """One graph on its way out, in plain Python objects."""

    n_nodes: int
    edges: list[tuple[int, int]]
    node_values: dict[str, list[Any]]
    edge_values: dict[str, list[Any]]
    about: dict[str, Any]


def _unpack(graph: GraphBatch) -> _Unpacked:
    def listed(**columns: NDArray[Any] | None) -> dict[str, list[Any]]:
        return {name: column.tolist() for name, column in columns.items() if column is not None}

    return _Unpacked(
        graph.n_nodes,
        list(map(tuple, graph.edges.tolist())),
        listed(label=graph.node_labels, attributes=graph.node_attributes),
        listed(weight=graph.edge_weights, label=graph.edge_labels, attributes=graph.edge_attributes),
        {name: values[0] for name, values in listed(y=graph.y, name=graph.ids).items()},
    )


def _to_networkx(networkx: ModuleType, part: _Unpacked) -> Any:
    graph = networkx.Graph(**part.about)
    graph.add_nodes_from(range(part.n_nodes))
    graph.add_edges_from(part.edges)
    for key, values in part.node_values.items():
        networkx.set_node_attributes(graph, dict(enumerate(values)), key)
    for key, values in part.edge_values.items():
        networkx.set_edge_attributes(graph, dict(zip(part.edges, values, strict=True)), key)
    return graph


def _to_igraph(igraph: ModuleType, part: _Unpacked) -> Any:
    return igraph.Graph(
        n=part.n_nodes,
        edges=part.edges,
        graph_attrs=part.about,
        vertex_attrs=part.node_values,
        edge_attrs=part.edge_values,
    )


# -- adjacency matrices ------------------------------------------------------------------------------------------------


def batch_from_scipy(
    matrices: Iterable[Any],
    *,
    node_labels: Sequence[Any] | None = None,
    node_attributes: Sequence[Any] | None = None,
    y: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    name: str = "",
    repair: Collection[str] = (),
) -> GraphBatch:
    """Convert symmetric adjacency matrices.

    Parameters
    ----------
    matrices : iterable of square SciPy sparse matrices or arrays, or square NumPy arrays
        Entries are the weights; zeros, also those that a sparse matrix stores, are no edges.
    node_labels, node_attributes : sequence of sequences, optional
        One entry per node for each graph.
    y, ids : array-like, optional
        One entry per graph.
    name : str
        Name of the batch.
    repair : collection of str
        Which of `pwlr.graphs.REPAIRS` to apply instead of refusing.

    Returns
    -------
    GraphBatch
    """
    graphs = [_of_matrix(matrix, position) for position, matrix in enumerate(_items(matrices))]
    for field, values in (("node_labels", node_labels), ("node_attributes", node_attributes)):
        if values is not None:
            if len(values) != len(graphs):
                raise GraphFormatError(
                    f"{field} has entries for {len(values)} graphs but there are {len(graphs)} matrices"
                )
            graphs = [_with(graph, field, value) for graph, value in zip(graphs, values, strict=True)]
    return _pack_graphs(graphs, listed="both ways", y=y, ids=ids, name=name, repair=repair)


def _with(graph: _OneGraph, field: str, values: Any) -> _OneGraph:
    return dataclasses.replace(graph, **{field: values})


def _of_matrix(matrix: Any, position: int) -> _OneGraph:
    """Non-zero entries of an adjacency matrix."""
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphFormatError(f"graph {position}: an adjacency matrix is square; this one has shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise GraphFormatError(f"graph {position}: an adjacency matrix holds numbers, not {matrix.dtype}")
    entries = sp.coo_array(matrix, copy=True)
    entries.sum_duplicates()  # what SciPy means by an entry that is stored twice
    there = np.flatnonzero(entries.data != 0)
    edges = np.column_stack([entries.row[there], entries.col[there]]).astype(np.int64)
    return _OneGraph(matrix.shape[0], edges, entries.data[there])


def batch_to_scipy(batch: GraphBatch) -> list[sp.csr_array]:
    """Return the weighted adjacency matrix of every graph; labels and attributes stay behind."""
    return [graph.adjacency() for graph in batch]


# -- GraKeL ------------------------------------------------------------------------------------------------------------


def batch_from_grakel(
    graphs: Iterable[Any],
    *,
    y: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    name: str = "",
    repair: Collection[str] = (),
) -> GraphBatch:
    """Convert GraKeL's lists ``[edges, node labels, edge labels]`` or `grakel.Graph` objects.

    Parameters
    ----------
    graphs : iterable
        `edges` is ``{u: {v: weight}}``, ``{u: [v, ...]}``, ``{(u, v): weight}``, a collection of ``(u, v)`` or
        ``(u, v, weight)``, or an adjacency matrix. Labels are dictionaries by node and by ``(u, v)``, and may be left
        out; node "labels" that are sequences or fractions are attributes. A graph that lists no edge in both directions
        lists each once; one that lists any edge in both must list all so. Nodes may be called anything: whole numbers
        come in ascending order, other names in order of appearance, labels first.
    y, ids : array-like, optional
        One entry per graph.
    name : str
        Name of the batch.
    repair : collection of str
        Which of `pwlr.graphs.REPAIRS` to apply instead of refusing.

    Returns
    -------
    GraphBatch
    """
    items = _all_of_kind(graphs, "grakel")
    converted = [_of_grakel(item, position) for position, item in enumerate(items)]
    return _pack_graphs(converted, listed="both ways", y=y, ids=ids, name=name, repair=repair)


def _is_grakel_list(item: Any) -> bool:
    """Whether this is ``[edges, node labels, edge labels]`` or the start of it."""
    if not isinstance(item, list | tuple) and not (_is_object_array(item) and item.ndim == 1):
        return False
    if not 1 <= len(item) <= 3 or not all(part is None or _is_mapping(part) for part in item[1:]):
        return False
    edges = item[0]
    if isinstance(edges, list | tuple) and all(isinstance(edge, tuple) and len(edge) in (2, 3) for edge in edges):
        return True
    # A list of nothing but one matrix is SciPy's, not GraKeL's.
    return isinstance(edges, set | frozenset) or _is_mapping(edges) or (len(item) > 1 and _is_matrix(edges))


def _is_mapping(part: Any) -> bool:
    """Whether this is a dictionary; SciPy's matrices of one format are dictionaries as well."""
    return isinstance(part, Mapping) and not sp.issparse(part)


def _may_be_edge_lists(graphs: Any) -> bool:
    """Whether what looks like one GraKeL graph without labels could as well be a list of one edge list."""
    return isinstance(graphs, list | tuple) and len(graphs) == 1 and isinstance(graphs[0], list | tuple)


def _of_grakel(item: Any, position: int) -> _OneGraph:
    edges, node_labels, edge_labels = _grakel_parts(item)
    try:
        arcs = _grakel_arcs(edges, position)
    except (TypeError, ValueError) as error:
        if isinstance(error, GraphFormatError):
            raise
        raise GraphFormatError(f"graph {position}: its edges are in none of the forms that GraKeL knows") from None
    names = _node_order(arcs, node_labels, position)
    number = {node: i for i, node in enumerate(names)}
    graph = _OneGraph(
        len(names),
        np.array([(number[u], number[v]) for u, v in arcs.pairs], dtype=np.int64).reshape(-1, 2),
        arcs.weights,
        edge_labels=_labels_of_edges(arcs.pairs, edge_labels, position),
        **_values_of_nodes(names, node_labels, position),
    )
    there = set(arcs.pairs)
    once = not arcs.is_matrix and not any((v, u) in there for u, v in arcs.pairs if u != v)
    return graph.both_ways() if once else graph


def _grakel_parts(item: Any) -> tuple[Any, Mapping[Any, Any], Mapping[Any, Any]]:
    """Edges, node labels and edge labels of a list or of a `grakel.Graph`."""
    if hasattr(item, "get_edge_dictionary"):
        labels = [item.get_labels(label_type=of, purpose="any", return_none=True) for of in ("vertex", "edge")]
        return item.get_edge_dictionary(), labels[0] or {}, labels[1] or {}
    edges, node_labels, edge_labels = [*item, None, None][:3]
    return edges, node_labels or {}, edge_labels or {}


@dataclass(frozen=True)
class _GrakelArcs:
    """Arcs between nodes under their own names."""

    pairs: list[tuple[Hashable, Hashable]]
    weights: Any
    nodes: Sequence[Hashable] = ()  # that may have no arc
    is_matrix: bool = False


def _grakel_arcs(edges: Any, position: int) -> _GrakelArcs:
    """Arcs in any of GraKeL's forms."""
    if _is_matrix(edges):
        graph = _of_matrix(edges if sp.issparse(edges) else np.asarray(edges), position)
        return _GrakelArcs(list(map(tuple, graph.edges.tolist())), graph.weights, range(graph.n_nodes), is_matrix=True)
    if isinstance(edges, Mapping):
        if all(isinstance(key, tuple) and len(key) == 2 and np.isscalar(value) for key, value in edges.items()):
            return _GrakelArcs(list(edges), list(edges.values()))
        pairs = [(u, v) for u, targets in edges.items() for v in targets]
        weights = [targets[v] if isinstance(targets, Mapping) else 1.0 for targets in edges.values() for v in targets]
        return _GrakelArcs(pairs, weights, list(edges))
    triples = [tuple(edge) for edge in edges]
    weighted = any(len(edge) == 3 for edge in triples)
    if any(len(edge) != (3 if weighted else 2) for edge in triples):
        raise GraphFormatError(f"graph {position}: edges must all be (u, v) or all be (u, v, weight)")
    return _GrakelArcs([edge[:2] for edge in triples], [edge[2] if weighted else 1.0 for edge in triples])


def _is_matrix(edges: Any) -> bool:
    """Whether edges stand in an adjacency matrix: GraKeL reads lists of lists so, and lists of tuples as edges."""
    if sp.issparse(edges) or isinstance(edges, np.ndarray):
        return True
    return isinstance(edges, list | tuple) and len(edges) > 0 and all(isinstance(row, list) for row in edges)


def _node_order(arcs: _GrakelArcs, node_labels: Mapping[Any, Any], position: int) -> list[Hashable]:
    """Nodes in the order they get in the batch: numbers ascending, other names as they appear, labels first."""
    if arcs.is_matrix:
        strange = [node for node in node_labels if node not in arcs.nodes]
        if strange:
            raise GraphFormatError(f"graph {position}: node {strange[0]!r} has a label but no row in the matrix")
        return list(arcs.nodes)
    names = list(dict.fromkeys([*node_labels, *arcs.nodes, *(node for pair in arcs.pairs for node in pair)]))
    whole = all(isinstance(node, int | np.integer) for node in names)
    return sorted(names) if whole else names


def _values_of_nodes(names: list[Hashable], node_labels: Mapping[Any, Any], position: int) -> dict[str, list[Any]]:
    """Labels of the nodes in order; sequences are attributes."""
    if not node_labels:
        return {}
    for node in names:
        if node not in node_labels:
            raise GraphFormatError(
                f"graph {position}: node {node!r} has no label although others have: label all or none"
            )
    values = [node_labels[node] for node in names]
    measured = isinstance(values[0], list | tuple | np.ndarray)
    return {"node_attributes" if measured else "node_labels": values}


def _labels_of_edges(pairs: list[tuple[Any, Any]], edge_labels: Mapping[Any, Any], position: int) -> list[Any] | None:
    """Labels of the arcs in order; an arc without one has its mirror's."""
    if not edge_labels:
        return None
    values = []
    for u, v in pairs:
        key = (u, v) if (u, v) in edge_labels else (v, u)
        if key not in edge_labels:
            raise GraphFormatError(
                f"graph {position}: edge {(u, v)!r} has no label although others have: label all or none"
            )
        values.append(edge_labels[key])
    return values


def batch_to_grakel(batch: GraphBatch) -> list[Any]:
    """Return GraKeL's lists ``[{u: {v: weight}}, node labels, edge labels]``, every edge in both directions.

    Where a batch has node attributes and no node labels, the attributes (tuples) stand in the place of the labels.
    """
    return [_to_grakel(_unpack(graph)) for graph in batch]


def _to_grakel(part: _Unpacked) -> list[Any]:
    neighbours: dict[int, dict[int, float]] = {node: {} for node in range(part.n_nodes)}
    for (u, v), weight in zip(part.edges, part.edge_values["weight"], strict=True):
        neighbours[u][v] = neighbours[v][u] = weight
    values = part.node_values.get("label") or list(map(tuple, part.node_values.get("attributes", [])))
    edge_labels = {}
    for (u, v), label in zip(part.edges, part.edge_values.get("label", []), strict=False):
        edge_labels[u, v] = edge_labels[v, u] = label
    return [neighbours, dict(enumerate(values)), edge_labels]


_DOORS: dict[str, Callable[[list[Any]], GraphBatch]] = {
    "batch": GraphBatch.concatenate,
    "networkx": batch_from_networkx,
    "igraph": batch_from_igraph,
    "scipy": batch_from_scipy,
    "grakel": batch_from_grakel,
}
