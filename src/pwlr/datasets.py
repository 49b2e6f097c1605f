"""Data sets by name: the catalogue, the recipes that turn files into graphs, where to look, and the one download.

The only module that uses the network, and only in `_download`. What is checked is the parsed content (counts and a
digest of sorted arrays), never the bytes of an archive: the mirrors pack the same files differently.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pwlr.errors import DatasetError, GraphFormatError, OptionError, PwlrWarning
from pwlr.graphs import GraphBatch, pack
from pwlr.io.tu import read_tu, set_names

__all__ = [
    "RECIPES",
    "DatasetInfo",
    "FoundDataset",
    "apply_recipe",
    "available_datasets",
    "content_digest",
    "content_of",
    "dataset_info",
    "find_datasets",
    "load_dataset",
]

Place = Literal["data_dir", "PWLR_DATA_DIR", "built-in", "cache"]

RECIPES = ("plain", "as-written", "as-published")
"""``plain``: bonds (or contacts) of weight 1. ``as-written``: what the paper's text describes. ``as-published``: what
its printed numbers were made from, oddities included."""

_SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
_BUILT_IN = "MUTAG"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_TIMEOUT_SECONDS = 30


# -- the catalogue -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DatasetInfo:
    """What the catalogue says about a data set.

    Attributes
    ----------
    name, description, citation : str
    content : mapping
        Counts and digest of the parsed files, as `content_of` gives them.
    recipes : mapping from recipe to its status
        ``defined`` (by this package), ``written`` (in the paper's text), or, of what the paper's numbers were made
        from, ``verified`` (against the authors' files), ``inferred`` or ``guessed``.
    node_label_names, edge_label_names : mapping from label to words, or None
        Where the README of the data set has them.
    """

    name: str
    description: str
    citation: str
    content: Mapping[str, Any]
    recipes: Mapping[str, str]
    node_label_names: Mapping[int, str] | None
    edge_label_names: Mapping[int, str] | None


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    text = resources.files("pwlr").joinpath("data", "catalogue.json").read_text(encoding="utf-8")
    datasets: dict[str, dict[str, Any]] = json.loads(text)["datasets"]
    return datasets


def available_datasets() -> list[str]:
    """Return the names of the catalogue, in the order of the paper's tables."""
    return list(_catalogue())


def dataset_info(name: str) -> DatasetInfo:
    """Return what the catalogue says about a data set."""
    entry = _catalogue().get(name)
    if entry is None:
        raise DatasetError(f"{name!r} is not in the catalogue{_similar(name)}: it has {', '.join(_catalogue())}")
    return DatasetInfo(
        name=name,
        description=entry["description"],
        citation=entry["citation"],
        content=entry["content"],
        recipes={recipe: entry["recipes"][recipe]["status"] for recipe in RECIPES},
        node_label_names=_words(entry, "node_label_names"),
        edge_label_names=_words(entry, "edge_label_names"),
    )


def _words(entry: Mapping[str, Any], field: str) -> dict[int, str] | None:
    words = entry.get(field)
    return None if words is None else {int(label): text for label, text in words.items()}


def content_of(batch: GraphBatch) -> dict[str, Any]:
    """Counts and digest of a batch as it was read, in the form that the catalogue holds them."""

    def kinds(labels: NDArray[Any] | None) -> int:
        return 0 if labels is None else len(np.unique(labels))

    def columns(attributes: NDArray[Any] | None) -> int:
        return 0 if attributes is None else attributes.shape[1]

    return {
        "graphs": batch.n_graphs,
        "nodes": batch.n_nodes,
        "edges": batch.n_edges,
        "node_labels": kinds(batch.node_labels),
        "edge_labels": kinds(batch.edge_labels),
        "node_attributes": columns(batch.node_attributes),
        "edge_attributes": columns(batch.edge_attributes),
        "classes": kinds(batch.y),
        "digest": content_digest(batch),
    }


def content_digest(batch: GraphBatch) -> str:
    """SHA-256 of everything that is measured in a batch, the same on every machine and for every packing of the files.

    Covers graphs, edges, weights, labels, attributes and `y`; not `name`, `ids` and the words for labels.
    """
    digest = hashlib.sha256()
    for field in (
        "node_ptr",
        "edges",
        "edge_weights",
        "node_labels",
        "node_attributes",
        "edge_labels",
        "edge_attributes",
        "y",
    ):
        values = getattr(batch, field)
        if values is not None:
            digest.update(f"{field} {values.shape}\n".encode())
            digest.update(_canonical_bytes(values))
    return digest.hexdigest()


def _canonical_bytes(values: NDArray[Any]) -> bytes:
    """Little-endian 64-bit numbers, or texts as a JSON list."""
    if values.dtype.kind == "U":
        return json.dumps(values.tolist()).encode()
    if values.dtype.kind == "f":
        return (values + 0.0).astype("<f8").tobytes()  # adding 0 makes -0 and 0 the same
    return values.astype("<i8").tobytes()


# -- loading -----------------------------------------------------------------------------------------------------------


def load_dataset(
    name: str | os.PathLike[str],
    recipe: str = "plain",
    *,
    data_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
    base_url: str | None = None,
    repair: Collection[str] = (),
) -> GraphBatch:
    """Load a data set by its name, or from a folder or zip in the TU format.

    A name is looked for as ``NAME/`` and ``NAME.zip`` in `data_dir`, in ``$PWLR_DATA_DIR``, in the package itself
    (MUTAG is built in) and in the cache, and then downloaded into the cache from the public TUDataset site.

    Parameters
    ----------
    name : str or path-like
        ``"MUTAG"``; any other set of the TUDataset site; or a path. Names of the catalogue are never taken for paths:
        write ``"./MUTAG"`` for a folder here.
    recipe : {"plain", "as-written", "as-published"}
        How the graphs are made from the files, see `RECIPES`; sets outside the catalogue have ``plain`` only, which is
        what the files say, with weight 1.
    data_dir : path-like, optional
        Folder to look into first.
    cache_dir : path-like, optional
        Folder for downloads. Default: ``$PWLR_CACHE_DIR``, else the user's cache.
    download : bool
        Whether to use the network at all.
    base_url : str, optional
        Where ``NAME.zip`` is downloaded from. Default: ``$PWLR_DATA_URL``, else the TUDataset site.
    repair : collection of str
        Which of `pwlr.packing.REPAIRS` to apply to the files instead of refusing them.

    Returns
    -------
    GraphBatch
        With `y`, `name`, and words for the labels where they are documented.

    Warns
    -----
    PwlrWarning
        If a file of the user's bears a name of the catalogue but has another content.

    Raises
    ------
    DatasetError
        If the data set is not found, cannot be downloaded, or a download is not the set that it should be. What was in
        the cache before stays as it was.

    Examples
    --------
    >>> load_dataset("MUTAG")
    GraphBatch(MUTAG: 188 graphs, 3371 nodes, 3721 edges; node labels: 7 kinds; edge labels: 4 kinds; y: 2 classes)
    """
    if recipe not in RECIPES:
        raise OptionError(f"recipe={recipe!r} is not known: choose one of {', '.join(map(repr, RECIPES))}")
    batch: GraphBatch | None
    path = _as_path(name)
    if path is not None:
        batch = read_tu(path, repair=repair)
    else:
        _refuse_recipe(str(name), recipe)
        batch, path = _from_places(str(name), data_dir, cache_dir, repair)
    if batch is None:
        batch = _from_site(str(name), data_dir, cache_dir, download=download, base_url=base_url, repair=repair)
    elif path is not None:
        _warn_if_other(batch, path)
    _refuse_recipe(batch.name, recipe)
    return apply_recipe(batch, recipe)


def _as_path(name: str | os.PathLike[str]) -> Path | None:
    """The path that the user gave, or None for a name; refuses what can be neither."""
    if isinstance(name, str) and name in _catalogue():
        return None
    path = Path(name)
    if path.name.endswith("_A.txt"):
        raise DatasetError(f"{os.fspath(name)!r} is one file of a data set in the TU format: give the folder it is in")
    if path.exists() and os.fspath(name):
        return path
    if isinstance(name, str) and _NAME.fullmatch(name) and not name.endswith(".zip"):
        return None
    raise DatasetError(
        f"{os.fspath(name)!r} is neither an existing folder or zip nor the name of a data set: check the path, or give "
        "a name such as 'MUTAG'"
    )


def _refuse_recipe(name: str, recipe: str) -> None:
    if recipe != "plain" and name not in _catalogue():
        raise OptionError(
            f"{name} has no recipe {recipe!r}: data sets outside the catalogue have 'plain' only; the catalogue is "
            f"{', '.join(_catalogue())}"
        )


def _similar(name: str) -> str:
    """Words that suggest a name of the catalogue, if one is close."""
    if name in _catalogue():
        return ""
    lower = {known.lower(): known for known in _catalogue()}
    close = difflib.get_close_matches(name.lower(), list(lower), n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(lower[match] for match in close)}?)" if close else ""


def _differences(content: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in words what differs from the catalogue; empty if nothing does."""
    words = {"node_labels": "kinds of node labels", "edge_labels": "kinds of edge labels"}
    for key, count in wanted.items():
        if content[key] != count and key != "digest":
            return f"it has {content[key]} {words.get(key, key.replace('_', ' '))} where the catalogue says {count}"
    return "" if content["digest"] == wanted["digest"] else "its counts agree with the catalogue, its content does not"


def _warn_if_other(batch: GraphBatch, path: Path) -> None:
    """Warn about a file of the user's that is not what its name promises; it may be so on purpose."""
    if batch.name in _catalogue():
        difference = _differences(content_of(batch), _catalogue()[batch.name]["content"])
        if difference:
            warnings.warn(f"{path} is not the known {batch.name}: {difference}", PwlrWarning, stacklevel=3)


# -- where data sets are -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundDataset:
    """A data set that is on this machine, and which of the places it was found in."""

    name: str
    place: Place
    path: Path | None  # None for the built-in one


def find_datasets(
    data_dir: str | os.PathLike[str] | None = None, cache_dir: str | os.PathLike[str] | None = None
) -> list[FoundDataset]:
    """List the data sets on this machine in the order in which `load_dataset` looks; the first of a name is the one."""
    found = []
    for place, folder in _folders(data_dir, cache_dir):
        if place == "built-in":
            found.append(FoundDataset(_BUILT_IN, place, None))
            continue
        for path in sorted(_entries(folder)):
            name = path.stem if path.suffix == ".zip" else path.name
            if _holds(path, name):
                found.append(FoundDataset(name, place, path))
    return found


def _folders(
    data_dir: str | os.PathLike[str] | None, cache_dir: str | os.PathLike[str] | None
) -> Iterator[tuple[Place, Path]]:
    """Places to look into, first to last; the cache, which needs pooch to be found, only if nobody stops before."""
    if data_dir is not None:
        if not Path(data_dir).is_dir():
            raise DatasetError(f"data_dir {os.fspath(data_dir)!r} is not a folder: check the path")
        yield "data_dir", Path(data_dir)
    if os.environ.get("PWLR_DATA_DIR"):
        yield "PWLR_DATA_DIR", Path(os.environ["PWLR_DATA_DIR"])
    yield "built-in", Path()
    yield "cache", _cache_folder(cache_dir)


def _cache_folder(cache_dir: str | os.PathLike[str] | None) -> Path:
    if cache_dir is not None:
        return Path(cache_dir)
    if os.environ.get("PWLR_CACHE_DIR"):
        return Path(os.environ["PWLR_CACHE_DIR"])
    import pooch

    return Path(pooch.os_cache("pwlr"))


def _entries(folder: Path) -> Iterator[Path]:
    """Folders and zips in a folder that may not be there."""
    try:
        yield from (path for path in folder.iterdir() if path.suffix == ".zip" or path.is_dir())
    except OSError:
        return


def _holds(path: Path, name: str) -> bool:
    """Whether a folder or zip holds the data set that it is called after."""
    try:
        return name in set_names(path)
    except GraphFormatError:
        return False


def _from_places(
    name: str,
    data_dir: str | os.PathLike[str] | None,
    cache_dir: str | os.PathLike[str] | None,
    repair: Collection[str],
) -> tuple[GraphBatch | None, Path | None]:
    """Read a data set from the first place that has it, and say where that was."""
    for place, folder in _folders(data_dir, cache_dir):
        if place == "built-in":
            if name == _BUILT_IN:
                return _built_in(), None
            continue
        for path in (folder / name, folder / f"{name}.zip"):
            if (path.suffix == ".zip" and path.is_file()) or (path.is_dir() and _holds(path, name)):
                return _read_local(path, name, place, repair), path
    return None, None


def _read_local(path: Path, name: str, place: Place, repair: Collection[str]) -> GraphBatch:
    try:
        return read_tu(path, name=name, repair=repair)
    except GraphFormatError as error:
        if place != "cache":
            raise
        raise DatasetError(f"{error} (this is the cached copy: delete {path} to have it downloaded again)") from error


def _built_in() -> GraphBatch:
    """MUTAG (Debnath et al. 1991) from the package's own file; `scripts/build_mutag.py` writes it."""
    file = resources.files("pwlr").joinpath("data", "mutag.npz")
    with resources.as_file(file) as path, np.load(path, allow_pickle=False) as columns:
        stored = {key: columns[key] for key in columns.files}
    node_ptr = np.concatenate([[0], np.cumsum(stored["nodes_of_graph"], dtype=np.int64)])
    shift = np.repeat(node_ptr[:-1], stored["edges_of_graph"])
    return pack(
        node_ptr,
        stored["sources"] + shift,
        stored["targets"] + shift,
        listed="once",
        node_labels=stored["node_labels"],
        edge_labels=stored["edge_labels"],
        y=stored["y"].astype(np.int64),
        name=_BUILT_IN,
    )


# -- the download ------------------------------------------------------------------------------------------------------


def _from_site(
    name: str,
    data_dir: str | os.PathLike[str] | None,
    cache_dir: str | os.PathLike[str] | None,
    *,
    download: bool,
    base_url: str | None,
    repair: Collection[str],
) -> GraphBatch:
    """Download a data set, or say where it was looked for."""
    spelled = {known.lower(): known for known in _catalogue()}.get(name.lower(), name)
    if spelled != name:
        raise DatasetError(f"there is no data set {name!r}: did you mean {spelled}?")
    places = _folders(data_dir, cache_dir)
    looked = ", ".join(f"{folder} ({place})" for place, folder in places if place != "built-in")
    if not download:
        raise DatasetError(
            f"data set {name!r} is not on this machine{_similar(name)}; looked into {looked}: allow the download, or "
            f"put {name}.zip into a folder and pass it as data_dir="
        )
    site = base_url or os.environ.get("PWLR_DATA_URL") or _SITE
    if not site.startswith(("http://", "https://")):
        raise DatasetError(f"data sets are downloaded over http or https, not from {site!r}: correct base_url")
    return _download(name, f"{site.rstrip('/')}/{name}.zip", _cache_folder(cache_dir), looked, repair)


def _download(name: str, url: str, folder: Path, looked: str, repair: Collection[str]) -> GraphBatch:
    """Fetch, parse and check under a temporary name; only then does the file take its own."""
    with _temporary_file(folder, name) as temporary:
        _fetch(url, temporary, name, looked)
        try:
            batch = read_tu(temporary, name=name, repair=repair)
        except GraphFormatError as error:
            reason = str(error).replace(str(temporary), "it")
            raise DatasetError(f"what {url} sent is not the data set {name}: {reason}; try again later") from error
        if name in _catalogue():
            difference = _differences(content_of(batch), _catalogue()[name]["content"])
            if difference:
                raise DatasetError(f"what {url} sent is not the known {name}: {difference}; try another base_url")
        try:
            temporary.chmod(0o644)
            temporary.replace(folder / f"{name}.zip")  # atomic, so two processes at once do no harm
        except OSError as error:
            raise _unwritable(folder, error) from error
    return batch


@contextmanager
def _temporary_file(folder: Path, name: str) -> Iterator[Path]:
    """Yield a file of our own in the cache, which is gone afterwards unless it was renamed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=f".{name}-", suffix=".part", dir=folder)
        os.close(handle)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield Path(path)
    finally:
        Path(path).unlink(missing_ok=True)


def _unwritable(folder: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"the cache {folder} cannot be written ({error.strerror}): pass cache_dir= or set PWLR_CACHE_DIR to a folder "
        "that can"
    )


def _fetch(url: str, target: Path, name: str, looked: str) -> None:
    import pooch

    try:
        pooch.HTTPDownloader(timeout=_TIMEOUT_SECONDS, chunk_size=1 << 16)(url, str(target), None)
    except OSError as error:  # the errors of requests are OSErrors too
        response = getattr(error, "response", None)
        if response is not None:
            response.close()
        raise DatasetError(
            f"data set {name!r} is not on this machine{_similar(name)} and {url} could not be downloaded "
            f"({_reason(error)}); looked into {looked}: check name and connection, or put {name}.zip into a folder and "
            "pass it as data_dir="
        ) from error


def _reason(error: OSError) -> str:
    """The gist of an error of requests, whose own words fill a screen."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"{response.status_code} {response.reason}"
    known = {
        "ChunkedEncodingError": "the transfer broke off",
        "ConnectTimeout": "no answer",
        "ReadTimeout": "no answer",
    }
    return known.get(type(error).__name__, error.strerror or "no connection")


# -- recipes -----------------------------------------------------------------------------------------------------------


def apply_recipe(batch: GraphBatch, recipe: str = "plain") -> GraphBatch:
    """Make the graphs of a recipe from a data set as it was read, and attach the words for its labels.

    The recipes stand in the catalogue, as lists of steps; `_STEPS` is all that a step can say.
    """
    entry = _catalogue().get(batch.name)
    if entry is None:
        return batch
    for step in entry["recipes"][recipe]["steps"]:
        for verb, value in step.items():
            batch = _STEPS[verb](batch, value)
    return batch.replace(
        node_label_names=_words(entry, "node_label_names"), edge_label_names=_words(entry, "edge_label_names")
    )


def _drop_edge_label(batch: GraphBatch, label: int) -> GraphBatch:
    """Leave out the edges that have a label."""
    return _rebuilt(batch, edges=_present(batch, "edge_labels") != label)


def _drop_isolated_nodes(batch: GraphBatch, wanted: bool) -> GraphBatch:
    """Leave out the nodes that have no edge."""
    return _rebuilt(batch, nodes=batch.degrees > 0) if wanted else batch


def _set_edge_weights(batch: GraphBatch, rule: str | Mapping[str, Mapping[str, float]]) -> GraphBatch:
    """Replace the weights: by code of the edge label, or by a rule that has a name."""
    if isinstance(rule, Mapping):
        labels = _present(batch, "edge_labels")
        codes = {int(label): float(weight) for label, weight in rule["label"].items()}
        unknown = sorted(set(labels.tolist()) - set(codes))
        if unknown:
            raise DatasetError(f"{batch.name} has edge label {unknown[0]}, for which the recipe has no weight")
        return _rebuilt(batch, weights=np.array([codes[label] for label in labels.tolist()]))
    return _rebuilt(batch, weights=_WEIGHTS[rule](batch))


_WEIGHTS: dict[str, Callable[[GraphBatch], NDArray[np.float64]]] = {
    "unit": lambda batch: np.ones(batch.n_edges),
    "max-degree": lambda batch: batch.degrees[batch.edges].max(axis=1, initial=0).astype(np.float64),
    "reciprocal-attribute": lambda batch: 1.0 / _present(batch, "edge_attributes")[:, 0],
}


def _set_node_attributes(batch: GraphBatch, rule: str) -> GraphBatch:
    """Give node j of every graph row j of the whole file, as the authors' files have it."""
    if rule != "first-rows-of-the-file":
        raise DatasetError(f"the recipe of {batch.name} asks for node attributes {rule!r}, which is not known")
    inside = np.arange(batch.n_nodes) - batch.node_ptr[batch.node_graph]
    return batch.replace(node_attributes=_present(batch, "node_attributes")[inside])


_STEPS: dict[str, Callable[[GraphBatch, Any], GraphBatch]] = {
    "drop_edge_label": _drop_edge_label,
    "drop_isolated_nodes": _drop_isolated_nodes,
    "edge_weights": _set_edge_weights,
    "node_attributes": _set_node_attributes,
}


def _present(batch: GraphBatch, field: str) -> NDArray[Any]:
    values: NDArray[Any] | None = getattr(batch, field)
    if values is None:
        raise DatasetError(f"the recipe needs {field.replace('_', ' ')}, which this copy of {batch.name} does not have")
    return values


def _rebuilt(
    batch: GraphBatch,
    *,
    nodes: NDArray[np.bool_] | None = None,
    edges: NDArray[np.bool_] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> GraphBatch:
    """Pack a batch again with only some of its edges, without some isolated nodes, or with other weights."""
    nodes = np.ones(batch.n_nodes, dtype=bool) if nodes is None else nodes
    edges = np.ones(batch.n_edges, dtype=bool) if edges is None else edges
    left = np.concatenate([[0], np.cumsum(nodes)])  # number of nodes that stay before each
    pairs = left[batch.edges[edges]]
    return pack(
        left[batch.node_ptr],
        pairs[:, 0],
        pairs[:, 1],
        listed="once",
        weights=(batch.edge_weights if weights is None else weights)[edges],
        node_labels=_picked(batch.node_labels, nodes),
        node_attributes=_picked(batch.node_attributes, nodes),
        edge_labels=_picked(batch.edge_labels, edges),
        edge_attributes=_picked(batch.edge_attributes, edges),
        y=batch.y,
        ids=batch.ids,
        name=batch.name,
    )


def _picked(values: NDArray[Any] | None, mask: NDArray[np.bool_]) -> NDArray[Any] | None:
    return None if values is None else values[mask]
