"""`pwlr classify`: an honest score for a data set, with the paper's variants and two baselines beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common

if TYPE_CHECKING:
    from pwlr.experiments.protocol import FoldResult, Score
    from pwlr.graphs import GraphBatch


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("classify", epilog="Example:  pwlr classify MUTAG --repetitions 3")(classify)


def classify(
    source: str = typer.Argument("MUTAG", metavar="[INPUT]", help=common.INPUT_HELP),
    k: str = typer.Option("multiscale", help=common.K_HELP + " search: chosen inside each fold."),
    recipe: str = typer.Option("plain", help=common.RECIPE_HELP),
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    repair: list[str] | None = typer.Option(None, help=common.REPAIR_HELP),
    folds: int = typer.Option(10, help="Parts of the stratified cross-validation."),
    repetitions: int = typer.Option(1, min=1, max=10_000, help="Cross-validations with other splits."),
    seed: int = typer.Option(0, min=0, help="Decides the splits and the forests."),
    variants: bool = typer.Option(True, help="Run the paper's six variants as well."),
    output: Path | None = typer.Option(None, "-o", "--output", help="Folder of the report. Default: pwlr-report/NAME"),
    jobs: int = typer.Option(-1, help=common.JOBS_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """Classify graphs by cross-validation: nothing is chosen on the graphs it is scored on."""
    read_k = common.read_k(k, search=True)
    from pwlr.engine import check_jobs
    from pwlr.experiments import protocol

    check_jobs(jobs)
    graphs = common.read_input(source, recipe, data_dir, repair)
    protocol.check_seed(seed, repetitions)
    protocol.check_classes(graphs, folds)
    folder = common.made_folder(Path("pwlr-report") / (graphs.name or "graphs") if output is None else output)
    methods = protocol.methods_to_compare(read_k, variants=variants, random_state=seed, n_jobs=jobs)
    with common.progress_bar(f"classifying {graphs.name}", folds * repetitions * len(methods)) as advance:
        results = protocol.run_folds(
            graphs,
            methods,
            n_folds=folds,
            repetitions=repetitions,
            seed=seed,
            after_each=lambda _: advance(1),
        )
    scores = protocol.summarize(results)
    settings = {"k": k, "recipe": recipe, "folds": folds, "repetitions": repetitions, "seed": seed}
    record = _record(graphs, settings, scores, results)
    _save(folder, graphs, record, scores, methods[protocol.OURS])
    if json_output:
        common.print_json({**record, "report": str(folder)})
    else:
        _print(graphs, settings, scores, folder)


def _record(
    graphs: GraphBatch, settings: dict[str, Any], scores: list[Score], results: list[FoldResult]
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "command": " ".join(["pwlr", *sys.argv[1:]]),
        "data_set": {"name": graphs.name, "graphs": len(graphs), "nodes": graphs.n_nodes, "edges": graphs.n_edges},
        "settings": settings,
        "versions": common.versions(),
        "scores": [asdict(score) for score in scores],
        "folds": [asdict(result) for result in results],
    }


def _save(folder: Path, graphs: GraphBatch, record: dict[str, Any], scores: list[Score], classifier: Any) -> None:
    """Write results.json and the two pictures, each whole or not at all."""
    from pwlr.viz import plots

    fitted = classifier.fit(graphs, graphs.y)  # on all graphs: it explains, it is not scored
    pictures = {
        "accuracy.png": plots.accuracy_dots(
            scores, title=f"{graphs.name}: {record['settings']['folds']}-fold accuracy"
        ),
        "importance.png": plots.importance_bars(
            fitted.get_feature_names_out().tolist(),
            fitted.feature_importances_,
            title=f"{graphs.name}: what the forest looks at",
        ),
    }
    with common.written_whole(folder / "results.json") as temporary:
        temporary.write_text(common.as_json(record), encoding="utf-8")
    for name, picture in pictures.items():
        with common.written_whole(folder / name) as temporary:
            plots.save(picture, temporary)


def _print(graphs: GraphBatch, settings: dict[str, Any], scores: list[Score], folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from pwlr.experiments.protocol import BASELINES

    console = Console()
    console.print(repr(graphs), highlight=False, soft_wrap=True, markup=False)
    table = Table(min_width=60)
    for heading, side in (("", "left"), ("accuracy %", "right"), ("std of folds", "right"), ("columns", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for score in scores:
        columns = "" if score.n_columns is None else f"{score.n_columns:.0f}"
        style = "dim" if score.method in BASELINES else None
        table.add_row(score.method, f"{100 * score.mean:.1f}", f"{100 * score.std_of_folds:.1f}", columns, style=style)
    console.print(table)
    chosen = "chosen inside each training part" if settings["k"] == "search" else f"k = {settings['k']}, nothing chosen"
    times = "" if settings["repetitions"] == 1 else f", {settings['repetitions']} times"
    console.print(
        f"stratified {settings['folds']}-fold cross-validation{times}; {chosen}; recipe {settings['recipe']}",
        highlight=False,
    )
    console.print(f"report: {folder / 'results.json'}, accuracy.png, importance.png", highlight=False, soft_wrap=True)
