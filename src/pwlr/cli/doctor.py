"""`pwlr doctor`: what is installed, what runs, which data sets are at hand."""

from __future__ import annotations

from typing import Any

import typer

from pwlr.cli import common


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog="Example:  pwlr doctor --json")(doctor)


def doctor(
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """Check the installation: versions, threads, backends, data sets found."""
    report: dict[str, Any] = {
        "versions": common.versions(),
        "threads": _threads(),
        "backends": _backends(),
        "extras": _extras(),
        "data": _data(data_dir),
    }
    if json_output:
        common.print_json(report)
    else:
        _print(report)
    if not report["backends"]["numpy"]["works"]:
        raise typer.Exit(1)


def _threads() -> dict[str, int]:
    import os

    import joblib

    return {"cores": os.cpu_count() or 1, "usable": joblib.cpu_count()}


def _backends() -> dict[str, dict[str, Any]]:
    """Run every backend on ten molecules and compare it with the plain telling."""
    import time

    import numpy as np

    from pwlr.backends import BACKENDS
    from pwlr.datasets import load_dataset
    from pwlr.engine import embed_grid

    graphs = load_dataset("MUTAG")[:10]
    (plain,) = embed_grid(graphs, [1], [0, 1], backend="numpy")
    found: dict[str, dict[str, Any]] = {}
    for backend in BACKENDS[1:]:
        start = time.perf_counter()
        try:
            (row,) = embed_grid(graphs, [1], [0, 1], backend=backend)
            agrees, problem = bool(np.allclose(row.heights, plain.heights, rtol=0, atol=1e-12)), ""
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is what the doctor reports
            agrees, problem = False, f"{type(error).__name__}: {error}"
        found[backend] = {"works": agrees, "first_call_seconds": round(time.perf_counter() - start, 3)}
        if problem:
            found[backend]["problem"] = problem
    return found


def _extras() -> dict[str, bool]:
    from importlib.util import find_spec

    return {name: find_spec(name) is not None for name in ("networkx", "igraph", "pandas", "gudhi", "grakel")}


def _data(data_dir: str | None) -> dict[str, str]:
    from pwlr.cli.datasets import found_by_name
    from pwlr.datasets import find_datasets

    return found_by_name(find_datasets(data_dir))


def _print(report: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print("  ".join(f"{name} {version}" for name, version in report["versions"].items()))
    console.print("cores: {cores}, usable: {usable}".format(**report["threads"]))
    for name, backend in report["backends"].items():
        state = "works" if backend["works"] else f"FAILS {backend.get('problem', '(other heights than numpy)')}"
        console.print(f"backend {name}: {state} (first call {backend['first_call_seconds']:.2f} s)", markup=False)
    missing = [name for name, there in report["extras"].items() if not there]
    console.print(f"optional libraries missing: {', '.join(missing) or 'none'}")
    console.print(f"data sets found: {', '.join(report['data'])}")
