"""Results on disk: one SQLite file a project folder, a row for each evaluated unit, safe against kills and neighbours.

A unit is one (data set, recipe, variant, k, repetition, fold) under one protocol. Rows are written in one transaction a
batch; what was written survives a kill, and a unit that is there is never run again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pwlr.errors import DatasetError
from pwlr.experiments.spec import Spec

__all__ = ["SCHEMA", "Store", "StoreError", "Unit"]

VERSION = 1
PATIENCE = 60.0  # seconds to wait for a neighbour's lock

SCHEMA = """
-- the protocols that were run, by the hash of their description
CREATE TABLE IF NOT EXISTS protocols (
    run_id TEXT PRIMARY KEY,
    spec   TEXT NOT NULL              -- JSON: protocol, folds, tree counts, seed, twins
);
-- one row for each evaluated unit
CREATE TABLE IF NOT EXISTS units (
    run_id     TEXT NOT NULL REFERENCES protocols,
    dataset    TEXT NOT NULL,
    recipe     TEXT NOT NULL,
    variant    TEXT NOT NULL,         -- PWLR-H0 ... PWLR-OPT-H0+H1, typed, or a baseline
    k1         TEXT NOT NULL,         -- number, inf, or '' where nothing is chosen
    k2         TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    fold       INTEGER NOT NULL,
    accuracy   REAL NOT NULL,         -- on the graphs held out
    selection  REAL,                  -- score on the training part by which this unit competes with other k
    n_test     INTEGER NOT NULL,
    n_columns  INTEGER NOT NULL,
    chosen     TEXT NOT NULL,         -- JSON: what was chosen inside, e.g. the number of trees
    seconds    REAL NOT NULL,
    versions   TEXT NOT NULL,         -- JSON: versions and commit
    PRIMARY KEY (run_id, dataset, recipe, variant, k1, k2, repetition, fold)
) WITHOUT ROWID;
"""


class StoreError(DatasetError):
    """The results file cannot be read or written, or another program made it."""


@dataclass(frozen=True)
class Unit:
    """One evaluated unit; see the schema."""

    run_id: str
    dataset: str
    recipe: str
    variant: str
    k1: str
    k2: str
    repetition: int
    fold: int
    accuracy: float
    selection: float | None
    n_test: int
    n_columns: int
    chosen: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    versions: Mapping[str, Any] = field(default_factory=dict)


_COLUMNS = tuple(column.name for column in fields(Unit))
_FILTERS = ("run_id", "dataset", "recipe", "variant", "k1", "k2", "repetition")
_JSON = ("chosen", "versions")


class Store:
    """The results of a project folder."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        deadline = time.monotonic() + PATIENCE
        while not self._set_up(deadline):
            time.sleep(0.01)

    def _set_up(self, deadline: float) -> bool:
        """Make a new file a store; False if neighbours that do the same were in the way, before the deadline."""
        with self._connected() as connection:
            try:
                if self._is_new(connection):
                    # WAL lets readers and a writer work side by side, and a killed writer leaves the file whole
                    connection.execute("PRAGMA journal_mode = WAL")
                    # in one transaction, so that neither a kill nor a neighbour that starts now finds half of it
                    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            except sqlite3.OperationalError as error:
                # SQLite waits for its neighbours, but not for those that turn to WAL in the same moment
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                return False
        return True

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        """Say whether the file has to be set up; refuse what is not ours."""
        connection.execute("BEGIN")  # both questions are answered by one state of the file
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        connection.rollback()
        if (tables or version) and not tables >= {"protocols", "units"}:
            raise StoreError(f"{self.path} is a database of another program: name another file for the results")
        if version > VERSION:
            raise StoreError(f"{self.path} was written by a later pwlr (version {version}, this one knows {VERSION})")
        return bool(version < VERSION)

    def add_protocol(self, spec: Spec) -> None:
        """Note a protocol under its hash."""
        with self._connected() as connection, connection:
            connection.execute("INSERT OR IGNORE INTO protocols VALUES (?, ?)", (spec.run_id, spec.canonical()))

    def protocols(self) -> dict[str, dict[str, Any]]:
        """Return the protocols that were run."""
        with self._connected() as connection:
            return {run_id: json.loads(spec) for run_id, spec in connection.execute("SELECT * FROM protocols")}

    def add(self, units: Iterable[Unit]) -> None:
        """Write units, all of them or none; one that is there already stays as it is."""
        rows = [
            tuple(json.dumps(value, sort_keys=True) if name in _JSON else value for name, value in asdict(unit).items())
            for unit in units
        ]
        places = ", ".join("?" * len(_COLUMNS))
        with self._connected() as connection, connection:
            # OR IGNORE would swallow a missing accuracy as well, and the unit would be evaluated again and again
            connection.executemany(
                f"INSERT INTO units ({', '.join(_COLUMNS)}) VALUES ({places}) ON CONFLICT DO NOTHING", rows
            )

    def units(self, **wanted: Any) -> Iterator[Unit]:
        """Yield the units whose columns have the wanted values (a value or a collection of them), in key order."""
        for row in self._select(_COLUMNS, wanted):
            record = dict(zip(_COLUMNS, row, strict=True))
            yield Unit(**{**record, **{name: json.loads(record[name]) for name in _JSON}})

    def done(self, **wanted: Any) -> set[tuple[str, str, str, int, int]]:
        """Return the (variant, k1, k2, repetition, fold) that are there."""
        rows = self._select(("variant", "k1", "k2", "repetition", "fold"), wanted)
        return {(variant, k1, k2, repetition, fold) for variant, k1, k2, repetition, fold in rows}

    def _select(self, columns: tuple[str, ...], wanted: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield some columns of the wanted rows."""
        clauses, values = [], []
        for column, value in wanted.items():
            if column not in _FILTERS:
                raise StoreError(f"results cannot be filtered by {column!r}: use one of {', '.join(_FILTERS)}")
            several = list(value) if isinstance(value, Collection) and not isinstance(value, str) else [value]
            clauses.append(f"{column} IN ({', '.join('?' * len(several))})")
            values += several
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        order = "dataset, recipe, run_id, variant, k1, k2, repetition, fold"
        with self._connected() as connection:
            yield from connection.execute(f"SELECT {', '.join(columns)} FROM units{where} ORDER BY {order}", values)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one operation; a neighbour's lock is waited for, trouble is told in one sentence."""
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: {error}; is it a results file, and its folder writable?") from None
