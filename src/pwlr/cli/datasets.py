"""`pwlr datasets`: the catalogue, and what of it is on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from pwlr.cli import common
from pwlr.errors import OptionError

if TYPE_CHECKING:
    from pwlr.datasets import DatasetInfo, FoundDataset
    from pwlr.experiments.twins import Twins
    from pwlr.graphs import GraphBatch


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("datasets", epilog="Example:  pwlr datasets PROTEINS")(datasets)


def datasets(
    name: str | None = typer.Argument(
        None, help="Tell about one data set; without it, list all. With --twins also a folder or zip in the TU format."
    ),
    twins: bool = typer.Option(False, "--twins", help="Find the isomorphic copies in the data set."),
    data_dir: str | None = typer.Option(None, help=common.DATA_DIR_HELP),
    json_output: bool = typer.Option(False, "--json", help=common.JSON_HELP),
) -> None:
    """List the data sets of the paper: their sizes, recipes, and where they were found."""
    if twins:
        _tell_of_twins(name, data_dir, json_output)
        return
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


def _tell_of_twins(name: str | None, data_dir: str | None, json_output: bool) -> None:
    """Find the isomorphic copies in one set and say what follows from them."""
    if name is None:
        raise OptionError("--twins needs a data set to look into: pwlr datasets --twins MUTAG")
    from pwlr.experiments.twins import find_twins

    graphs = common.read_input(name, data_dir=data_dir)
    found = find_twins(graphs)
    if json_output:
        common.print_json(_twins_record(graphs.name, found))
    else:
        typer.echo("\n".join(_twins_in_words(graphs, found)))


def _twins_record(name: str, found: Twins) -> dict[str, Any]:
    return {
        "name": name,
        "graphs": found.n_graphs,
        "copied": found.n_copied,
        "groups": found.n_groups,
        "largest": found.largest,
        "contradicting": found.n_contradicting,
        "ceiling": found.ceiling,
        "members": found.members,
    }


def _twins_in_words(graphs: GraphBatch, found: Twins) -> list[str]:
    lines = [f"{graphs.name}: {found.n_graphs:,} graphs; copies are graphs with the same {_shared(graphs)}."]
    if graphs.node_attributes is not None or graphs.edge_attributes is not None:
        lines.append("Attributes are left aside: coordinates and measurements differ between copies.")
    if found.n_groups == 0:
        return [*lines, "No graph has a copy."]
    groups = "1 group" if found.n_groups == 1 else f"{found.n_groups:,} groups"
    lines.append(f"{found.n_copied:,} graphs have a copy, in {groups}; the largest has {found.largest:,} graphs.")
    return [*lines, _contradictions_in_words(found)]


def _shared(graphs: GraphBatch) -> str:
    """Say what copies share, as far as these graphs have it."""
    weighted = graphs.n_edges > 0 and graphs.edge_weights.min() < graphs.edge_weights.max()
    there = {
        "edges": True,
        "node labels": graphs.node_labels is not None,
        "edge labels": graphs.edge_labels is not None,
        "edge weights": weighted,
    }
    return ", ".join(what for what, is_there in there.items() if is_there)


def _contradictions_in_words(found: Twins) -> str:
    if found.n_contradicting is None or found.ceiling is None:
        return "The graphs have no classes, so no copies contradict each other."
    if found.n_contradicting == 0:
        return "All copies agree in their class: they keep no method from 100 % accuracy."
    groups = "1 group holds" if found.n_contradicting == 1 else f"{found.n_contradicting:,} groups hold"
    limit = f"no method can exceed {100 * found.ceiling:.2f} % accuracy"
    return f"{groups} copies of different classes: looking at nothing but these, {limit}."


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
