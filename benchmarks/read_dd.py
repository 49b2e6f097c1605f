"""Time reading DD against what cannot be avoided: unzipping and `np.loadtxt` of the same files.

Usage: ``python benchmarks/read_dd.py [FOLDER_WITH_DD.zip] [--repeats 7]``; the folder defaults to ``$PWLR_DATA_DIR``.
Prints JSON; the ratio is that of the fastest repeats, the two sides taking turns.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _common import report

from pwlr.io.tu import read_tu


def unzip_and_loadtxt(path: Path) -> None:
    """Read every table of the archive as numbers, checking and packing nothing."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith(".txt"):
                np.loadtxt(io.BytesIO(archive.read(member)), dtype=np.int64, delimiter=",")


def seconds(task: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main() -> None:
    """Run both sides in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=os.environ.get("PWLR_DATA_DIR"), help="folder that holds DD.zip")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    path = Path(options.folder or ".") / "DD.zip"
    if not path.is_file():
        print("not measured: give the folder that holds DD.zip, or set PWLR_DATA_DIR")
        return
    ours, yardstick = [], []
    for _ in range(options.repeats):
        yardstick.append(seconds(lambda: unzip_and_loadtxt(path)))
        ours.append(seconds(lambda: read_tu(path)))
    result = {
        "read_tu_seconds": round(min(ours), 4),
        "unzip_and_loadtxt_seconds": round(min(yardstick), 4),
        "ratio": round(min(ours) / min(yardstick), 3),
        "median_ratio": round(float(np.median(np.array(ours) / np.array(yardstick))), 3),
        "repeats": options.repeats,
    }
    print(json.dumps(result, indent=2))
    report("read_dd", result)


if __name__ == "__main__":
    main()
