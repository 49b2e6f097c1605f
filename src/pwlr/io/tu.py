"""The text format of the TU Dortmund benchmark sets: ``NAME_A.txt`` and its companions, in a folder or a zip.

Nothing is ever extracted to disk. Tables of numbers are read in one vectorised sweep; only when that sweep finds
something amiss are the lines walked one by one, to say which one it is.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pwlr.errors import GraphFormatError, PwlrWarning
from pwlr.graphs import GraphBatch, pack

__all__ = ["read_tu", "set_names", "write_tu"]

IntArray = NDArray[np.int64]

_PARTS = (
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
)
_EDGES_SUFFIX = "_A.txt"

# The largest public sets unpack to a few GB and to some twenty times their packed size. Small files may shrink far
# more (a column of ones), so the ratio counts only where unpacking would hurt.
_MAX_BYTES = 4 << 30
_RATIO_MATTERS_FROM = 64 << 20
_MAX_RATIO = 200

_WHOLE = re.compile(rb"\s*[+-]?[0-9]+\s*")
_DECIMAL = re.compile(rb"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_FRACTION = re.compile(rb"\.|[0-9][eE]")
_COLUMNS_OF_LABELS = re.compile(r"[+-]?[0-9]+(,[+-]?[0-9]+)*")
_COMMA, _NEWLINE, _SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE = b",\n +-.09"


def read_tu(path: str | os.PathLike[str], *, name: str | None = None, repair: Collection[str] = ()) -> GraphBatch:
    """Read a data set in the TU text format.

    Parameters
    ----------
    path : path-like
        A folder or a zip that holds ``NAME_A.txt``, ``NAME_graph_indicator.txt`` and any of ``NAME_graph_labels.txt``,
        ``NAME_graph_attributes.txt``, ``NAME_node_labels.txt``, ``NAME_node_attributes.txt``, ``NAME_edge_labels.txt``,
        ``NAME_edge_attributes.txt``. The folder or zip itself may be called anything; other files in it do not matter.
    name : str, optional
        Which data set to read where there are several.
    repair : collection of str
        Which of `pwlr.packing.REPAIRS` to apply instead of refusing.

    Returns
    -------
    GraphBatch
        All weights are 1, since the format has none. Graphs and nodes keep the order of the files; where the nodes of a
        graph are scattered over the indicator file they are brought together. ``y`` is the column of graph labels, or
        else the single column of graph attributes (with several of them it stays empty, with a `PwlrWarning`). Several
        columns of labels are joined into one label, the text ``"3,0"``.

    Raises
    ------
    GraphFormatError
        With the file, the line and the remedy, for everything that is not as the format promises: wrong counts, text or
        NaN where numbers are wanted, edges out of range or between two graphs, one-way or repeated edges, self loops;
        and for zips that are damaged, encrypted, or built to do harm.

    See Also
    --------
    pwlr.load_dataset : finds, downloads and checks the well-known sets by name.
    """
    place = Path(path)
    with _shelf(place) as shelf:
        chosen, texts = _read_parts(place, shelf, name)
    return _assemble(chosen, texts, repair)


def set_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the data sets in a folder or zip, without reading them."""
    with _shelf(Path(path)) as shelf:
        return sorted(_sets(shelf))


# -- folders and zips --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A file that can be read, with the sizes that are known beforehand."""

    read: Callable[[], bytes]
    size: int
    packed_size: int


@contextmanager
def _shelf(place: Path) -> Iterator[Mapping[str, _File]]:
    """Files of a folder or a zip by their path inside it."""
    if place.is_dir():
        yield _folder_files(place)
    elif place.is_file():
        try:
            with zipfile.ZipFile(place) as archive:
                yield _zip_files(place, archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise GraphFormatError(
                f"{place} is not an intact zip archive ({error}): download it again, or give the unpacked folder"
            ) from error
    else:
        raise GraphFormatError(f"{place} is neither a folder nor a zip file: check the path")


def _folder_files(place: Path) -> dict[str, _File]:
    """Files of a folder; where no data set lies in it directly, of the folders inside it as well."""
    try:
        paths = [path for path in place.iterdir() if path.is_file()]
        if not any(path.name.endswith(_EDGES_SUFFIX) for path in paths):
            paths = [path for path in place.glob("*/*.txt") if path.is_file()]
        return {path.relative_to(place).as_posix(): _File(path.read_bytes, path.stat().st_size, 0) for path in paths}
    except OSError as error:
        raise GraphFormatError(f"{place} cannot be read: {error.strerror}") from error


def _zip_files(place: Path, archive: zipfile.ZipFile) -> dict[str, _File]:
    files = {}
    for member in archive.infolist():
        _refuse_hostile(place, member)
        # Some public archives have doubled slashes in the paths of their members.
        inside = "/".join(part for part in member.filename.split("/") if part)
        files[inside] = _File(partial(_read_member, archive, member), member.file_size, member.compress_size)
    return files


def _refuse_hostile(place: Path, member: zipfile.ZipInfo) -> None:
    """Refuse what no honest data set holds, although nothing is ever written to disk."""
    plain = PurePosixPath(member.filename.replace("\\", "/") or "/")
    if plain.is_absolute() or ".." in plain.parts or ":" in plain.parts[0]:
        complaint = "has a path that climbs out of the archive"
    elif stat.S_ISLNK(member.external_attr >> 16):
        complaint = "is a symbolic link"
    elif member.flag_bits & 0x1:
        complaint = "is encrypted"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        complaint = "is packed by another method than deflate"
    else:
        return
    raise GraphFormatError(f"{place}: member {member.filename!r} {complaint}: pack the data set again as a plain zip")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as stream:
        text = stream.read(member.file_size + 1)
    if len(text) != member.file_size:
        raise zipfile.BadZipFile(f"{member.filename} is not as long as the archive says")
    return text


def _sets(shelf: Mapping[str, _File]) -> dict[str, list[str]]:
    """Names of the data sets on the shelf, and the folders (inside it) that hold them."""
    found: dict[str, list[str]] = {}
    for inside in shelf:
        folder, _, file = inside.rpartition("/")
        # A leading dot or __MACOSX marks what file managers leave behind.
        if file.endswith(_EDGES_SUFFIX) and not file.startswith(".") and not folder.startswith("__MACOSX"):
            found.setdefault(file.removesuffix(_EDGES_SUFFIX), []).append(f"{folder}/" if folder else "")
    return found


def _read_parts(place: Path, shelf: Mapping[str, _File], name: str | None) -> tuple[str, dict[str, _Text]]:
    """Choose the data set and read the files that belong to it."""
    sets = _sets(shelf)
    if not sets:
        raise GraphFormatError(f"{place} holds no data set in the TU format: there is no file called NAME_A.txt in it")
    known = ", ".join(sorted(sets))
    if name is None and len(sets) > 1:
        raise GraphFormatError(f"{place} holds several data sets ({known}): choose one with name=")
    chosen = next(iter(sets)) if name is None else name
    if chosen not in sets:
        raise GraphFormatError(f"{place} holds no data set {chosen!r}: it holds {known}")
    if len(sets[chosen]) > 1:
        raise GraphFormatError(f"{place} holds {chosen}{_EDGES_SUFFIX} more than once: keep one copy")
    start = f"{sets[chosen][0]}{chosen}_"
    files = {part: shelf[f"{start}{part}.txt"] for part in _PARTS if f"{start}{part}.txt" in shelf}
    if "graph_indicator" not in files:
        raise GraphFormatError(
            f"{place}: {chosen}_graph_indicator.txt is missing: it says which graph a node belongs to"
        )
    _refuse_absurd_sizes(place, list(files.values()))
    return chosen, {part: _Text(f"{chosen}_{part}.txt", _read(place, file)) for part, file in files.items()}


def _refuse_absurd_sizes(place: Path, files: list[_File]) -> None:
    size, packed = sum(file.size for file in files), sum(file.packed_size for file in files)
    if size > _MAX_BYTES:
        raise GraphFormatError(
            f"{place} unpacks to {size:,} bytes, more than pwlr reads ({_MAX_BYTES:,}): split the set"
        )
    if packed and size > _RATIO_MATTERS_FROM and size > _MAX_RATIO * packed:
        raise GraphFormatError(
            f"{place} unpacks to {size // packed} times its size, as no real data set does: unpack it yourself and "
            "give the folder if you trust it"
        )


def _read(place: Path, file: _File) -> bytes:
    try:
        return file.read()
    except OSError as error:
        raise GraphFormatError(f"{place} cannot be read: {error.strerror or error}") from error


# -- tables of numbers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Text:
    """A file's name, for messages, and what is in it."""

    name: str
    text: bytes

    @property
    def body(self) -> bytes:
        """The text without a byte order mark and without blank lines at its end."""
        return self.text.removeprefix(b"\xef\xbb\xbf").rstrip()

    def refuse(self, row: int, complaint: str) -> NoReturn:
        """Refuse a row; blank lines inside are refused, so that row and line differ by one."""
        raise GraphFormatError(f"{self.name} line {row + 1}: {complaint}")


def _table(file: _Text, dtype: type[np.int64 | np.float64], n_columns: int | None = None) -> NDArray[Any]:
    """Read comma-separated numbers, every line with as many; the first line says how many where nobody else does."""
    body = file.body
    if not body:
        return np.empty((0, n_columns or 1), dtype=dtype)
    n_columns = n_columns or io.BytesIO(body).readline().count(b",") + 1
    n_fields = _count_fields(body, n_columns)
    values = _numbers(body, dtype, n_fields) if n_fields else None
    if values is None:
        _diagnose(file, body, dtype, n_columns)
    return values.reshape(-1, n_columns)


def _count_fields(body: bytes, n_columns: int) -> int:
    """Number of fields; 0 if some line has not `n_columns` of them or one is empty."""
    characters = np.frombuffer(body, dtype=np.uint8)
    separators = characters[(characters == _COMMA) | (characters == _NEWLINE)]
    n_fields = len(separators) + 1
    if n_fields % n_columns:
        return 0
    ends = separators[n_columns - 1 :: n_columns]
    if (ends != _NEWLINE).any() or np.count_nonzero(separators == _NEWLINE) != len(ends):
        return 0
    # NumPy refuses two numbers in a field but reads something into an empty one; as many words as fields rule it out.
    inside = (characters > _SPACE) & (characters != _COMMA)
    n_words = int(np.count_nonzero(inside[1:] > inside[:-1])) + int(inside[0])
    return n_fields if n_words == n_fields and _signs_have_numbers(body, characters) else 0


def _signs_have_numbers(body: bytes, characters: NDArray[np.uint8]) -> bool:
    """Whether a digit or a point follows every sign: NumPy takes a sign alone for a zero."""
    if b"-" not in body and b"+" not in body:
        return True
    signs = np.flatnonzero((characters == _PLUS) | (characters == _MINUS))
    if signs[-1] + 1 == len(characters):
        return False
    following = characters[signs + 1]
    return bool((((following >= _ZERO) & (following <= _NINE)) | (following == _POINT)).all())


def _numbers(body: bytes, dtype: type[np.int64 | np.float64], n_fields: int) -> NDArray[Any] | None:
    """All numbers of a regular text in one sweep; None if something in it is not a (finite, 64-bit) number."""
    # What stands behind the last number that NumPy asks for, it does not look at.
    last = body[max(body.rfind(b","), body.rfind(b"\n")) + 1 :]
    if not (_WHOLE if dtype is np.int64 else _DECIMAL).fullmatch(last):
        return None
    try:
        values = np.fromstring(body.replace(b"\n", b","), dtype=dtype, count=n_fields, sep=",")
    except (ValueError, DeprecationWarning):
        return None
    if len(values) != n_fields:  # older NumPy versions stop with no more than a warning
        return None
    limits = np.iinfo(np.int64)
    if dtype is np.int64:  # too large a number comes back as the largest there is
        return values if values.max() < limits.max and values.min() > limits.min else None
    return values if np.isfinite(values).all() else None


def _diagnose(file: _Text, body: bytes, dtype: type[np.int64 | np.float64], n_columns: int) -> NoReturn:
    """Find the first line that is not as it should be, and refuse it."""
    whole = dtype is np.int64
    for row, line in enumerate(body.split(b"\n")):
        if not line.strip():
            file.refuse(row, "the line is blank; every line stands for one node, edge or graph")
        fields = line.split(b",")
        if len(fields) != n_columns:
            file.refuse(row, f"{len(fields)} values where {n_columns} are wanted, separated by commas")
        for field in fields:
            shown = field.strip().decode(errors="replace")[:40]
            if not (_WHOLE if whole else _DECIMAL).fullmatch(field):
                wanted = "a whole number" if whole else "a finite number"
                file.refuse(row, f"{shown!r} is not {wanted}; TU files hold nothing else here")
            if whole and abs(int(field)) >= 2**63 - 1:
                file.refuse(row, f"{shown} does not fit a 64-bit integer")
            if not np.isfinite(float(field)):
                file.refuse(row, f"{shown} does not fit a 64-bit floating point number")
    raise GraphFormatError(f"{file.name} is not a table of numbers separated by commas")


# -- from tables to graphs ---------------------------------------------------------------------------------------------


def _assemble(name: str, texts: Mapping[str, _Text], repair: Collection[str]) -> GraphBatch:
    """Check the tables against each other and pack them."""
    indicator = _table(texts["graph_indicator"], np.int64, 1)[:, 0]
    n_nodes = len(indicator)
    y, n_graphs = _targets(texts)
    n_graphs = _check_indicator(texts, indicator, n_graphs)
    arcs = _arcs(texts["A"], indicator)
    companions: dict[str, Any] = {}
    for part in ("node_labels", "node_attributes", "edge_labels", "edge_attributes"):
        if part in texts:
            read = _labels if part.endswith("labels") else _attributes
            companions[part] = read(texts[part])
            wanted, of = (n_nodes, "graph_indicator") if part.startswith("node") else (arcs.shape[1], "A")
            if len(companions[part]) != wanted:
                raise GraphFormatError(
                    f"{texts[part].name} has {len(companions[part])} lines but {texts[of].name} has {wanted}: "
                    "they must have equally many"
                )
    if (np.diff(indicator) < 0).any():
        order = np.argsort(indicator, kind="stable")
        position = np.empty_like(order)
        position[order] = np.arange(n_nodes)
        arcs = position[arcs]
        indicator = indicator[order]
        companions |= {part: values[order] for part, values in companions.items() if part.startswith("node")}
    node_ptr = np.searchsorted(indicator, np.arange(1, n_graphs + 2))
    try:
        return pack(node_ptr, arcs[0], arcs[1], listed="both ways", y=y, name=name, repair=repair, **companions)
    except GraphFormatError as error:
        raise GraphFormatError(f"{name}, graphs and nodes counted from 0: {error}") from None


def _targets(texts: Mapping[str, _Text]) -> tuple[NDArray[Any] | None, int | None]:
    """The column to predict, and how many graphs there are; both may be left open."""
    n_graphs = None
    if "graph_attributes" in texts:
        attributes = _table(texts["graph_attributes"], np.float64)
        n_graphs = len(attributes)
        if "graph_labels" not in texts:
            return _single_target(texts["graph_attributes"].name, attributes), n_graphs
    if "graph_labels" not in texts:
        return None, None
    labels = _labels(texts["graph_labels"], whole=False)
    if n_graphs not in (None, len(labels)):
        raise GraphFormatError(
            f"{texts['graph_labels'].name} has {len(labels)} lines but {texts['graph_attributes'].name} has "
            f"{n_graphs}: both must have one for each graph"
        )
    return labels, len(labels)


def _single_target(file: str, attributes: NDArray[np.float64]) -> NDArray[np.float64] | None:
    if attributes.shape[1] == 1:
        return attributes[:, 0]
    warnings.warn(
        f"{file} has {attributes.shape[1]} columns: y stays empty; choose one and set it with batch.replace(y=...)",
        PwlrWarning,
        stacklevel=5,
    )
    return None


def _check_indicator(texts: Mapping[str, _Text], indicator: IntArray, n_graphs: int | None) -> int:
    """Number of graphs; those after the last node's have no nodes."""
    file = texts["graph_indicator"]
    if len(indicator) == 0:
        return n_graphs or 0
    if indicator.min() < 1:
        row = int(np.flatnonzero(indicator < 1)[0])
        file.refuse(row, f"graph {indicator[row]} does not exist; TU files count graphs from 1")
    if n_graphs is not None and indicator.max() > n_graphs:
        row = int(np.flatnonzero(indicator > n_graphs)[0])
        listing = texts.get("graph_labels") or texts["graph_attributes"]
        file.refuse(
            row, f"graph {indicator[row]} does not exist; {listing.name} has {n_graphs} lines, one for each graph"
        )
    # Without a list of graphs their number is the largest one used, and a mistyped one must not fill the memory.
    if n_graphs is None and indicator.max() > 2 * len(indicator) + 1000:
        row = int(indicator.argmax())
        file.refuse(
            row, f"graph {indicator[row]} is far beyond the {len(indicator)} nodes there are; count graphs from 1"
        )
    return int(indicator.max()) if n_graphs is None else n_graphs


def _arcs(file: _Text, indicator: IntArray) -> IntArray:
    """Arcs as two rows, source and target, counted from 0."""
    arcs = np.ascontiguousarray(_table(file, np.int64, 2).T)
    n_nodes = len(indicator)
    if arcs.size == 0:
        return arcs
    if arcs.min() < 1 or arcs.max() > n_nodes:
        row = int(np.flatnonzero(((arcs < 1) | (arcs > n_nodes)).any(axis=0))[0])
        source, target = arcs[:, row]
        culprit = target if 1 <= source <= n_nodes else source
        file.refuse(
            row,
            f"edge ({source}, {target}) names node {culprit} but the nodes are 1 to {n_nodes}; "
            "TU files count nodes from 1",
        )
    arcs -= 1
    first, second = indicator[arcs[0]], indicator[arcs[1]]
    across = np.flatnonzero(first != second)
    if len(across):
        row = int(across[0])
        source, target = arcs[:, row] + 1
        file.refuse(
            row,
            f"edge ({source}, {target}) joins graph {first[row]} and graph {second[row]} of the graph indicator; "
            "an edge must stay inside one graph",
        )
    return arcs


def _labels(file: _Text, *, whole: bool = True) -> NDArray[Any]:
    """Labels as integers; several columns as text; where `whole` does not matter, fractions as they are."""
    fractions = _FRACTION.search(file.text) is not None
    table = _table(file, np.float64 if fractions else np.int64)
    if fractions:
        rounded = np.abs(table) < 2**53
        rounded &= table == np.floor(table)
        if rounded.all():
            table = table.astype(np.int64)
        elif whole:
            row, column = (int(i) for i in np.argwhere(~rounded)[0])
            file.refuse(
                row, f"label {table[row, column]} is not a whole number; measured numbers belong to the attributes"
            )
    if table.shape[1] == 1:
        return np.ascontiguousarray(table[:, 0])
    kinds, codes = np.unique(table, axis=0, return_inverse=True)
    words = np.array([",".join(map(str, kind)) for kind in kinds.tolist()], dtype=str)
    return words[codes.reshape(-1)]


def _attributes(file: _Text) -> NDArray[np.float64]:
    return _table(file, np.float64)


# -- writing -----------------------------------------------------------------------------------------------------------


def write_tu(batch: GraphBatch, folder: str | os.PathLike[str], *, name: str | None = None) -> Path:
    """Write a batch in the TU text format, so that `read_tu` gives it back.

    Parameters
    ----------
    batch : GraphBatch
        All weights must be 1, since the format has none. ``ids`` and words for labels are not written.
    folder : path-like
        A folder that does not exist yet or is empty; it appears complete or not at all.
    name : str, optional
        Start of the file names. Default: the batch's name.

    Returns
    -------
    Path
        The folder.
    """
    target, chosen = Path(folder), name or batch.name
    if not chosen or "/" in chosen or "\\" in chosen:
        raise GraphFormatError(f"a data set cannot be called {chosen!r}: pass name= without slashes")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise GraphFormatError(f"{target} is there already: give a folder that does not exist or is empty")
    tables = _tables_of(batch)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for part, lines in tables.items():
            (draft / f"{chosen}_{part}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        draft.chmod(0o755)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _tables_of(batch: GraphBatch) -> dict[str, list[str]]:
    """Lines of every file; refuses what the format cannot say."""
    if (batch.weights != 1).any():
        raise GraphFormatError("the TU format has no edge weights: set them to 1 or keep them as edge attributes")
    if batch.y is None and batch.n_graphs and batch.node_ptr[-1] == batch.node_ptr[-2]:
        raise GraphFormatError("the last graph has no nodes, which the TU format can only say with y: set y")
    sources = np.repeat(np.arange(batch.n_nodes), batch.degrees)
    arc_edges = batch.arc_edges
    tables = {
        "A": [f"{u}, {v}" for u, v in zip((sources + 1).tolist(), (batch.indices + 1).tolist(), strict=True)],
        "graph_indicator": [str(graph) for graph in (batch.node_graph + 1).tolist()],
    }
    if batch.y is not None:
        numbers = batch.y.dtype.kind == "f"
        tables["graph_attributes" if numbers else "graph_labels"] = _column(batch.y, "y")
    if batch.node_labels is not None:
        tables["node_labels"] = _column(batch.node_labels, "node label")
    if batch.edge_labels is not None:
        tables["edge_labels"] = _column(batch.edge_labels[arc_edges], "edge label")
    if batch.node_attributes is not None:
        tables["node_attributes"] = _rows(batch.node_attributes)
    if batch.edge_attributes is not None:
        tables["edge_attributes"] = _rows(batch.edge_attributes[arc_edges])
    return tables


def _column(values: NDArray[Any], what: str) -> list[str]:
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    lines = [str(value) for value in values.tolist()]
    if values.dtype.kind == "U":
        culprit = next((line for line in lines if not _COLUMNS_OF_LABELS.fullmatch(line)), None)
        if culprit is not None:
            raise GraphFormatError(
                f"{what} {culprit!r} cannot be written: TU files hold whole numbers; map the texts to codes"
            )
    return lines


def _rows(attributes: NDArray[np.float64]) -> list[str]:
    return [", ".join(map(repr, row)) for row in attributes.tolist()]
