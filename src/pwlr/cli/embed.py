"""`pwlr embed`: graphs to a table of named numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common
from pwlr.errors import OptionError

if TYPE_CHECKING:
    from pwlr.graphs import GraphBatch


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("embed", epilog="Example:  pwlr embed MUTAG -o mutag.csv --representation sorted --k 1,12")(embed)


def embed(
    source: str = typer.Argument(..., metavar="INPUT", help=common.INPUT_HELP),
    output: Path = typer.Option(..., "-o", "--output", help="File to write: .npz, .csv or .parquet."),
    k: str = typer.Option("multiscale", help=common.K_HELP),
    representation: str = typer.Option("typed", help="typed, sorted or degree-pairs."),
    homology: str = typer.Option("h0+h1", help="h0+h1, h0 or h1."),
    stats: str = typer.Option("auto", help="Of degree-pairs: sum or moments."),
    node_features: str = typer.Option("auto", help="auto, labels, attributes, both, degree or constant."),
    edge_weights: str = typer.Option("given", help="given, unit, attribute, reciprocal, label or max-degree."),
    p: float = typer.Option(1.0, "--p", help="Exponent of the height norm, at least 1; inf is legal."),
    tau: float = typer.Option(1.0, help="Added to every listed height."),
    recipe: str = typer.Option("plain", help=common.RECIPE_HELP),
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    repair: list[str] | None = typer.Option(None, help=common.REPAIR_HELP),
    backend: str = typer.Option("auto", help="auto, numpy or numba."),
    jobs: int = typer.Option(1, help=common.JOBS_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """Embed graphs: one row a graph, every column named."""
    write = _writer(output)
    # the engine rather than the estimator: scikit-learn alone would take longer to import than this takes to run
    from pwlr import engine
    from pwlr.method.vectors import FeatureLayout, LayoutOptions, parse_k

    options = LayoutOptions(
        parse_k(common.read_k(k)),
        representation,  # type: ignore[arg-type]  # checked by LayoutOptions
        homology,  # type: ignore[arg-type]
        stats,  # type: ignore[arg-type]
        tau=tau,
    )
    engine.check_jobs(jobs)
    how = engine.Filtering(node_features, edge_weights, p, backend=backend)  # type: ignore[arg-type]
    graphs = common.read_input(source, recipe, data_dir, repair)
    if len(graphs) == 0:
        raise OptionError(f"{source} holds no graphs: there is nothing to embed")
    layout = FeatureLayout.fit(graphs, options)
    X = engine.embed(graphs, layout, how, n_jobs=jobs)
    with common.written_whole(output) as temporary:
        write(temporary, graphs, layout.names, X)
    if json_output:
        common.print_json({"input": source, "output": str(output), "graphs": len(graphs), "columns": layout.n_columns})
    else:
        typer.echo(f"{output}: {len(graphs)} graphs, {layout.n_columns} columns")


def _writer(output: Path) -> Any:
    writers = {".npz": _write_npz, ".csv": _write_csv, ".parquet": _write_parquet}
    if output.suffix.lower() not in writers:
        raise OptionError(f"cannot tell the format of {output}: end its name in {', '.join(writers)}")
    return writers[output.suffix.lower()]


def _ids(graphs: GraphBatch) -> Any:
    import numpy as np

    return np.arange(len(graphs)) if graphs.ids is None else graphs.ids


def _write_npz(path: Path, graphs: GraphBatch, names: list[str], X: Any) -> None:
    import numpy as np

    carried: dict[str, Any] = {} if graphs.y is None else {"y": graphs.y}
    with path.open("wb") as file:
        np.savez_compressed(file, X=X, feature_names=np.array(names), graph=_ids(graphs), **carried)


def _write_csv(path: Path, graphs: GraphBatch, names: list[str], X: Any) -> None:
    import csv

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["graph", *([] if graphs.y is None else ["y"]), *names])
        heads = [_ids(graphs).tolist(), *([] if graphs.y is None else [graphs.y.tolist()])]
        for row, *head in zip(X.tolist(), *heads, strict=True):
            writer.writerow([*head, *row])


def _write_parquet(path: Path, graphs: GraphBatch, names: list[str], X: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"graph": _ids(graphs), **({} if graphs.y is None else {"y": graphs.y})}
    columns |= {name: X[:, number] for number, name in enumerate(names)}
    pq.write_table(pa.table(columns), path)
