"""How long embedding takes: our compiled backend on one thread beside the plain telling in NumPy and SciPy."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pwlr.engine import Filtering, embed, event_rows
from pwlr.errors import OptionError
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import Grid
from pwlr.method.vectors import FeatureLayout, LayoutOptions, parse_k

__all__ = ["OURS", "PLAIN", "Timing", "time_embedding", "time_grid", "timing_table"]

OURS = "numba"
PLAIN = "numpy"


@dataclass(frozen=True)
class Timing:
    """The time that one piece of work took, as the median over repeats.

    Attributes
    ----------
    dataset : str
    work : str
        ``k=(1, 12)``: the vectors at one (k1, k2), with all that comes before and after the backend; ``grid 30 x 30``:
        the event rows of a whole grid in one pass, without a read-out.
    n_graphs, n_settings : int
        How many graphs, at how many (k1, k2).
    repeats : int
    ours_seconds : float
        All graphs, compiled backend, one thread, compilation left out.
    plain_seconds : float or None
        The same with the plain backend; None where it was not run.
    """

    dataset: str
    work: str
    n_graphs: int
    n_settings: int
    repeats: int
    ours_seconds: float
    plain_seconds: float | None

    @property
    def ours_ms(self) -> float:
        """Milliseconds per graph and (k1, k2)."""
        return self._per_graph(self.ours_seconds)

    @property
    def plain_ms(self) -> float | None:
        """Milliseconds per graph and (k1, k2) of the plain backend."""
        return None if self.plain_seconds is None else self._per_graph(self.plain_seconds)

    @property
    def ratio(self) -> float | None:
        """How many times longer the plain backend takes."""
        return None if self.plain_seconds is None else self.plain_seconds / self.ours_seconds

    def _per_graph(self, seconds: float) -> float:
        return 1000.0 * seconds / (self.n_graphs * self.n_settings)


def timing_table(
    batch: GraphBatch,
    k: Any = ((0, 0), (1, 12), (26, 27)),
    *,
    node_features: str = "auto",
    repeats: int = 5,
    plain: bool = True,
    grid: int | None = 30,
    plain_grid: bool = False,
) -> list[Timing]:
    """Time the embedding of a data set at every (k1, k2) of a list, and one pass over the whole grid.

    Parameters
    ----------
    batch : GraphBatch
    k : (k1, k2) or list of pairs
        The default is near, one of the paper's settings, and far.
    node_features : str
        As in `PWLRTransformer`.
    repeats : int
    plain : bool
        Whether the plain backend runs as well at every pair.
    grid : int or None
        k1 and k2 of the grid go from 0 to below this; None leaves the grid out.
    plain_grid : bool
        Whether the plain backend walks the grid as well, which takes seconds on MUTAG and minutes on NCI1.

    Returns
    -------
    list of Timing
        One for each pair, then the grid.
    """
    pairs = parse_k(k)
    table = [time_embedding(batch, pair, node_features=node_features, repeats=repeats, plain=plain) for pair in pairs]
    if grid is not None:
        table.append(time_grid(batch, range(grid), range(grid), node_features=node_features, plain=plain_grid))
    return table


def time_embedding(
    batch: GraphBatch,
    k: tuple[float, float],
    *,
    node_features: str = "auto",
    repeats: int = 5,
    plain: bool = True,
) -> Timing:
    """Time the H0 and H1 lists (``sorted``) at one (k1, k2); the two backends take turns, so that noise meets both."""
    _check(batch, repeats)
    pairs = parse_k(k)
    layout = FeatureLayout.fit(batch, LayoutOptions(pairs=pairs, representation="sorted"))
    backends = (OURS, PLAIN) if plain else (OURS,)

    def work(graphs: GraphBatch, backend: str) -> None:
        embed(graphs, layout, Filtering(node_features, backend=backend), unseen="ignore", n_jobs=1)

    seconds = _medians(batch, work, backends, repeats)
    name = ", ".join(f"k={pair}" for pair in pairs)
    return Timing(batch.name, name, len(batch), len(pairs), repeats, seconds[OURS], seconds.get(PLAIN))


def time_grid(
    batch: GraphBatch,
    k1: Iterable[Any] = range(30),
    k2: Iterable[Any] = range(30),
    *,
    node_features: str = "auto",
    repeats: int = 1,
    plain: bool = False,
) -> Timing:
    """Time one pass over a whole (k1, k2) grid: the events of every edge at every setting, without a read-out."""
    _check(batch, repeats)
    grid = Grid.product(k1, k2)
    backends = (OURS, PLAIN) if plain else (OURS,)

    def work(graphs: GraphBatch, backend: str) -> None:
        for _ in event_rows(graphs, grid, Filtering(node_features, backend=backend)):
            pass

    seconds = _medians(batch, work, backends, repeats)
    n_settings = sum(len(row) for _, row in grid.rows)
    name = f"grid {len(grid.rows)} x {max(len(row) for _, row in grid.rows)}"
    return Timing(batch.name, name, len(batch), n_settings, repeats, seconds[OURS], seconds.get(PLAIN))


def _check(batch: GraphBatch, repeats: int) -> None:
    if len(batch) == 0:
        raise OptionError("there is nothing to time: the batch holds no graphs")
    if repeats < 1:
        raise OptionError(f"repeats={repeats} measures nothing: use at least 1")


def _medians(
    batch: GraphBatch, work: Callable[[GraphBatch, str], None], backends: Sequence[str], repeats: int
) -> dict[str, float]:
    """Return the median seconds of each backend; one graph goes before the clock starts, so nothing is compiled."""
    for backend in backends:
        work(batch[:1], backend)
    seconds: dict[str, list[float]] = {backend: [] for backend in backends}
    for _ in range(repeats):
        for backend in backends:
            start = time.perf_counter()
            work(batch, backend)
            seconds[backend].append(time.perf_counter() - start)
    return {backend: statistics.median(times) for backend, times in seconds.items()}
