"""Write `src/pwlr/data/mutag.npz`, the built-in data set, from the copy that the PyPI wheel `grakel` carries.

Usage: ``python scripts/build_mutag.py [WHEEL_OR_FOLDER] [-o FILE]``. Without a path the installed `grakel` is used;
a downloaded wheel (``pip download grakel --no-deps``) or any folder or zip that holds MUTAG in the TU format does too.

The data: A. K. Debnath, R. L. Lopez de Compadre, G. Debnath, A. J. Shusterman and C. Hansch, Structure-activity
relationship of mutagenic aromatic and heteroaromatic nitro compounds, J. Med. Chem. 34 (1991) 786-797.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from pwlr.graphs import GraphBatch
from pwlr.io.tu import read_tu

OUTPUT = Path(__file__).parents[1] / "src" / "pwlr" / "data" / "mutag.npz"


def installed_copy() -> Path:
    """Folder of MUTAG inside the installed grakel, found without importing it."""
    spec = importlib.util.find_spec("grakel")
    if spec is None or spec.origin is None:
        raise SystemExit("grakel is not installed: pip install grakel, or give the path of its wheel")
    return Path(spec.origin).parent / "tests" / "data" / "MUTAG"


def write_compact(batch: GraphBatch, path: Path) -> None:
    """Write every graph's edges once, with node numbers of its own, in single bytes."""
    shift = batch.node_ptr[batch.edge_graph]
    columns: dict[str, Any] = {
        "nodes_of_graph": np.diff(batch.node_ptr),
        "edges_of_graph": np.diff(batch.edge_ptr),
        "sources": batch.edges[:, 0] - shift,
        "targets": batch.edges[:, 1] - shift,
        "node_labels": batch.node_labels,
        "edge_labels": batch.edge_labels,
        "y": batch.y,
    }
    small = {name: np.asarray(column).astype(np.int8) for name, column in columns.items()}
    for name, column in columns.items():
        if not np.array_equal(small[name], column):
            raise SystemExit(f"{name} does not fit single bytes: this is not MUTAG")
    np.savez_compressed(path, allow_pickle=False, **small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, help="grakel's wheel, or a folder or zip that holds MUTAG")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    batch = read_tu(options.source or installed_copy(), name="MUTAG")
    write_compact(batch, options.output)
    print(f"{options.output}: {batch}, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
