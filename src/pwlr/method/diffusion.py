"""M, then M^k1 X (normalized Weisfeiler-Lehman), then (.)^T M^k2 (random walks), and their limits.

Node features stand one row a node throughout, so ``Y = (M^k1 X)^T M^k2`` is kept transposed: each random-walk step is a
product with the transpose of M.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from pwlr.errors import OptionError

__all__ = [
    "MULTISCALE",
    "Grid",
    "check_steps",
    "random_walks",
    "stationary",
    "to_the_limit",
    "transition_matrix",
    "weighted_degrees",
    "wl_steps",
]

FloatArray = NDArray[np.float64]

MULTISCALE: tuple[tuple[int, int], ...] = ((0, 0), (1, 1), (4, 4))
"""What ``k="multiscale"`` means: near, middle and far."""


@dataclass(frozen=True)
class Grid:
    """Which (k1, k2) to visit, one row for each k1 with its ascending k2; infinity is legal and comes last."""

    rows: tuple[tuple[float, tuple[float, ...]], ...]

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[float, float]]) -> Grid:
        """Gather (k1, k2) pairs into rows."""
        gathered: dict[float, set[float]] = {}
        for k1, k2 in pairs:
            gathered.setdefault(k1, set()).add(k2)
        return cls(tuple((k1, tuple(sorted(gathered[k1]))) for k1 in sorted(gathered)))

    @classmethod
    def product(cls, k1: Iterable[Any], k2: Iterable[Any]) -> Grid:
        """Return the full rectangle."""
        for name, steps in (("k1", k1), ("k2", k2)):
            if not isinstance(steps, Iterable) or isinstance(steps, str):
                raise OptionError(f"{name}={steps!r} must list numbers of steps, such as range(30) or [3]")
        columns = [check_steps(steps, "k2") for steps in k2]
        return cls.of_pairs((check_steps(steps, "k1"), column) for steps in k1 for column in columns)


def check_steps(steps: Any, name: str) -> float:
    """Bring a number of steps to a non-negative int or to infinity."""
    if isinstance(steps, float | np.floating) and math.isinf(steps) and steps > 0:
        return math.inf
    whole = isinstance(steps, int | np.integer) or (
        isinstance(steps, float | np.floating) and float(steps).is_integer()
    )
    if isinstance(steps, bool | np.bool_) or not whole or steps < 0:
        raise OptionError(f"{name}={steps!r} is not a number of steps: give a whole number from 0 on, or infinity")
    return int(steps)


def transition_matrix(indptr: Any, indices: Any, weights: FloatArray) -> sp.csr_array:
    """M = (D + I)^-1 (A + I), the paper's equation for M_G, for all graphs at once as one block-diagonal matrix."""
    n_nodes = len(indptr) - 1
    A = sp.csr_array((weights, indices, indptr), shape=(n_nodes, n_nodes))
    inverse = sp.diags_array(1.0 / (weighted_degrees(indptr, indices, weights) + 1.0))
    return (inverse @ (A + sp.eye_array(n_nodes, format="csr"))).tocsr()


def weighted_degrees(indptr: Any, indices: Any, weights: FloatArray) -> FloatArray:
    """d_v, the sum of the weights at every node, added in the order of its neighbours."""
    n_nodes = len(indptr) - 1
    return np.asarray(sp.csr_array((weights, indices, indptr), shape=(n_nodes, n_nodes)) @ np.ones(n_nodes))


def stationary(M: sp.csr_array, degree: FloatArray) -> tuple[NDArray[np.int32], FloatArray]:
    """Return the component of every node and pi_v = (d_v + 1) / sum over its component of (d_w + 1)."""
    # scipy-stubs does not know that the second value is an array
    component = np.asarray(connected_components(M, directed=False)[1])
    return component, (degree + 1.0) / np.bincount(component, weights=degree + 1.0)[component]


def wl_steps(
    M: sp.csr_array, X: FloatArray, k1_values: Iterable[float], limit: tuple[Any, FloatArray]
) -> Iterator[FloatArray]:
    """Yield M^k1 X for ascending k1, each from the one before; ``limit`` is what `stationary` returned."""
    Z, done = X, 0.0
    for k1 in k1_values:
        if math.isinf(k1):
            Z = _wl_limit(X, *limit)
        else:
            for _ in range(int(k1 - done)):
                Z = M @ Z
            done = k1
        yield Z


def random_walks(
    M: sp.csr_array, Z: FloatArray, k2_values: Iterable[float], limit: tuple[Any, FloatArray]
) -> Iterator[FloatArray]:
    """Yield (Z^T M^k2)^T for ascending k2, each from the one before."""
    Y, done = Z, 0.0
    Mt = M.T.tocsr()
    for k2 in k2_values:
        if math.isinf(k2):
            Y = _walk_limit(Z, *limit)
        else:
            for _ in range(int(k2 - done)):
                Y = Mt @ Y
            done = k2
        yield Y


def to_the_limit(values: FloatArray, component: NDArray[Any]) -> FloatArray:
    """Sum the rows of every component, one column after the other, in the order of the nodes."""
    n_components = int(component.max()) + 1 if len(component) else 0
    sums = np.empty((n_components, values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(component, weights=values[:, column], minlength=n_components)
    return sums


def _wl_limit(X: FloatArray, component: NDArray[Any], pi: FloatArray) -> FloatArray:
    """M^inf X = 1 pi^T X on every component."""
    return np.asarray(to_the_limit(pi[:, None] * X, component)[component])


def _walk_limit(Z: FloatArray, component: NDArray[Any], pi: FloatArray) -> FloatArray:
    """Z^T M^inf = (Z^T 1) pi^T on every component."""
    return np.asarray(to_the_limit(Z, component)[component] * pi[:, None])
