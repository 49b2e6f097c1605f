"""What the benchmarks share: taking turns, the machine, results as JSON in ``benchmarks/results``."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def take_turns(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, NDArray[np.float64]]:
    """Wall and processor seconds of every task, shape (repeats, 2); all tasks run once a round.

    So a slow minute of the machine strikes all alike; and processor time leaves out waiting for other programs.
    """
    seconds = {name: np.empty((repeats, 2)) for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter(), time.process_time()
            task()
            seconds[name][turn] = time.perf_counter() - start[0], time.process_time() - start[1]
    return seconds


def machine() -> dict[str, Any]:
    """Processor, cores, load and system."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    load = os.getloadavg() if hasattr(os, "getloadavg") else ()
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load": [round(x, 2) for x in load],
        "system": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("pwlr", "numpy", "scipy", "numba", "llvmlite", "scikit-learn"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of the checkout, with a plus where files have changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain") else "")


def report(benchmark: str, result: dict[str, Any]) -> Path:
    """Write the result with its surroundings, and say where."""
    moment = datetime.now(UTC)
    whole = {
        "benchmark": benchmark,
        "date": moment.isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        **result,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{benchmark}-{moment:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(whole, indent=2) + "\n")
    print(f"written to {path.relative_to(ROOT)}")
    return path
