"""Joins batch, layout and backend, shard by shard: the only place that does.

The data walk: a batch is cut into shards of equal cost; for each shard ``prepare`` makes what a backend works on, the
backend yields event rows, and an accumulator fills the vectors from them. `embed_shard` is all that a pool ever maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs

from pwlr.backends import check_backend, resolve
from pwlr.errors import OptionError
from pwlr.graphs import GraphBatch, shard_bounds
from pwlr.io.convert import as_batch
from pwlr.method.diffusion import Grid
from pwlr.method.features import EdgeWeights, check_edge_weights
from pwlr.method.features import edge_weights as edge_weights_of
from pwlr.method.filtration import TIE_TOL, EventRow, check_p, prepare
from pwlr.method.persistence import Diagrams, Essential, diagrams
from pwlr.method.vectors import Accumulator, FeatureLayout, Unseen, check_unseen

__all__ = ["Filtering", "check_jobs", "embed", "embed_grid", "embed_shard", "event_rows", "persistence"]


@dataclass(frozen=True)
class Filtering:
    """The choices that decide the heights and their order; the same names as the estimators' parameters."""

    node_features: str = "auto"
    edge_weights: EdgeWeights = "given"
    p: float = 1.0
    tie_tol: float = TIE_TOL
    backend: str = "auto"

    def __post_init__(self) -> None:
        """Refuse values that no backend takes."""
        object.__setattr__(self, "p", check_p(self.p))
        check_edge_weights(self.edge_weights)
        check_backend(self.backend)
        number = isinstance(self.tie_tol, int | float | np.number) and not isinstance(self.tie_tol, bool)
        if not number or not 0 <= self.tie_tol < 1:
            raise OptionError(f"tie_tol={self.tie_tol!r} must be a number from 0 to below 1")


def event_rows(batch: GraphBatch, grid: Grid, how: Filtering) -> Iterator[EventRow]:
    """Yield the event rows of a batch, on one thread."""
    rows = resolve(how.backend)
    return rows(prepare(batch, how.node_features, how.edge_weights), grid, p=how.p, tie_tol=how.tie_tol)


def embed_shard(
    batch: GraphBatch, layout: FeatureLayout, how: Filtering, dtype: Any = np.float64, sparse: bool = False
) -> Any:
    """Return the vectors of one shard: what a thread, a process or a cluster maps."""
    vectors = Accumulator(layout, batch)
    for row in event_rows(batch, Grid.of_pairs(layout.options.pairs), how):
        vectors.add(row)
    return vectors.sparse(dtype) if sparse else vectors.dense(dtype)


def embed(
    batch: GraphBatch,
    layout: FeatureLayout,
    how: Filtering,
    *,
    unseen: Unseen = "warn",
    dtype: Any = np.float64,
    sparse: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Return the vectors of a batch, one row a graph."""
    check_unseen(layout, batch, unseen)
    shards, how = _shards(batch, how, n_jobs)
    if len(shards) == 1:
        return embed_shard(batch, layout, how, dtype, sparse)
    resolve(how.backend)  # a missing library is told here, once, not by every thread
    pool = Parallel(n_jobs=n_jobs, prefer="threads")
    parts = pool(delayed(embed_shard)(shard, layout, how, dtype, sparse) for shard in shards)
    return sp.vstack(parts, format="csr") if sparse else np.concatenate(parts)


def embed_grid(
    graphs: Any,
    k1: Iterable[Any] = range(30),
    k2: Iterable[Any] = range(30),
    *,
    node_features: str = "auto",
    edge_weights: EdgeWeights = "given",
    p: float = 1.0,
    tie_tol: float = TIE_TOL,
    backend: str = "auto",
    n_jobs: int | None = None,
) -> Iterator[EventRow]:
    """Walk the (k1, k2) grid, one k1 at a time.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
    k1, k2 : iterable of int or infinity
        The rows and columns of the grid, visited in ascending order.
    node_features, edge_weights, p, tie_tol, backend, n_jobs
        As in `PWLRTransformer`.

    Yields
    ------
    EventRow
        Heights, order and cycle flags of every edge for one k1 and all k2; memory is that of one row (13 bytes for each
        edge and k2), however large the grid.

    Examples
    --------
    >>> import pwlr
    >>> graphs = pwlr.load_dataset("MUTAG")[:3]
    >>> [row.heights.shape for row in pwlr.embed_grid(graphs, k1=[0, 1], k2=range(4))]
    [(4, 47), (4, 47)]
    """
    batch = as_batch(graphs)
    grid = Grid.product(k1, k2)
    shards, how = _shards(batch, Filtering(node_features, edge_weights, p, tie_tol, backend), n_jobs)
    walks = [event_rows(shard, grid, how) for shard in shards]
    return _joined_rows(walks, grid, n_jobs)


def persistence(
    graphs: Any,
    k1: Any = 1,
    k2: Any = 1,
    *,
    essential: Essential = "inf",
    node_features: str = "auto",
    edge_weights: EdgeWeights = "given",
    p: float = 1.0,
    tie_tol: float = TIE_TOL,
    backend: str = "auto",
    n_jobs: int | None = None,
) -> Diagrams:
    """Return the persistence diagrams of graphs under the WL and random-walk filtration.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
    k1, k2 : int or infinity
    essential : "inf", "cap" or "drop"
        What happens to classes that never die: an infinite death, the graph's largest height, or left out.
    node_features, edge_weights, p, tie_tol, backend, n_jobs
        As in `PWLRTransformer`.

    Returns
    -------
    Diagrams
        (birth, death) arrays and the edge behind every point.

    Examples
    --------
    >>> import pwlr
    >>> triangle = pwlr.GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)]], node_labels=[["C", "C", "O"]])
    >>> h0, h1 = pwlr.persistence(triangle, k1=0, k2=0)[0]
    >>> h0.tolist(), h1.tolist()
    ([[0.0, 0.0], [0.0, 2.0], [0.0, inf]], [[2.0, inf]])
    """
    batch = as_batch(graphs)
    (row,) = embed_grid(
        batch,
        [k1],
        [k2],
        node_features=node_features,
        edge_weights=edge_weights,
        p=p,
        tie_tol=tie_tol,
        backend=backend,
        n_jobs=n_jobs,
    )
    return diagrams(batch, row, essential=essential)


def _joined_rows(walks: list[Iterator[EventRow]], grid: Grid, n_jobs: int | None) -> Iterator[EventRow]:
    """Move all shards forward by one row, side by side, and lay their rows end to end."""
    if len(walks) == 1:
        yield from walks[0]
        return
    pool = Parallel(n_jobs=n_jobs, prefer="threads")
    for k1, k2 in grid.rows:
        parts: Sequence[EventRow] = pool(delayed(next)(walk) for walk in walks)
        starts = np.cumsum([0, *(part.order.shape[1] for part in parts)])
        row = EventRow(
            k1,
            k2,
            np.concatenate([part.heights for part in parts], axis=1),
            np.concatenate([part.order + np.int32(start) for part, start in zip(parts, starts, strict=False)], axis=1),
            np.concatenate([part.closes_cycle for part in parts], axis=1),
        )
        del parts  # so that there are never more than two rows in memory
        yield row
        del row


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of workers that joblib does not know."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise OptionError(f"n_jobs={n_jobs!r} is no number of workers: give 1 or more, or -1 for all cores")


def _shards(batch: GraphBatch, how: Filtering, n_jobs: int | None) -> tuple[list[GraphBatch], Filtering]:
    """Cut the batch into as many shards of equal cost as there are workers.

    What looks at the whole batch is settled before: a callable for the weights gets all graphs, and complaints name a
    graph by its number in the batch, whatever `n_jobs` is.
    """
    check_jobs(n_jobs)
    workers = effective_n_jobs(n_jobs)
    if workers == 1 or batch.n_graphs < 2:
        return [batch], how
    if not (isinstance(how.edge_weights, str) and how.edge_weights == "given"):
        weights = edge_weights_of(batch, how.edge_weights)
        batch, how = batch.replace(weights=weights[batch.arc_edges]), replace(how, edge_weights="given")
    n_columns = 8  # of X that a graph typically uses; only the balance of the shards hangs on it
    bounds = shard_bounds(batch, workers, n_columns)
    shards = [batch[start:stop] for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
    return shards, how
