"""Time the whole 30 x 30 grid of (k1, k2) on MUTAG and NCI1 against four yardsticks, all in one run.

- the plain C++ loop of yardstick.cpp, compiled with -O3 -march=native where a compiler is there
- a plain loop over SciPy's minimum_spanning_tree, one call an embedding (a sample)
- np.sort of the same heights: a call an embedding, and a call for all k2 of a graph at once
- the naive twin of tests/naive.py (a smaller sample, of graphs with at most 60 edges)

An embedding is one graph at one (k1, k2). Ratios are medians of rounds in which all sides took turns, of processor time
(that of two threads: of wall time); above 1, ours on one thread is faster. Also told: the first call with an empty
compile cache, and the peak memory of the NCI1 grid, consumed row by row.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from _common import ROOT, report, take_turns
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

import pwlr
from pwlr.backends import numba_cpu
from pwlr.errors import PwlrError
from pwlr.graphs import GraphBatch, shard_bounds
from pwlr.method import filtration
from pwlr.method.diffusion import Grid, transition_matrix

K = tuple(range(30))
SEED = 0
OURS = "numba, 1 thread"


def node_features(work: filtration.Prepared) -> list[np.ndarray]:
    """X of every graph, with the columns that it uses."""
    X = filtration._dense(work)  # noqa: SLF001  # the benchmark may look inside
    spans = itertools.pairwise(work.node_ptr.tolist())
    return [X[start:stop, :columns] for (start, stop), columns in zip(spans, work.n_columns, strict=True)]


# -- our side ----------------------------------------------------------------------------------------------------------


def consume(rows: Iterator[Any]) -> None:
    """Walk all rows, keeping none."""
    for _ in rows:
        pass


def two_threads(halves: list[filtration.Prepared], grid: Grid) -> None:
    """Two shards of equal cost side by side."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda half: consume(numba_cpu.rows(half, grid)), halves))


# -- the yardstick -----------------------------------------------------------------------------------------------------


def compiled() -> Any:
    """yardstick.cpp as a library, or None without a compiler."""
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("g++", "clang++", "c++")), None)
    if compiler is None:
        return None
    target = Path(tempfile.mkdtemp()) / "yardstick.so"
    source = Path(__file__).with_name("yardstick.cpp")
    flags = ["-O3", "-march=native", "-std=c++17", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target))


def yardstick_rows(library: Any, work: filtration.Prepared, grid: Grid) -> Iterator[tuple[np.ndarray, ...]]:
    """The rows by the C++ loop; it fills the same three arrays again and again, which spares it fresh memory."""
    Z = np.concatenate([X.ravel() for X in node_features(work)])
    shape = (len(grid.rows[0][1]), len(work.edges))
    out = np.empty(shape), np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.bool_)
    structure = (work.node_ptr, work.indptr, work.indices, work.weights, work.edge_ptr, work.edges, work.n_columns)
    done = 0.0
    for k1, k2_values in grid.rows:
        library.yardstick_row(
            ctypes.c_int64(len(work.n_columns)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (*structure, work.tie_rank)),
            ctypes.c_int64(int(k1 - done)),
            ctypes.c_int64(len(k2_values)),
            ctypes.c_double(filtration.TIE_TOL),
            *(ctypes.c_void_p(array.ctypes.data) for array in (Z, *out)),
        )
        done = k1
        yield out


def agreement(library: Any, work: filtration.Prepared, grid: Grid) -> dict[str, float]:
    """How far the two sides' arrays are apart; the flags by height and rank, as rounding may swap edges of one rank."""
    difference, swapped, wrong = 0.0, 0, 0
    graph = np.repeat(np.arange(len(work.n_columns)), np.diff(work.edge_ptr))
    for ours, (height, _, closes) in zip(numba_cpu.rows(work, grid), yardstick_rows(library, work, grid), strict=True):
        difference = max(difference, float(np.abs(ours.heights - height).max(initial=0.0)))
        swapped += int((ours.closes_cycle != closes).sum())
        for step in range(len(ours.k2)):
            heights = np.round(ours.heights[step], 7)
            sides = []
            for flags in (ours.closes_cycle[step], closes[step]):
                chosen = np.lexsort((work.tie_rank[flags], heights[flags], graph[flags]))
                sides.append(np.column_stack([graph[flags], heights[flags], work.tie_rank[flags]])[chosen])
            wrong += len(sides[0]) if len(sides[0]) != len(sides[1]) else int((sides[0] != sides[1]).any(axis=1).sum())
    return {"largest_height_difference": difference, "flags_swapped_within_ties": swapped, "flags_wrong": wrong}


# -- the others --------------------------------------------------------------------------------------------------------


def spanning_trees(batch: GraphBatch, chosen: np.ndarray, grid: Grid) -> None:
    """For each graph and (k1, k2) the heights, and which edges SciPy's minimum spanning forest takes."""
    for g in chosen:
        work = filtration.prepare(batch[int(g)])
        M = transition_matrix(work.indptr, work.indices, work.weights)
        Mt, Z = M.T.tocsr(), node_features(work)[0]
        u, v = work.edges.T
        n, done = len(Z), 0.0
        for k1, k2_values in grid.rows:
            for _ in range(int(k1 - done)):
                Z = M @ Z
            Y, done = Z, k1
            for k2 in k2_values:
                Y = Mt @ Y if k2 else Y
                height = np.abs(Y[u] - Y[v]).sum(axis=1)
                # 0 would be no edge to SciPy
                tree = minimum_spanning_tree(csr_array((height + 1.0, (u, v)), shape=(n, n))).tocoo()
                closes = np.ones(len(height), dtype=bool)
                closes[np.searchsorted(u * n + v, tree.row * n + tree.col)] = False


def sorted_one_by_one(rows: list[np.ndarray], work: filtration.Prepared) -> None:
    """np.sort, a call an embedding."""
    spans = list(itertools.pairwise(work.edge_ptr.tolist()))
    for heights in rows:
        for step in heights:
            for first, last in spans:
                np.sort(step[first:last])


def sorted_by_graph(rows: list[np.ndarray], work: filtration.Prepared) -> None:
    """np.sort, a call for all k2 of a graph."""
    spans = list(itertools.pairwise(work.edge_ptr.tolist()))
    for heights in rows:
        for first, last in spans:
            np.sort(heights[:, first:last], axis=1)


def naive_events(batch: GraphBatch, chosen: np.ndarray, cells: list[tuple[int, int]]) -> Callable[[], None] | None:
    """The naive twin on a few graphs and cells, or None where the tests are not at hand."""
    sys.path.insert(0, str(ROOT))
    try:
        naive, helpers = importlib.import_module("tests.naive"), importlib.import_module("tests.helpers")
    except ImportError as error:
        print(f"naive twin left out: {error}")
        return None
    graphs = helpers.to_graphs(batch[chosen])
    features = [naive.node_matrix(graph, "labels", graphs) for graph in graphs]

    def run() -> None:
        for graph, X in zip(graphs, features, strict=True):
            for k1, k2 in cells:
                naive.events(graph, X, k1, k2)

    return run


# -- one data set ------------------------------------------------------------------------------------------------------


def measure(batch: GraphBatch, options: argparse.Namespace, library: Any) -> dict[str, Any]:
    """Microseconds an embedding of every side, and the ratios to ours on one thread."""
    rng = np.random.default_rng(SEED)
    if options.profile == "fast" and batch.n_graphs > 1000:
        batch = batch[:: batch.n_graphs // 1000]
    grid, work = Grid.product(K, K), filtration.prepare(batch)
    cuts = shard_bounds(batch, 2, int(np.median(work.n_columns)))
    halves = [filtration.prepare(batch[start:stop]) for start, stop in itertools.pairwise(cuts.tolist())]
    few = rng.choice(batch.n_graphs, min(batch.n_graphs, 20), replace=False)
    few_k1 = K[:: 15 if options.profile == "full" else 29]
    sample = Grid.product(few_k1, K)
    kept = [row.heights for row in numba_cpu.rows(work, sample)]
    cells = [(0, 0), (1, 5), (10, 20)]

    embeddings = batch.n_graphs * len(K) * len(K)
    sampled = batch.n_graphs * len(few_k1) * len(K)
    sides: dict[str, tuple[Callable[[], object], int]] = {
        OURS: (lambda: consume(numba_cpu.rows(work, grid)), embeddings),
        "numba, 2 threads": (lambda: two_threads(halves, grid), embeddings),
    }
    if library is not None:
        sides["C++ yardstick"] = (lambda: consume(yardstick_rows(library, work, grid)), embeddings)
    sides["SciPy minimum_spanning_tree"] = (
        lambda: spanning_trees(batch, few[:10], sample),
        len(few[:10]) * len(few_k1) * len(K),
    )
    sides["np.sort, a call an embedding"] = (lambda: sorted_one_by_one(kept, work), sampled)
    sides["np.sort, a call a graph and row"] = (lambda: sorted_by_graph(kept, work), sampled)
    small = few[np.diff(batch.edge_ptr)[few] <= 60][:3]
    naive = naive_events(batch, small, cells)
    if naive is not None and len(small):
        sides["naive twin"] = (naive, len(small) * len(cells))

    two_threads(halves, Grid.product([0], [0]))  # compiled before anything is timed
    seconds = take_turns({side: task for side, (task, _) in sides.items()}, options.repeats)
    wall = {side: 1e6 * seconds[side][:, 0] / count for side, (_, count) in sides.items()}
    processor = {side: 1e6 * seconds[side][:, 1] / count for side, (_, count) in sides.items()}
    ratios = {side: wall if "threads" in side else processor for side in sides}
    result: dict[str, Any] = {
        "graphs": batch.n_graphs,
        "edges": batch.n_edges,
        "wall_microseconds_an_embedding": {side: round(float(np.median(times)), 3) for side, times in wall.items()},
        "processor_microseconds_an_embedding": {
            side: round(float(np.median(times)), 3) for side, times in processor.items()
        },
        "times_ours": {side: round(float(np.median(of[side] / of[OURS])), 3) for side, of in ratios.items()},
    }
    if library is not None:
        result["agreement"] = agreement(library, work, Grid.product(K[::10], K))
    return result


def show(name: str, result: dict[str, Any]) -> None:
    """A table for people."""
    print(f"\n{name}: {result['graphs']} graphs, {result['edges']} edges; microseconds an embedding")
    print(f"  {'':32}{'wall':>12}{'processor':>12}{'times ours':>12}")
    for side, ratio in result["times_ours"].items():
        wall, processor = (result[f"{clock}_microseconds_an_embedding"][side] for clock in ("wall", "processor"))
        print(f"  {side:32}{wall:12.3f}{processor:12.3f}{ratio:12.2f}")
    if "agreement" in result:
        print(f"  against the yardstick: {result['agreement']}")


# -- first call and memory ---------------------------------------------------------------------------------------------

FIRST_CALL = """
import pwlr
graphs = pwlr.load_dataset("MUTAG")
pwlr.PWLRTransformer(backend="numba").fit_transform(graphs)
"""

MEMORY = """
import resource, sys
from pathlib import Path
import pwlr
from pwlr import engine
from pwlr.backends import numba_cpu

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024

imported = status("VmRSS")
graphs = pwlr.load_dataset("NCI1", download=False)
loaded, read_peak = status("VmRSS"), status("VmHWM")
Path("/proc/self/clear_refs").write_text("5")  # the peak counts anew
for row in engine.embed_grid(graphs, n_jobs=int(sys.argv[1])):
    pass
print(imported, loaded, read_peak, status("VmHWM"))
"""


def first_call() -> dict[str, float]:
    """Seconds of a whole process that embeds MUTAG: with nothing compiled, and once more."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", FIRST_CALL], env=environment, check=True)
            seconds.append(time.perf_counter() - start)
    cold, warm = seconds
    print(f"\nfirst call, whole process: {cold:.1f} s with an empty compile cache, {warm:.2f} s after")
    return {"cold_seconds": round(cold, 2), "warm_seconds": round(warm, 2)}


def memory() -> dict[str, Any] | None:
    """Peak MB of the NCI1 grid above what the imports take."""
    if not Path("/proc/self/clear_refs").exists():
        print("peak memory left out: this system does not tell it")
        return None
    result = {}
    for n_jobs in (1, 2):
        run = subprocess.run([sys.executable, "-c", MEMORY, str(n_jobs)], check=True, capture_output=True, text=True)
        imported, loaded, read_peak, peak = map(float, run.stdout.split())
        result[f"{n_jobs} thread{'s'[: n_jobs - 1]}"] = {
            "grid_above_import_mb": round(peak - imported),
            "data_above_import_mb": round(loaded - imported),
            "reading_above_import_mb": round(read_peak - imported),
        }
    print(f"peak memory of the NCI1 grid: {result}")
    return result


# -- the command -------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure, print tables, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=["fast", "full"], default="full", help="fast: about half a minute")
    parser.add_argument("--datasets", nargs="*", default=["MUTAG", "NCI1"])
    parser.add_argument("--data-dir", default=None, help="folder of the TU data sets; default: $PWLR_DATA_DIR")
    parser.add_argument("--repeats", type=int, default=None, help="rounds; default 3 (fast) or 7 (full)")
    options = parser.parse_args()
    options.repeats = options.repeats or {"fast": 3, "full": 7}[options.profile]
    if options.data_dir:
        os.environ["PWLR_DATA_DIR"] = options.data_dir

    library = compiled()
    if library is None:
        print("no C++ compiler: the yardstick is left out")
    result: dict[str, Any] = {"profile": options.profile, "repeats": options.repeats, "datasets": {}}
    present = []
    for name in options.datasets:
        try:
            batch = pwlr.load_dataset(name, download=False)
        except (PwlrError, OSError) as error:
            print(f"{name} left out: {error}")
            continue
        present.append(name)
        result["datasets"][name] = measure(batch, options, library)
        show(name, result["datasets"][name])
    result["first_call"] = first_call()
    if "NCI1" in present and options.profile == "full":
        result["memory"] = memory()
    report("grid", result)


if __name__ == "__main__":
    main()
