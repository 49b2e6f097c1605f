"""`pwlr reproduce`: what it shows and saves for each table, and that mistakes are told before anything runs."""

import csv
import json
import sys

import pytest

from pwlr.cli import main
from pwlr.experiments import evaluate, tables
from pwlr.experiments.evaluate import OURS
from pwlr.experiments.protocol import MAJORITY, SIZE
from pwlr.experiments.published import columns, published_result
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store

FEW = ("--datasets", "MUTAG", "--variants", f"PWLR-H0,{SIZE},{MAJORITY}", "--folds", "2", "--repetitions", "2")
STORE, FOLDER = "pwlr-results.sqlite", "pwlr-reproduction"


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path, monkeypatch):
    """An empty folder, an empty cache and no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWLR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PWLR_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("PWLR_DATA_DIR", raising=False)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process; return exit code, standard output and standard error."""

    def run(*words, command="reproduce"):
        monkeypatch.setattr(sys, "argv", ["pwlr", command, *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must end in one sentence before anything runs or is made; return the sentence."""

    def refused(*words):
        before = sorted(tmp_path.iterdir())
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err.startswith("pwlr: ")
        assert err.count("\n") == 1
        assert sorted(tmp_path.iterdir()) == before
        return err

    return refused


def strict(text):
    """Read JSON as other languages do: without NaN."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def page_of(tmp_path, table, folder=FOLDER):
    files = {path.suffix: path.read_text(encoding="utf-8") for path in (tmp_path / folder).iterdir()}
    assert sorted(path.name for path in (tmp_path / folder).iterdir()) == [
        f"{table}.html",
        f"{table}.json",
        f"{table}.md",
    ]
    return files


# -- results -----------------------------------------------------------------------------------------------------------


def test_results_of_all_methods(run, tmp_path):
    code, out, err = run("--datasets", "MUTAG", "--folds", "2", "--repetitions", "1")
    assert code == 0
    spec = {name: Spec(name, folds=2) for name in ("paper", "nested")}
    assert "MUTAG, paper: 18 units left, about" in err
    assert "MUTAG, nested: 306 units left, about" in err
    files = page_of(tmp_path, "results")
    rows = {row["method"]: row for row in strict(files[".json"])}
    assert list(rows) == [*evaluate.PAPER_VARIANTS, OURS, SIZE, MAJORITY]
    for method, row in rows.items():
        assert 0.5 < row["nested"]["mean"] < 1
        assert row["paper"]["std"] is None  # one repetition has no deviation, and JSON no NaN
        printed = published_result("MUTAG", method)
        assert row["printed"] == (None if printed is None else row["printed"])
        if printed is not None:
            assert row["printed"]["mean"] == printed.mean
            assert row["paper"]["k"] == [str(printed.k1), str(printed.k2)]
            assert row["difference"] == pytest.approx((100 * row["paper"]["mean"] - printed.mean) / printed.std)
    for text in (out, files[".md"], files[".html"]):
        for word in ("MUTAG", "89.52 ± 0.90", "PWLR-OPT-H0+H1", SIZE, MAJORITY, "float32"):
            assert word in text
    for text in (files[".md"], files[".html"]):
        assert "Command: pwlr reproduce --datasets MUTAG" in text
        assert "isomorphic copies: keep" in text
        assert all(each.run_id in text for each in spec.values())
        assert "selected" in text  # why the printed figure is not honest
    assert "nan" not in out
    assert "results.html, results.md, results.json" in out


def test_results_are_measured_once(run, tmp_path, monkeypatch):
    first = run(*FEW)
    units = list(Store(tmp_path / STORE).units())
    assert len(units) == (3 + 25 + 2) * 4
    files = page_of(tmp_path, "results")
    monkeypatch.setattr(evaluate, "run", lambda *_, **__: pytest.fail("everything is there already"))
    monkeypatch.setattr(evaluate, "estimate", lambda *_, **__: pytest.fail("nothing is left"))
    again = run(*FEW)
    assert (again[0], again[1], again[2]) == (0, first[1], "")
    assert page_of(tmp_path, "results") == files
    assert list(Store(tmp_path / STORE).units()) == units


def test_json_is_all_there_is_on_standard_output(run, tmp_path):
    code, out, err = run(*FEW, "--json", "--protocol", "nested")
    assert code == 0
    assert strict(out) == strict((tmp_path / FOLDER / "results.json").read_text())
    assert all(row["paper"] is None and row["difference"] is None for row in strict(out))
    assert {row["method"] for row in strict(out) if row["nested"]} == {"PWLR-H0", SIZE, MAJORITY}
    assert "MUTAG, nested" in err


def test_the_table_does_not_depend_on_what_else_the_store_holds(run, tmp_path):
    """Fewer repetitions, another grid, other seeds and twins first: the same table."""
    fewer = (*FEW[:-1], "1", "--protocol", "paper")
    assert run(*FEW, "--protocol", "paper", "--grid", "small")[0] == 0
    assert run(*fewer, "--seed", "3")[0] == 0
    assert run(*fewer, "--twins", "drop", "-o", "dropped")[0] == 0
    for grid in ("small", "printed"):
        assert run(*fewer, "--grid", grid, "-o", "here")[0] == 0
        assert run(*fewer, "--grid", grid, "-o", "alone", "--store", f"{grid}.sqlite")[0] == 0
        here, alone = (page_of(tmp_path, "results", folder)[".json"] for folder in ("here", "alone"))
        assert here == alone
    assert "isomorphic copies: drop" in (tmp_path / "dropped" / "results.md").read_text()


def test_best_of_a_grid_is_marked(run, tmp_path):
    code, out, _ = run(*FEW, "--grid", "small", "--protocol", "paper")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.lstrip().startswith("PWLR-H0 ")]
    assert "(selected on the test folds)" in line
    (row,) = [row for row in strict(page_of(tmp_path, "results")[".json"]) if row["method"] == "PWLR-H0"]
    assert row["paper"]["selected_on_test"] is True


def test_scikit_learns_forest_gives_the_same_table(run, tmp_path):
    words = ("--datasets", "MUTAG", "--variants", f"PWLR-H0,{MAJORITY}", "--protocol", "paper", "--folds", "2")
    words += ("--repetitions", "1", "--json")
    fast = run(*words)
    slow = run(*words, "--forest", "sklearn", "--store", "slow.sqlite", "--jobs", "1")
    assert fast[0] == slow[0] == 0
    assert fast[1] == slow[1]


def test_quick_is_three_repetitions_of_three_sets(run, tmp_path, monkeypatch):
    asked = []
    study_of = tables.study_of

    def noted(column, recipe, spec, data_dir):
        asked.append(column.name)
        return study_of(column, recipe, spec, data_dir)

    monkeypatch.setattr(tables, "study_of", noted)
    words = ("--quick", "--variants", f"PWLR-H0,{MAJORITY}", "--folds", "3", "--protocol", "paper")
    code, _, _ = run(*words, "--datasets", "MUTAG")
    assert code == 0
    assert asked == ["MUTAG"]
    assert {unit.repetition for unit in Store(tmp_path / STORE).units()} == {0, 1, 2}
    assert "3 repetitions" in page_of(tmp_path, "results")[".md"]
    # without --datasets it asks for all three; the two that are not built in cannot be had here
    code, _, err = run(*words)
    assert code == 2
    assert asked[1:3] == ["MUTAG", "PTC_FR"]
    assert "PTC_FR" in err.splitlines()[-1]
    assert tables.QUICK == ("MUTAG", "PTC_FR", "BZR_MD")


def test_the_listing_reads_what_was_measured(run):
    assert run(*FEW)[0] == 0
    code, _, _ = run("-o", "out.csv", command="results")
    assert code == 0
    with open("out.csv", encoding="utf-8", newline="") as file:  # noqa: PTH123
        lines = list(csv.DictReader(file))
    assert len(lines) == 3 + 25 + 2
    assert {line["repetitions"] for line in lines} == {"2"}


# -- the other tables --------------------------------------------------------------------------------------------------


def test_dimensions(run, tmp_path):
    code, out, err = run("--table", "dimensions", "--datasets", "MUTAG")
    assert (code, err) == (0, "")
    files = page_of(tmp_path, "dimensions")
    records = strict(files[".json"])
    assert {record["dataset"] for record in records} == {"MUTAG"}
    both = [record for record in records if record["printed"] is not None and record["computed"] is not None]
    assert len(both) >= 5
    assert any(record["computed"] == record["printed"] for record in both)
    assert "typed at multiscale k, ours" in out
    assert "| quantity | printed | computed |" in files[".md"]


def test_example(run, tmp_path):
    code, out, err = run("--table", "example")
    assert (code, err) == (0, "")
    records = strict(page_of(tmp_path, "example")[".json"])
    assert "Worked example, k1 = 0" in out
    assert any(record["note"] for record in records)  # the degree pair that is misprinted
    assert {"numpy", "numba"} <= set(records[0]["computed"])
    assert {"inf", 0, 6} <= {record["k2"] for record in records}  # JSON has no infinity


def test_timing(run, tmp_path, monkeypatch):
    from pwlr.experiments import timing

    times = timing.timing_table
    monkeypatch.setattr(timing, "timing_table", lambda graphs, **_: times(graphs[:20], plain_grid=False, repeats=1))
    code, out, err = run("--table", "timing", "--json")
    assert (code, err) == (0, "")
    records = strict(out)
    assert records == strict(page_of(tmp_path, "timing")[".json"])
    assert {record["dataset"] for record in records} == {"MUTAG"}
    assert all(record["ours_seconds"] > 0 for record in records)


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--table", "figures"), "--table figures is not known: choose one of results, "),
        (("--datasets", "NOPE"), "the paper has no column 'NOPE': choose one of MUTAG"),
        (("--datasets", "MUTAG,"), "the paper has no column ''"),
        (("--recipe", "mine"), "--recipe mine is not known: choose one of plain, as-written, as-published"),
        (("--protocol", "best"), "protocol='best' is not known: choose one of 'paper', 'nested'"),
        (("--variants", "PWLR-H7"), "variant 'PWLR-H7' is not known: choose from PWLR-H0"),
        (("--grid", "huge"), "grid='huge' is not known"),
        (("--folds", "1"), "1 folds cannot hold anything out"),
        (("--twins", "eat"), "twins='eat' is not known: choose one of 'keep', 'group', 'drop'"),
        (("--forest", "boosted"), "--forest boosted is not known: choose auto or sklearn"),
        (("--jobs", "0"), "n_jobs=0"),
        (("--seed", str(2**32)), "is out of range"),
        (("--seed", str(2**32 - 5)), "is out of range"),
        (("--table", "dimensions", "--datasets", "NOPE"), "NOPE"),
        (("--table", "dimensions", "--datasets", "MUTAG", "--recipe", "mine"), "recipe='mine' is not known"),
        (("--table", "timing", "--datasets", "NOPE"), "NOPE"),
    ],
)
def test_mistakes_are_told_before_anything_runs(words, says, refused, monkeypatch):
    monkeypatch.setattr(evaluate, "run", lambda *_, **__: pytest.fail("it ran"))
    assert says in refused(*words)


def test_an_output_that_is_a_file_is_told_at_once(refused, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate, "run", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "page").write_text("here")
    assert "page is a file: name a folder" in refused("--datasets", "MUTAG", "-o", "page")


@pytest.mark.parametrize("words", [("--repetitions", "0"), ("--seed", "-1"), ("--no-such-option",)])
def test_what_typer_refuses(words, run, tmp_path):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_none(run, tmp_path):
    (tmp_path / "notes").write_text("notes " * 1000)
    code, out, err = run(*FEW, "--store", "notes")
    assert (code, out) == (2, "")
    assert "file is not a database" in err
    assert err.count("\n") == 1
    assert (tmp_path / "notes").read_text() == "notes " * 1000


def test_more_folds_than_a_class_has_graphs(run):
    code, _, err = run("--datasets", "MUTAG", "--folds", "64")
    assert code == 2
    assert "has 63 graphs, fewer than the 64 folds: use at most 63 folds" in err


def test_every_column_can_be_named(run):
    """Columns are separated by commas, so none may have one in its name."""
    assert not any("," in column.name for column in columns())


def test_help_has_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "Example:  pwlr reproduce --quick" in out
