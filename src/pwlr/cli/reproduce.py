"""`pwlr reproduce`: the paper's tables, printed beside measured, by its protocol and by an honest one."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common
from pwlr.errors import OptionError

if TYPE_CHECKING:
    from pwlr.experiments.evaluate import Plan, Study
    from pwlr.experiments.spec import Spec
    from pwlr.experiments.store import Store
    from pwlr.experiments.tables import ResultRow
    from pwlr.viz.page import Page, Section

TABLES = ("results", "ablation", "dimensions", "example", "timing")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce", epilog="Example:  pwlr reproduce --quick")(reproduce)


def reproduce(
    table: str = typer.Option("results", help="results, ablation (of ours), dimensions, example or timing."),
    datasets: str | None = typer.Option(None, help="Columns of the paper, separated by commas. Default: all."),
    recipe: str = typer.Option("as-published", help=common.RECIPE_HELP),
    protocol: str = typer.Option("both", help="paper, nested or both."),
    variants: str | None = typer.Option(None, help="Variants, separated by commas. Default: all and the baselines."),
    grid: str = typer.Option(
        "printed", help="printed: the paper's own k (nested: small); small: 5 x 5; full: 30 x 30."
    ),
    repetitions: int = typer.Option(10, min=1, help="Cross-validations with other splits."),
    folds: int = typer.Option(10, help="Parts of each cross-validation."),
    seed: int = typer.Option(0, min=0, help="Decides splits and forests."),
    twins: str = typer.Option("keep", help="Isomorphic copies: keep, group (on one side of a split) or drop."),
    quick: bool = typer.Option(False, "--quick", help="A few minutes: MUTAG, PTC_FR, BZR_MD, 3 repetitions."),
    store: Path = typer.Option(Path("pwlr-results.sqlite"), help="File of the results; a killed run goes on from it."),
    output: Path = typer.Option(Path("pwlr-reproduction"), "-o", "--output", help="Folder of the page."),
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    forest: str = typer.Option("auto", help="auto: the exact fast twin; sklearn: scikit-learn itself."),
    jobs: int = typer.Option(-1, help=common.JOBS_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """Reproduce the paper's tables, resumable, and save a page."""
    if table not in TABLES:
        raise OptionError(f"--table {table} is not known: choose one of {', '.join(TABLES)}")
    if table in ("results", "ablation"):
        from pwlr.engine import check_jobs
        from pwlr.experiments.protocol import check_seed

        check_jobs(jobs)
        check_seed(seed, repetitions)
        if forest not in ("auto", "sklearn"):
            raise OptionError(f"--forest {forest} is not known: choose auto or sklearn")
        if table == "ablation":
            from pwlr.experiments.ablation import ABLATIONS

            variants, protocol = variants or ",".join(ABLATIONS), "nested"
        columns = _columns(datasets, quick)
        _check_recipe(columns, recipe)
        specs = _specs(protocol, folds, seed, twins)
        settings = {"recipe": recipe, "grid": grid, "repetitions": 3 if quick else repetitions}
        plans = _plans(columns, specs, settings, variants)
        common.made_folder(output)  # a mistake in its name should not come to light after hours
        page, record = _results(plans, specs, settings, store, data_dir, forest, jobs)
    else:
        page, record = _other_table(table, datasets, recipe, data_dir)
    _finish(page, record, table, output, json_output)


def _columns(datasets: str | None, quick: bool) -> list[str]:
    from pwlr.experiments import published
    from pwlr.experiments.tables import QUICK

    if datasets is not None:
        return list(dict.fromkeys(datasets.split(",")))
    return list(QUICK) if quick else [column.name for column in published.columns()]


def _check_recipe(columns: list[str], recipe: str) -> None:
    from pwlr.datasets import dataset_info
    from pwlr.experiments.published import find_column

    for column in columns:
        known = dataset_info(find_column(column).dataset).recipes
        if recipe not in known:
            raise OptionError(f"--recipe {recipe} is not known: choose one of {', '.join(known)}")


def _specs(protocol: str, folds: int, seed: int, twins: str) -> dict[str, Spec]:
    from pwlr.experiments.spec import Spec

    chosen = ("paper", "nested") if protocol == "both" else (protocol,)
    return {name: Spec(name, folds=folds, seed=seed, twins=twins) for name in chosen}  # type: ignore[arg-type]


def _plans(
    columns: list[str], specs: dict[str, Spec], settings: dict[str, Any], variants: str | None
) -> dict[tuple[str, str], Plan]:
    """Say what to evaluate, for each column by each protocol."""
    from pwlr.experiments.tables import METHODS, plan_of

    methods = METHODS if variants is None else dict.fromkeys(variants.split(","))
    return {
        (column, name): plan_of(column, spec, settings["grid"], settings["repetitions"], methods)
        for column in columns
        for name, spec in specs.items()
    }


def _results(
    plans: dict[tuple[str, str], Plan],
    specs: dict[str, Spec],
    settings: dict[str, Any],
    path: Path,
    data_dir: str | None,
    forest: str,
    jobs: int,
) -> tuple[Page, Any]:
    from pwlr.experiments.published import find_column
    from pwlr.experiments.store import Store
    from pwlr.experiments.tables import result_rows, study_of

    columns = list(dict.fromkeys(column for column, _ in plans))
    store = Store(path)
    for column in columns:
        study = study_of(find_column(column), settings["recipe"], next(iter(specs.values())), data_dir)
        for name, spec in specs.items():
            _run(study, spec, plans[column, name], store, forest, jobs)
    methods = list(dict.fromkeys(method for plan in plans.values() for method in (*plan.pairs, *plan.extras)))
    rows = result_rows(columns, settings["recipe"], specs, store, settings["grid"], settings["repetitions"], methods)
    return _results_page(rows, specs, settings), [_row_record(row) for row in rows]


def _row_record(row: ResultRow) -> dict[str, Any]:
    """Return a row for JSON."""
    from dataclasses import asdict

    return {**asdict(row), "difference": row.difference}


def _run(study: Study, spec: Spec, plan: Plan, store: Store, forest: str, jobs: int) -> None:
    """Evaluate what is missing, with an estimate before and a bar during it."""
    from pwlr.experiments import evaluate

    left = evaluate.left_to_do(study, spec, plan, store)
    if not left:
        return
    versions = {**common.versions(), **common.commit()}
    seconds = evaluate.estimate(study, spec, plan, store, n_jobs=jobs, engine=forest)  # type: ignore[arg-type]
    typer.echo(f"{study.dataset}, {spec.protocol}: {left:,} units left, about {_duration(seconds)}", err=True)
    with common.progress_bar(f"{study.dataset} {spec.protocol}", left) as advance:
        evaluate.run(
            study,
            spec,
            plan,
            store,
            versions=versions,
            n_jobs=jobs,
            engine=forest,  # type: ignore[arg-type]
            after_cell=lambda units, _: advance(units),
        )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _results_page(rows: list[ResultRow], specs: dict[str, Spec], settings: dict[str, Any]) -> Page:
    from pwlr.experiments.published import doubt_records
    from pwlr.viz.page import Page, Section

    sections = []
    for column in dict.fromkeys(row.column for row in rows):
        mine = [row for row in rows if row.column == column]
        notes = {doubt.mark: doubt.says for row in mine for doubt in doubt_records(column, row.method)}
        sections.append(
            Section(
                column,
                ("method", "printed", "k", "paper", "diff.", "nested", "95 %", "marks"),
                [_cells(row) for row in mine],
                after=[f"{mark}: {says}" for mark, says in notes.items()],
            )
        )
    shared = next(iter(specs.values()))
    protocols = ", ".join(f"{name} ({spec.run_id})" for name, spec in specs.items())
    intro = [
        "Command: " + " ".join(["pwlr", *sys.argv[1:]]),
        (
            f"Recipe {settings['recipe']}; {shared.folds} folds, {settings['repetitions']} repetitions, seed "
            f"{shared.seed}; isomorphic copies: {shared.twins}. Protocols: {protocols}."
        ),
        *_HOW_TO_READ,
    ]
    return Page("The paper's results, printed and measured", intro, sections)


_HOW_TO_READ = (
    (
        "Accuracies in per cent, mean and standard deviation over repetitions, as the paper takes them. Column paper: "
        "ours by the paper's protocol, at the (k1, k2) of column k, which is given, or, where marked, selected on the "
        "test folds. Column nested: ours, with everything chosen on the training part of each fold."
    ),
    (
        "Column diff.: paper minus printed, in printed standard deviations. Column 95 %: of nested (else of paper), "
        "the corrected resampled interval, which admits that training parts overlap. What was not run is empty."
    ),
)


def _cells(row: ResultRow) -> list[str]:
    def figure(value: Any) -> str:
        if value is None:
            return ""
        spread = "" if value.std != value.std else f" ± {100 * value.std:.2f}"
        return f"{100 * value.mean:.2f}{spread}" + (" (selected on the test folds)" if value.selected_on_test else "")

    printed = "" if row.printed is None else f"{row.printed.mean:.2f} ± {row.printed.std:.2f}"
    k = "" if row.paper is None or not row.paper.k[0] else ",".join(row.paper.k)
    difference = "" if row.difference is None else f"{row.difference:+.1f}"
    shown = row.nested or row.paper
    interval = "" if shown is None or shown.low != shown.low else f"{100 * shown.low:.1f} to {100 * shown.high:.1f}"
    return [row.method, printed, k, figure(row.paper), difference, figure(row.nested), interval, " ".join(row.marks)]


def _other_table(table: str, datasets: str | None, recipe: str, data_dir: str | None) -> tuple[Page, Any]:
    """Compute one of the small tables."""
    from dataclasses import asdict

    from pwlr.viz.page import Page

    makers = {"dimensions": _dimensions, "example": _example, "timing": _timing}
    names = None if datasets is None else datasets.split(",")
    sections, records = makers[table](names, recipe, data_dir)
    intro = ["Command: " + " ".join(["pwlr", *sys.argv[1:]])]
    return Page(f"The paper's {table}, printed and computed", intro, sections), [asdict(record) for record in records]


def _dimensions(names: list[str] | None, recipe: str, data_dir: str | None) -> tuple[list[Section], list[Any]]:
    from pwlr.experiments.dimensions import dimension_table
    from pwlr.viz.page import Section

    records = dimension_table(names, recipe, data_dir=data_dir)
    sections = []
    for name in dict.fromkeys(record.dataset for record in records):
        mine = [record for record in records if record.dataset == name]
        rows = [[r.words, _number(r.printed, r.at_least), _number(r.computed), r.explanation or ""] for r in mine]
        sections.append(Section(name, ("quantity", "printed", "computed", "where they differ"), rows))
    return sections, records


def _example(_names: list[str] | None, _recipe: str, _data_dir: str | None) -> tuple[list[Section], list[Any]]:
    from pwlr.experiments.example import example_table
    from pwlr.viz.page import Section

    records = example_table()
    rows = [
        [
            str(r.k2),
            r.variant,
            str(r.coordinate),
            r.printed,
            *(f"{value:.6f}" for value in r.computed.values()),
            r.note or "",
        ]
        for r in records
    ]
    headings = ("k2", "variant", "coordinate", "printed", *records[0].computed, "note")
    return [Section("Worked example, k1 = 0", headings, rows)], records


def _timing(names: list[str] | None, recipe: str, data_dir: str | None) -> tuple[list[Section], list[Any]]:
    from pwlr.experiments.timing import timing_table
    from pwlr.viz.page import Section

    records, sections = [], []
    for name in names or ["MUTAG"]:
        found = timing_table(common.read_input(name, recipe, data_dir), plain_grid=name == "MUTAG")
        rows = [[r.work, f"{r.ours_ms:.4f}", _number(r.plain_ms), _number(r.ratio)] for r in found]
        headings = ("what", "numba, ms a graph and k", "plain, ms", "plain / numba")
        sections.append(Section(f"{name}: one thread, median of repeats", headings, rows))
        records += found
    return sections, records


def _number(value: float | None, at_least: bool = False) -> str:
    if value is None:
        return ""
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return f">= {text}" if at_least else text


def _for_json(value: Any) -> Any:
    """Replace what JSON has no word for: infinity, and the NaN of a figure that one repetition leaves open."""
    if isinstance(value, dict):
        return {key: _for_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _finish(page: Page, record: Any, table: str, output: Path, json_output: bool) -> None:
    """Save the page as Markdown, HTML and JSON, and print it."""
    from pwlr.viz.page import to_html, to_markdown

    folder, record = common.made_folder(output), _for_json(record)
    texts = {".md": to_markdown(page), ".html": to_html(page), ".json": common.as_json(record)}
    for suffix, text in texts.items():
        with common.written_whole(folder / f"{table}{suffix}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    if json_output:
        common.print_json(record)
        return
    for section in page.sections:
        _print(section)
    typer.echo(f"page: {folder / f'{table}.html'}, {table}.md, {table}.json")


def _print(section: Section) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    shown = Table(title=section.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(section.headings):
        side = "left" if number in (0, len(section.headings) - 1) else "right"
        shown.add_column(heading, justify=side, no_wrap=side == "right")  # type: ignore[arg-type]
    for row in section.rows:
        shown.add_row(*row)
    console.print(shown)
