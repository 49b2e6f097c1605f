"""The results file: what is in it, who may write to it at once, and what a kill or a full disk leaves behind."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace

import pytest

from pwlr.errors import PwlrError
from pwlr.experiments import store as module
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import SCHEMA, Store, StoreError, Unit

UNIT = Unit(
    run_id=Spec().run_id,
    dataset="SET",
    recipe="plain",
    variant="PWLR-H0",
    k1="1",
    k2="inf",
    repetition=0,
    fold=0,
    accuracy=0.75,
    selection=0.5,
    n_test=4,
    n_columns=7,
    chosen={"n_trees": 25},
    seconds=0.125,
    versions={"numpy": "2"},
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results.sqlite")


def asked(path, question, *values):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question, values).fetchall()


def in_a_process(code, *words):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


# -- the file ----------------------------------------------------------------------------------------------------------


def test_a_unit_comes_back_as_it_went_in(store):
    baseline = replace(UNIT, variant="majority class", k1="", k2="", selection=None, chosen={}, n_columns=0)
    store.add([UNIT, baseline])
    assert list(store.units()) == [UNIT, baseline]
    assert list(Store(store.path).units()) == [UNIT, baseline]


def test_the_schema_says_what_each_column_is_and_is_the_one_in_the_file(store):
    columns = [row[1] for row in asked(store.path, "PRAGMA table_info(units)")]
    assert columns == [column.name for column in fields(Unit)]
    key = [row[1] for row in sorted(asked(store.path, "PRAGMA table_info(units)"), key=lambda row: row[5]) if row[5]]
    assert key == ["run_id", "dataset", "recipe", "variant", "k1", "k2", "repetition", "fold"]
    assert {row[0] for row in asked(store.path, "SELECT name FROM sqlite_master WHERE type = 'table'")} == {
        "protocols",
        "units",
    }
    # every column whose name does not say it all has its comment, and the comments travel in the file
    (inside,) = asked(store.path, "SELECT sql FROM sqlite_master WHERE name = 'units'")
    for name in ("variant", "k1", "accuracy", "selection", "chosen", "versions"):
        assert re.search(rf"\n *{name} .*-- \w", SCHEMA)
        assert re.search(rf"\n *{name} .*-- \w", inside[0])
    assert asked(store.path, "PRAGMA user_version") == [(module.VERSION,)]


def test_the_file_is_in_wal_mode(store):
    assert asked(store.path, "PRAGMA journal_mode") == [("wal",)]


def test_opening_again_writes_nothing(store):
    """So that a listing neither waits for a writer nor makes the file look changed."""
    store.add([UNIT])
    before = store.path.read_bytes()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")  # another run is writing, for as long as it likes
        start = time.perf_counter()
        assert list(Store(store.path).units()) == [UNIT]
        assert time.perf_counter() - start < 10
        writer.execute("ROLLBACK")
    assert store.path.read_bytes() == before


def test_a_protocol_is_noted_once_under_its_hash(store):
    for spec in (Spec(), Spec(), Spec("paper", seed=3)):
        store.add_protocol(spec)
    noted = store.protocols()
    assert set(noted) == {Spec().run_id, Spec("paper", seed=3).run_id}
    assert noted[Spec().run_id] == json.loads(Spec().canonical())
    assert "inner_folds" not in noted[Spec().run_id]


# -- the hash of a protocol --------------------------------------------------------------------------------------------


def test_the_hash_stands_for_what_is_measured_and_never_changes():
    """These two are in every store there is; if they change, nobody's runs resume."""
    assert Spec().run_id == "1dd2790ca6d3"
    assert Spec("paper").run_id == "4a8d5e08f72d"
    others = [
        Spec(),
        Spec("paper"),
        Spec("paper", inner_folds=3),
        Spec(folds=5),
        Spec(seed=1),
        Spec(twins="group"),
        Spec(twins="drop"),
        Spec(tree_counts=(10,)),
    ]
    assert len({spec.run_id for spec in others}) == len(others)
    assert Spec(inner_folds=3).run_id == Spec().run_id  # nested has no inner folds


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"protocol": "best"}, "protocol='best' is not known: choose one of 'paper', 'nested'"),
        ({"twins": "both"}, "twins='both' is not known"),
        ({"folds": 1}, "1 folds cannot hold anything out: use at least 2"),
        ({"inner_folds": 0}, "0 folds cannot hold anything out"),
        ({"tree_counts": ()}, "tree_counts must be distinct"),
        ({"tree_counts": (0, 1)}, "tree_counts must be distinct"),
        ({"tree_counts": (2, 1)}, "tree_counts must be distinct"),
        ({"tree_counts": (1, 1)}, "tree_counts must be distinct"),
    ],
)
def test_specs_that_cannot_be_run(options, says):
    with pytest.raises(PwlrError, match=re.escape(says)):
        Spec(**options)


# -- adding and finding ------------------------------------------------------------------------------------------------


def test_a_unit_that_is_there_stays_as_it_is(store):
    store.add([UNIT])
    store.add([replace(UNIT, accuracy=0.0, seconds=9.0), replace(UNIT, fold=1)])
    assert list(store.units()) == [UNIT, replace(UNIT, fold=1)]


def test_a_batch_is_written_whole_or_not_at_all(store):
    with pytest.raises(StoreError, match="NOT NULL"):
        store.add([UNIT, replace(UNIT, fold=1, accuracy=None)])
    assert list(store.units()) == []

    def breaking_off():
        yield UNIT
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(breaking_off())
    assert list(store.units()) == []


def test_filters(store):
    store.add(
        replace(UNIT, dataset=dataset, variant=variant, repetition=repetition)
        for dataset in ("A", "B")
        for variant in ("x", "y", "it's; DROP TABLE units")
        for repetition in (0, 1)
    )
    assert len(list(store.units())) == 12
    assert {(u.dataset, u.variant) for u in store.units(dataset="A", variant=["x", "y"])} == {("A", "x"), ("A", "y")}
    assert len(list(store.units(variant="it's; DROP TABLE units"))) == 4
    assert len(list(store.units(repetition=1))) == 6
    assert list(store.units(variant=[])) == []
    assert list(store.units(dataset="C")) == []
    assert store.done(dataset="A", variant="x") == {("x", "1", "inf", 0, 0), ("x", "1", "inf", 1, 0)}
    with pytest.raises(StoreError, match="cannot be filtered by 'accuracy': use one of run_id, dataset"):
        list(store.units(accuracy=1))


def test_units_come_in_the_order_of_the_key_however_they_went_in(store):
    units = [replace(UNIT, variant=variant, fold=fold) for variant in "ab" for fold in range(3)]
    store.add(reversed(units))
    assert list(store.units()) == units


# -- files that are not ours -------------------------------------------------------------------------------------------


def refused(path, says):
    with pytest.raises(StoreError, match=says) as caught:
        Store(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, PwlrError)


def test_a_file_from_the_future(store):
    store.add([UNIT])
    asked(store.path, f"PRAGMA user_version = {module.VERSION + 1}")
    refused(store.path, r"written by a later pwlr \(version 2, this one knows 1\)")


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_database_of_another_program_stays_untouched(version, tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"CREATE TABLE mail (subject TEXT); PRAGMA user_version = {version};")
    before = path.read_bytes()
    refused(path, "is a database of another program: name another file")
    assert path.read_bytes() == before


def test_a_text_file_stays_untouched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, only some notes\n" * 100)
    before = path.read_bytes()
    refused(path, "file is not a database; is it a results file")
    assert path.read_bytes() == before


def test_places_where_no_file_can_be(tmp_path):
    refused(tmp_path, "unable to open database file")
    refused(tmp_path / "nowhere" / "results.sqlite", "its folder writable")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    folder = tmp_path / "sealed"
    folder.mkdir(mode=0o500)
    refused(folder / "results.sqlite", "its folder writable")


def test_a_read_only_file_tells_in_one_sentence(store, monkeypatch):
    """What a sealed folder does to a write, for root too."""
    connect = sqlite3.connect

    def read_only(path, **options):
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(module.sqlite3, "connect", read_only)
    with pytest.raises(StoreError, match="attempt to write a readonly database; is it a results file"):
        store.add([UNIT])


# -- neighbours, kills, a full disk ------------------------------------------------------------------------------------

_WRITER = """
import sys, time
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit
path, name, batches, start = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
while time.time() < start:  # all begin together, with a file that is not there yet
    pass
store = Store(path)
store.add_protocol(Spec())
def ten(variant, batch):
    return [
        Unit("run", "SET", "plain", variant, "1", "2", batch, fold, 0.75, 0.5, 4, 7, versions={"by": name})
        for fold in range(10)
    ]
for batch in range(batches):
    store.add(ten(name, batch))
    store.add(ten("shared", batch))
    print(batch, flush=True)
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "results.sqlite"
    start = time.time() + 2.5
    writers = [in_a_process(_WRITER, path, f"writer {number}", 40, start) for number in range(3)]
    said = [writer.communicate(timeout=120)[1] for writer in writers]
    assert said == [""] * 3
    assert [writer.returncode for writer in writers] == [0] * 3
    store = Store(path)
    assert asked(path, "PRAGMA integrity_check") == [("ok",)]
    every = {(batch, fold) for batch in range(40) for fold in range(10)}
    for name in ("writer 0", "writer 1", "writer 2", "shared"):
        units = list(store.units(variant=name))
        assert len(units) == 400
        assert {(unit.repetition, unit.fold) for unit in units} == every
    # whoever came first wrote the whole batch
    first = {batch: {u.versions["by"] for u in store.units(variant="shared", repetition=batch)} for batch in range(40)}
    assert all(len(names) == 1 for names in first.values())


def test_a_store_that_is_made_by_several_at_once(tmp_path):
    """SQLite does not wait where two turn a new file to WAL in the same moment; each thread has its own connection."""
    for attempt in range(20):
        path, start = tmp_path / f"{attempt}.sqlite", threading.Barrier(6)

        def begin(number, path=path, start=start):
            start.wait()
            store = Store(path)
            store.add([replace(UNIT, repetition=number)])
            return store.protocols()

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(begin, range(6))) == [{}] * 6
        assert {unit.repetition for unit in Store(path).units()} == set(range(6))


def test_patience_has_an_end(tmp_path, monkeypatch):
    """A lock that is never given back ends in a sentence."""
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    path = tmp_path / "results.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused(path, "database is locked")


def test_a_killed_writer_leaves_whole_transactions(tmp_path):
    path = tmp_path / "results.sqlite"
    reported = -1
    for attempt, wanted in enumerate((3, 11, 30)):  # killed again and again, on the same file
        writer = in_a_process(_WRITER, path, f"writer {attempt}", 100_000, 0)
        for line in writer.stdout:
            reported = int(line)
            if reported >= wanted:
                break
        writer.kill()
        assert writer.wait() == -9
        writer.stdout.close()
        writer.stderr.close()
        store = Store(path)
        assert asked(path, "PRAGMA integrity_check") == [("ok",)]
        sizes = {}
        for unit in store.units(variant=f"writer {attempt}"):
            sizes[unit.repetition] = sizes.get(unit.repetition, 0) + 1
        assert len(sizes) > reported  # what was reported is there
        assert set(sizes.values()) == {10}  # and nothing is there by halves
        store.add([replace(UNIT, variant=f"after {attempt}")])  # the dead writer holds no lock


def test_a_kill_while_the_file_is_made_does_not_spoil_it(tmp_path):
    """Tables and version are made in one transaction; a file with neither is taken as new."""
    path = tmp_path / "results.sqlite"
    path.touch()
    Store(path).add([UNIT])
    assert list(Store(path).units()) == [UNIT]
    # an earlier pwlr made them one after the other, and could be killed in between
    asked(path, "PRAGMA user_version = 0")
    assert list(Store(path).units()) == [UNIT]
    assert asked(path, "PRAGMA user_version") == [(module.VERSION,)]


def test_a_full_disk_is_told_and_costs_nothing_that_was_there(store, monkeypatch):
    store.add([UNIT])
    connect = sqlite3.connect

    def small(*arguments, **options):
        connection = connect(*arguments, **options)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then answers as it does to ENOSPC
        return connection

    monkeypatch.setattr(module.sqlite3, "connect", small)
    with pytest.raises(StoreError, match=r"results\.sqlite: database or disk is full") as caught:
        store.add(replace(UNIT, repetition=repetition) for repetition in range(1, 2000))
    assert "\n" not in str(caught.value)
    assert list(store.units()) == [UNIT]
    monkeypatch.undo()  # somebody made room
    store.add(replace(UNIT, repetition=repetition) for repetition in range(1, 2000))
    assert len(list(store.units())) == 2000
