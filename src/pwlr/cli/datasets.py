"""`pwlr datasets`: the catalogue, and what of it is on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common

if TYPE_CHECKING:
    from pwlr.datasets import DatasetInfo, FoundDataset


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("datasets", epilog="Example:  pwlr datasets PROTEINS")(datasets)


def datasets(
    name: str | None = typer.Argument(None, help="Tell about one data set; without it, list all."),
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """List the data sets of the paper: their sizes, recipes, and where they were found."""
    from pwlr import datasets as catalogue

    places = found_by_name(catalogue.find_datasets(data_dir))
    if name is not None and name not in catalogue.available_datasets() and name in places:
        _tell_of_another(name, data_dir, json_output)
        return
    names = catalogue.available_datasets() if name is None else [name]
    entries = [catalogue.dataset_info(each) for each in names]
    others = sorted(set(places) - set(catalogue.available_datasets())) if name is None else []
    if json_output:
        records = [{**_record(entry), "found_in": places.get(entry.name)} for entry in entries]
        common.print_json([*records, *({"name": other, "found_in": places[other]} for other in others)])
    elif name is None:
        _print_all(entries, others, places)
    else:
        _print_one(entries[0], places)


def found_by_name(found: list[FoundDataset]) -> dict[str, str]:
    """Say for every data set on this machine where the one that loads is."""
    places: dict[str, str] = {}
    for dataset in found:
        places.setdefault(dataset.name, "built in" if dataset.path is None else str(dataset.path))
    return places


def _tell_of_another(name: str, data_dir: str | None, json_output: bool) -> None:
    """Tell about a set that the catalogue does not know, by reading it."""
    from pwlr.datasets import content_of

    graphs = common.read_input(name, data_dir=data_dir)
    if json_output:
        common.print_json({"name": name, "content": content_of(graphs)})
    else:
        typer.echo(repr(graphs))


def _record(entry: DatasetInfo) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(entry)


def _print_all(entries: list[DatasetInfo], others: list[str], places: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "graphs", "nodes", "edges", "labels", "attributes", "classes"):
        table.add_column(heading, justify="left" if heading == "name" else "right", no_wrap=True)
    table.add_column("found", overflow="fold")
    for entry in entries:
        content = entry.content
        counts = (content["graphs"], content["nodes"], content["edges"])
        kinds = (content["node_labels"], content["node_attributes"], content["classes"])
        place = places.get(entry.name, "online")
        table.add_row(entry.name, *(f"{count:,}" for count in counts), *(str(kind or "-") for kind in kinds), place)
    for other in others:
        table.add_row(other, *["?"] * 6, places[other])
    Console().print(table)


def _print_one(entry: DatasetInfo, places: dict[str, str]) -> None:
    content = entry.content
    typer.echo(f"{entry.name}: {entry.description}")
    typer.echo(
        f"{content['graphs']:,} graphs, {content['nodes']:,} nodes, {content['edges']:,} edges, "
        f"{content['classes']} classes"
    )
    for what, words in (("node", entry.node_label_names), ("edge", entry.edge_label_names)):
        if words:
            typer.echo(f"{what} labels: " + ", ".join(f"{label} {text}" for label, text in words.items()))
    typer.echo("recipes: " + ", ".join(f"{recipe} ({status})" for recipe, status in entry.recipes.items()))
    typer.echo(f"source: {entry.citation}")
    typer.echo(f"found: {places.get(entry.name, 'not on this machine; it is downloaded when first used')}")
