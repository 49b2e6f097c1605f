"""`pwlr results`: what a store holds, as a table, and as files that other programs read back."""

import csv
import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import asdict

import pytest

from pwlr.cli import main
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit

NESTED, PAPER = Spec(folds=2), Spec("paper", folds=2, twins="group")
HOSTILE = r"50%_A&B \x {y}|#~^<$"


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "220")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["pwlr", "results", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def refused(run):
    def refused(*words):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err.startswith("pwlr: ")
        assert err.count("\n") == 1
        return err

    return refused


@pytest.fixture
def records(run):
    def records(*words):
        code, out, err = run(*words, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    return records


@pytest.fixture
def units(tmp_path):
    """Three cells by two protocols in the store that the command looks for."""
    store = Store(tmp_path / "pwlr-results.sqlite")
    store.add_protocol(NESTED)
    store.add_protocol(PAPER)
    accuracies = [(0, 0, 0.5), (0, 1, 0.7), (1, 0, 0.8), (1, 1, 1.0)]

    def of(spec, dataset, variant, k, selection, some):
        return [
            Unit(
                spec.run_id,
                dataset,
                "plain",
                variant,
                *k,
                repetition,
                fold,
                accuracy,
                selection,
                4,
                7,
                {"n_trees": 10},
                900.0,
                {"numpy": "2"},
            )
            for repetition, fold, accuracy in some
        ]

    units = [
        *of(NESTED, "MUTAG", "PWLR-H0", ("10", "2"), 0.5, accuracies),
        *of(NESTED, "MUTAG", "PWLR-H0", ("2", "inf"), 0.5, accuracies[:2]),
        *of(PAPER, "MUTAG", "majority class", ("", ""), None, accuracies),
        *of(PAPER, HOSTILE, "PWLR-H0", ("1", "1"), 0.5, accuracies),
    ]
    store.add(units)
    return units


# -- the listing -------------------------------------------------------------------------------------------------------


def test_a_line_for_every_cell(units, records):
    found = records()
    keys = [(r["dataset"], r["protocol"], r["twins"], r["variant"], r["k1"], r["k2"]) for r in found]
    assert keys == [
        (HOSTILE, "paper", "group", "PWLR-H0", "1", "1"),
        ("MUTAG", "nested", "keep", "PWLR-H0", "2", "inf"),  # 2 before 10
        ("MUTAG", "nested", "keep", "PWLR-H0", "10", "2"),
        ("MUTAG", "paper", "group", "majority class", "", ""),
    ]
    whole = found[2]
    assert whole["mean"] == pytest.approx(0.75)
    assert whole["std"] == pytest.approx(0.15)  # divided by the number of repetitions, as the paper does
    assert whole["low"] < 0.75 < whole["high"]
    assert (whole["repetitions"], whole["folds"], whole["hours"]) == (2, 2, 1.0)
    assert whole["run_id"] == NESTED.run_id
    assert found[1]["std"] is None  # one repetition


def test_the_table_shows_them(units, run):
    code, out, err = run()
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if "10,2" in line]
    assert "recipe: plain" in out.splitlines()[0]  # what all lines share is said once, above
    assert line.split()[:4] == ["MUTAG", "nested", NESTED.run_id, "keep"]
    assert "75.00 ± 15.00" in line
    assert "2 x 2" in line
    assert "1.000" in line
    assert HOSTILE in out


@pytest.mark.parametrize(
    ("words", "n"),
    [
        ((), 4),
        (("--dataset", "MUTAG"), 3),
        (("--dataset", f"MUTAG,{HOSTILE}"), 4),
        (("--recipe", "plain"), 4),
        (("--protocol", "nested"), 2),
        (("--protocol", "paper", "--variant", "PWLR-H0"), 1),
        (("--variant", "PWLR-H0,majority class"), 4),
        (("--run-id", PAPER.run_id), 2),
    ],
)
def test_filters(words, n, units, records):
    assert len(records(*words)) == n


def test_units_are_listed_whole(units, records):
    found = records("--units", "--dataset", "MUTAG", "--protocol", "nested")
    assert sorted(found, key=lambda r: (r["k1"], r["repetition"], r["fold"])) == [asdict(unit) for unit in units[:6]]


def test_protocols_are_listed_in_full(units, records, run):
    found = {record["run_id"]: record for record in records("--protocols")}
    assert set(found) == {NESTED.run_id, PAPER.run_id}
    assert found[PAPER.run_id]["inner_folds"] == 5
    assert found[NESTED.run_id]["inner_folds"] is None
    assert found[NESTED.run_id]["tree_counts"] == list(NESTED.tree_counts)
    assert len(records("--protocols", "--protocol", "paper")) == 1
    assert "group" in run("--protocols", "--run-id", PAPER.run_id)[1]


# -- files -------------------------------------------------------------------------------------------------------------


def exported(run, name, *words):
    code, out, err = run("-o", name, *words)
    assert (code, err) == (0, "")
    assert out.startswith(f"{name}: ")
    with open(name, encoding="utf-8", newline="") as file:  # noqa: PTH123
        return file.read()


@pytest.mark.parametrize("words", [(), ("--units",), ("--protocols",)])
def test_csv_and_json_say_the_same(words, units, run, records):
    expected = records(*words)
    assert json.loads(exported(run, "out.json", *words)) == expected
    lines = list(csv.DictReader(exported(run, "out.csv", *words).splitlines()))
    assert [list(line) for line in lines] == [list(record) for record in expected]
    for line, record in zip(lines, expected, strict=True):
        for name, value in record.items():
            text = line[name]
            assert (
                text == value if isinstance(value, str) else text == "" if value is None else json.loads(text) == value
            )


def test_markdown_keeps_its_columns(units, run):
    lines = [line for line in exported(run, "out.md").splitlines() if line.startswith("|")]
    assert len(lines) == 6
    assert {line.replace(r"\|", "").count("|") for line in lines} == {12}
    assert "75.00 ± 15.00" in lines[4]


def test_latex_is_booktabs_and_escaped(units, run):
    text = exported(run, "out.tex")
    lines = text.splitlines()
    assert lines[:3] == [r"% needs \usepackage{booktabs}", r"\begin{tabular}{lllllllllll}", r"\toprule"]
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert lines[4] == r"\midrule"
    rows = [lines[3], *lines[5:-2]]
    assert len(rows) == 5
    assert all(row.endswith(r" \\") and row.count(" & ") == 10 for row in rows)
    assert r"50\%\_A\&B \textbackslash{}x \{y\}\textbar{}\#\textasciitilde{}\textasciicircum{}\textless{}\$" in rows[1]
    assert r"75.00 $\pm$ 15.00" in rows[3]
    assert r"accuracy \%" in rows[0]


def test_json_beside_a_file_keeps_standard_output_clean(units, run):
    code, out, err = run("-o", "out.csv", "--json")
    assert code == 0
    assert len(json.loads(out)) == 4
    assert err == "out.csv: 4 lines\n"


def test_a_file_is_written_whole_or_not_at_all(units, refused, tmp_path, monkeypatch):
    (tmp_path / "out.json").write_text("before")

    def full(*_, **__):
        raise OSError(28, "No space left on device", "out.json")

    monkeypatch.setattr("pathlib.Path.replace", full)
    assert "No space left" in refused("-o", "out.json")
    assert (tmp_path / "out.json").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


# -- mistakes ----------------------------------------------------------------------------------------------------------


def test_a_store_that_is_not_there_is_not_made(refused, tmp_path):
    assert "pwlr-results.sqlite does not exist: pwlr reproduce makes it" in refused()
    assert "other.db does not exist" in refused("--store", "other.db", "--json")
    assert list(tmp_path.iterdir()) == []


def test_stores_that_are_none(refused, tmp_path):
    (tmp_path / "empty").touch()
    assert "empty is no file of results" in refused("--store", "empty")
    assert (tmp_path / "empty").stat().st_size == 0
    assert "is no file of results" in refused("--store", tmp_path)
    (tmp_path / "text").write_text("notes " * 1000)
    assert "file is not a database" in refused("--store", "text")
    with closing(sqlite3.connect("other")) as connection:
        connection.execute("CREATE TABLE mail (subject TEXT)")
    assert "database of another program" in refused("--store", "other")


def test_a_store_without_results(refused, run, tmp_path):
    Store(tmp_path / "pwlr-results.sqlite").add_protocol(NESTED)
    assert "holds no results yet: pwlr reproduce measures some" in refused()
    assert NESTED.run_id in run("--protocols")[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--dataset", "NOPE"), "holds no results that match: pwlr results without a filter lists all"),
        (("--run-id", "0" * 12), "no results that match"),
        (("--protocol", "best"), "--protocol best is not known: choose paper or nested"),
        (("-o", "out.xlsx"), "out.xlsx: what to write is told by the ending: use one of .csv, .json, .md, .tex"),
        (("-o", "nowhere/out.csv"), "the folder nowhere does not exist"),
        (("--units", "--protocols"), "ask for one at a time"),
        (("--protocols", "--dataset", "MUTAG"), "--protocols can be filtered by --protocol and --run-id alone"),
    ],
)
def test_mistakes_end_in_one_sentence(words, says, units, refused, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    assert says in refused(*words)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_help_has_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "Example:  pwlr results" in out
