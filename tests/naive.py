"""The naive twin: the whole method, as plainly as it can be said, for small graphs. It imports nothing from pwlr.

Dense matrices, edges added one by one, components counted by searching the graph, kinds as tuples, columns as names.
Nothing here is fast and nothing is shared with the package, so agreement means something.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

INFINITY = float("inf")

Edge = tuple[int, int]
Kind = tuple[Any, ...]


@dataclass(frozen=True)
class Graph:
    """One graph: nodes 0 to n_nodes - 1, edges (u, v) with u < v in ascending order, and what goes with them."""

    n_nodes: int
    edges: tuple[Edge, ...] = ()
    weights: tuple[float, ...] | None = None
    node_labels: tuple[Any, ...] | None = None
    node_attributes: tuple[tuple[float, ...], ...] | None = None
    edge_labels: tuple[Any, ...] | None = None

    @property
    def degrees(self) -> list[int]:
        """Unweighted degrees."""
        return [sum(node in edge for edge in self.edges) for node in range(self.n_nodes)]


# -- diffusion ---------------------------------------------------------------------------------------------------------


def transition_matrix(graph: Graph) -> np.ndarray:
    """M = (D + I)^-1 (A + I)."""
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    for (u, v), weight in zip(graph.edges, graph.weights or [1.0] * len(graph.edges), strict=True):
        A[u, v] = A[v, u] = weight
    D, identity = np.diag(A.sum(axis=1)), np.eye(graph.n_nodes)
    return np.diag(1 / np.diag(D + identity)) @ (A + identity)


def power(graph: Graph, steps: float) -> np.ndarray:
    """M^steps; after infinitely many, every row is pi of its component, pi_v = (d_v + 1) / sum (d_w + 1)."""
    M = transition_matrix(graph)
    if steps != INFINITY:
        return np.linalg.matrix_power(M, steps)
    d_plus_1 = 1 / np.diag(M)  # the diagonal of M is 1 / (d_v + 1)
    limit = np.zeros_like(M)
    for component in components(graph.n_nodes, graph.edges):
        total = sum(d_plus_1[w] for w in component)
        for u in component:
            for v in component:
                limit[u, v] = d_plus_1[v] / total
    return limit


def node_matrix(graph: Graph, option: str, all_graphs: Sequence[Graph]) -> np.ndarray:
    """X, one column for each label (or degree) that any of all the graphs has, then the attributes."""
    columns = []
    if option in ("labels", "both"):
        vocabulary = sorted({label for other in all_graphs for label in other.node_labels})
        columns += [[float(own == label) for own in graph.node_labels] for label in vocabulary]
    if option == "degree":
        vocabulary = sorted({degree for other in all_graphs for degree in other.degrees})
        columns += [[float(own == degree) for own in graph.degrees] for degree in vocabulary]
    if option == "constant":
        columns.append([1.0] * graph.n_nodes)
    if option in ("attributes", "both"):
        width = max(len(row) for other in all_graphs for row in [*other.node_attributes, ()])
        columns += [[row[column] for row in graph.node_attributes] for column in range(width)]
    return np.array(columns, dtype=float).reshape(len(columns), graph.n_nodes).T


def diffused(graph: Graph, X: np.ndarray, k1: float, k2: float) -> np.ndarray:
    """Y = (M^k1 X)^T M^k2, one column a node."""
    return (power(graph, k1) @ X).T @ power(graph, k2)


def norm(vector: np.ndarray, p: float) -> float:
    """The p-norm, in the words of its definition."""
    if p == INFINITY:
        return max((abs(x) for x in vector), default=0.0)
    return sum(abs(x) ** p for x in vector) ** (1 / p)


# -- filtration --------------------------------------------------------------------------------------------------------


def components(n_nodes: int, edges: Sequence[Edge]) -> list[list[int]]:
    """The connected components, each found by walking from its first node to all it can reach."""
    found: list[list[int]] = []
    for start in range(n_nodes):
        if any(start in component for component in found):
            continue
        reached = [start]
        for node in reached:  # grows while it is walked
            for u, v in edges:
                reached += [other for other, here in ((u, v), (v, u)) if here == node and other not in reached]
        found.append(sorted(reached))
    return found


def finest_kind(graph: Graph, number: int) -> Kind:
    """(lower degree, higher degree, label at the lower-degree end, label at the other, edge label) of an edge.

    At equal degrees the lower label comes first; a label that does not exist is None.
    """
    ends = [
        (graph.degrees[node], graph.node_labels[node] if graph.node_labels else None) for node in graph.edges[number]
    ]
    (d_a, l_a), (d_b, l_b) = sorted(ends, key=lambda end: end if graph.node_labels else end[0])
    return d_a, d_b, l_a, l_b, graph.edge_labels[number] if graph.edge_labels else None


def comparable(kind: Kind) -> Kind:
    """Kinds of one data set have None at the same places; Python does not compare it."""
    return tuple(0 if part is None else part for part in kind)


def addition_order(graph: Graph, height: Sequence[float], tolerance: float) -> list[int]:
    """The tie rule: by group; inside a group by degree pair, then finest kind, then height, then number of the edge.

    A height within the tolerance of its lower neighbour is in the group of that neighbour.
    """
    ascending = sorted(range(len(height)), key=lambda number: height[number])
    group: dict[int, int] = {}
    current = 0
    for place, number in enumerate(ascending):
        if place and height[number] - height[ascending[place - 1]] > tolerance:
            current += 1
        group[number] = current

    def key(number: int) -> tuple[Any, ...]:
        kind = finest_kind(graph, number)
        return group[number], kind[:2], comparable(kind), height[number], number

    return sorted(range(len(height)), key=key)


@dataclass(frozen=True)
class Events:
    """Heights by edge number, and the edge numbers of the H0 and of the H1 edges.

    `scale` is the largest number that was rounded on the way: features may cancel out, and then Y is small beside X.
    """

    height: list[float]
    h0: list[int]
    h1: list[int]
    tolerance: float
    scale: float

    def chosen(self, group: str) -> list[int]:
        return {"h0": self.h0, "h1": self.h1}[group]

    def is_borderline(self) -> bool:
        """Whether rounding could decide if two heights are one tie group; no two programs need agree on that."""
        ascending = sorted(self.height)
        gaps = [high - low for low, high in itertools.pairwise(ascending)]
        return any(abs(gap - self.tolerance) < 1e-12 * self.scale for gap in gaps)


def events(graph: Graph, X: np.ndarray, k1: float, k2: float, p: float = 1.0, tie_tol: float = 1e-9) -> Events:
    """Add edges one by one: one that lowers the number of components belongs to H0, any other to H1."""
    Y = diffused(graph, X, k1, k2)
    height = [float(norm(Y[:, u] - Y[:, v], p)) for u, v in graph.edges]
    norm_of_X, norm_of_Y = (
        max((float(norm(features[:, v], p)) for v in range(graph.n_nodes)), default=0.0) for features in (X.T, Y)
    )
    tolerance = tie_tol * norm_of_Y
    there: list[Edge] = []
    h0, h1 = [], []
    for number in addition_order(graph, height, tolerance):
        before = len(components(graph.n_nodes, there))
        there.append(graph.edges[number])
        after = len(components(graph.n_nodes, there))
        (h0 if after < before else h1).append(number)
    return Events(height, h0, h1, tolerance, max(norm_of_X, norm_of_Y))


def is_bridge(graph: Graph, number: int) -> bool:
    """Whether taking the edge away leaves more components."""
    others = [edge for other, edge in enumerate(graph.edges) if other != number]
    return len(components(graph.n_nodes, others)) > len(components(graph.n_nodes, graph.edges))


# -- kinds and the back-off --------------------------------------------------------------------------------------------


def node_kind(graph: Graph, node: int) -> Kind:
    """(degree, label) of a node."""
    return graph.degrees[node], graph.node_labels[node] if graph.node_labels else None


def labels_only(kind: Kind) -> Kind:
    """Both labels and the edge label of a finest edge kind, without the degrees."""
    _, _, l_a, l_b, bond = kind
    low, high = (None, None) if l_a is None else sorted([l_a, l_b])
    return low, high, bond


Level = tuple[str, Callable[[Kind], Kind]]
NODE_LEVELS: tuple[Level, ...] = (("finest", lambda kind: kind), ("label", lambda kind: kind[1:]))
EDGE_LEVELS: tuple[Level, ...] = (
    ("finest", lambda kind: kind),
    ("labels", labels_only),
    ("degrees", lambda kind: kind[:2]),
)


def kept(kinds_of_graphs: Sequence[Sequence[Kind]], levels: Sequence[Level], min_graphs: int) -> set[Kind]:
    """The (level, kind) that at least min_graphs graphs show among what the finer levels left over."""
    result: set[Kind] = set()
    left = [list(kinds) for kinds in kinds_of_graphs]
    for level, coarsen in levels:
        graphs_with = Counter(kind for kinds in left for kind in {coarsen(finest) for finest in kinds})
        enough = {kind for kind, count in graphs_with.items() if count >= min_graphs}
        result |= {(level, kind) for kind in enough}
        left = [[finest for finest in kinds if coarsen(finest) not in enough] for kinds in left]
    return result


def backed_off(finest: Kind, levels: Sequence[Level], kept_kinds: set[Kind]) -> Kind | None:
    """What a finest kind is counted as: the first level at which it was kept, or nothing but the totals."""
    for level, coarsen in levels:
        if (level, coarsen(finest)) in kept_kinds:
            return level, coarsen(finest)
    return None


def said(label: Any) -> str:
    """A label in a column name."""
    return "*" if label is None else str(label)


def node_words(level: str, kind: Kind) -> str:
    """`C(3)`, or `C,rare` for what is left over of a label."""
    if level == "label":
        return f"{said(kind[0])},rare"
    degree, label = kind
    return f"{'' if label is None else label}({degree})"


def edge_words(level: str, kind: Kind) -> str:
    """`C(2)-O(1):double`, `C-O:double,rare`, `(1)-(2),rare`."""
    if level == "degrees":
        return f"({kind[0]})-({kind[1]}),rare"
    bond = "" if kind[-1] is None else f":{kind[-1]}"
    if level == "labels":
        return f"{said(kind[0])}-{said(kind[1])}{bond},rare"
    d_a, d_b, l_a, l_b, _ = kind
    return f"{node_words('finest', (d_a, l_a))}-{node_words('finest', (d_b, l_b))}{bond}"


# -- vectors -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """The choices behind a vector, named as in the package."""

    k: tuple[tuple[float, float], ...] = ((0, 0), (1, 1), (4, 4))
    representation: str = "typed"
    homology: str = "h0+h1"
    stats: str = "sum"
    min_graphs: int | str = "auto"
    tau: float = 1.0
    p: float = 1.0
    node_features: str = "labels"

    @property
    def groups(self) -> list[str]:
        return self.homology.split("+")


Vector = dict[str, float]


def at(name: str, k1: float, k2: float) -> str:
    """The name of a column of one (k1, k2)."""
    return f"{name}@{k1},{k2}"


def all_events(
    graphs: Sequence[Graph], all_graphs: Sequence[Graph], how: Settings
) -> list[dict[tuple[float, float], Events]]:
    """The events of every graph at every (k1, k2)."""
    matrices = [node_matrix(graph, how.node_features, all_graphs) for graph in graphs]
    return [{k: events(graph, X, *k, how.p) for k in how.k} for graph, X in zip(graphs, matrices, strict=True)]


def vectors(fitted: Sequence[Graph], graphs: Sequence[Graph], how: Settings) -> list[Vector]:
    """The vectors of graphs, in a layout learnt from the fitted ones."""
    fill = {"sorted": _sorted, "degree-pairs": _degree_pairs, "typed": _typed}[how.representation]
    return fill(fitted, graphs, all_events(graphs, [*fitted, *graphs], how), how)


def _sorted(fitted: Sequence[Graph], graphs: Sequence[Graph], found: list[Any], how: Settings) -> list[Vector]:
    n_h0 = [graph.n_nodes - len(components(graph.n_nodes, graph.edges)) for graph in fitted]
    n_h1 = [len(graph.edges) - deaths for graph, deaths in zip(fitted, n_h0, strict=True)]
    length = {"h0": max(n_h0, default=0), "h1": max(n_h1, default=0)}
    result = []
    for by_k in found:
        vector = {}
        for k, event in by_k.items():
            for group in how.groups:
                ascending = sorted(event.height[number] for number in event.chosen(group))
                for place in range(length[group]):
                    filled = place < len(ascending)
                    vector[at(f"{group}[{place}]", *k)] = ascending[place] + how.tau if filled else 0.0
        result.append(vector)
    return result


def moments(heights: Sequence[float]) -> dict[str, float]:
    """Count, sum and sum of squares."""
    return {"count": float(len(heights)), "sum": sum(heights), "sumsq": sum(h * h for h in heights)}


def _degree_pairs(fitted: Sequence[Graph], graphs: Sequence[Graph], found: list[Any], how: Settings) -> list[Vector]:
    pairs = {finest_kind(graph, number)[:2] for graph in fitted for number in range(len(graph.edges))}
    result = []
    for graph, by_k in zip(graphs, found, strict=True):
        vector = {}
        for k, event in by_k.items():
            for group in how.groups:
                for low, high in sorted(pairs):
                    chosen = [number for number in event.chosen(group) if finest_kind(graph, number)[:2] == (low, high)]
                    heights = [event.height[number] for number in chosen]
                    if how.stats == "sum":
                        vector[at(f"{group}[{low},{high}]", *k)] = sum(height + how.tau for height in heights)
                    else:
                        for stat, value in moments(heights).items():
                            vector[at(f"{group}.{stat}[{low},{high}]", *k)] = value
        result.append(vector)
    return result


def _typed(fitted: Sequence[Graph], graphs: Sequence[Graph], found: list[Any], how: Settings) -> list[Vector]:
    if how.min_graphs != "auto":
        return _typed_at(fitted, graphs, found, how, how.min_graphs)
    n = len(fitted)
    min_graphs = 5 if n >= 200 else max(1, n // 40)
    result = _typed_at(fitted, graphs, found, how, min_graphs)
    while graphs and len(result[0]) > max(1000, 10 * n):
        min_graphs *= 2
        result = _typed_at(fitted, graphs, found, how, min_graphs)
    return result


def _typed_at(
    fitted: Sequence[Graph], graphs: Sequence[Graph], found: list[Any], how: Settings, min_graphs: int
) -> list[Vector]:
    nodes_of_fitted = [[node_kind(graph, node) for node in range(graph.n_nodes)] for graph in fitted]
    edges_of_fitted = [[finest_kind(graph, number) for number in range(len(graph.edges))] for graph in fitted]
    node_kinds = kept(nodes_of_fitted, NODE_LEVELS, min_graphs)
    edge_kinds = kept(edges_of_fitted, EDGE_LEVELS, min_graphs)
    on_cycles = {
        backed_off(kind, EDGE_LEVELS, edge_kinds)
        for graph, kinds in zip(fitted, edges_of_fitted, strict=True)
        for number, kind in enumerate(kinds)
        if not is_bridge(graph, number)
    }
    columns_of = {"h0": edge_kinds, "h1": edge_kinds & on_cycles}
    result = []
    for graph, by_k in zip(graphs, found, strict=True):
        vector: Vector = {}
        if "h0" in how.groups:
            counted = [backed_off(node_kind(graph, node), NODE_LEVELS, node_kinds) for node in range(graph.n_nodes)]
            for level, kind in node_kinds:
                vector[f"nodes[{node_words(level, kind)}]"] = float(counted.count((level, kind)))
            vector["nodes"] = float(graph.n_nodes)
            vector["h0"] = float(graph.n_nodes - len(components(graph.n_nodes, graph.edges)))
        if "h1" in how.groups:
            vector["h1"] = float(len(graph.edges) - graph.n_nodes + len(components(graph.n_nodes, graph.edges)))
        counted_as = [
            backed_off(finest_kind(graph, number), EDGE_LEVELS, edge_kinds) for number in range(len(graph.edges))
        ]
        for k, event in by_k.items():
            for group in how.groups:
                for level, kind in columns_of[group]:
                    heights = [event.height[i] for i in event.chosen(group) if counted_as[i] == (level, kind)]
                    for stat, value in moments(heights).items():
                        vector[at(f"{group}.{stat}[{edge_words(level, kind)}]", *k)] = value
        result.append(vector)
    return result
