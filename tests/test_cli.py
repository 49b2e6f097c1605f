"""The commands, from the words on the command line to the files and the exit code."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.parquet
import pytest
from matplotlib import image

import pwlr
from pwlr import GraphBatch, PWLRTransformer
from pwlr.cli import common, main
from pwlr.experiments import protocol
from pwlr.io.tu import write_tu

COMMANDS = ("classify", "embed", "datasets", "doctor")
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path, monkeypatch):
    """Every command starts in an empty folder, with an empty cache and no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWLR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PWLR_DATA_URL", NOWHERE)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("PWLR_DATA_DIR", raising=False)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process; return exit code, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["pwlr", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def refused(run):
    """Run a command that must end in one sentence and exit code 2; return the sentence."""

    def refused(*words):
        code, out, err = run(*words)
        assert code == 2
        assert out == ""
        assert err.startswith("pwlr: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err

    return refused


@pytest.fixture
def few_trees(monkeypatch):
    """Smaller forests, where a test does not look at how good they are."""
    methods = protocol.methods_to_compare

    def smaller(*arguments, **options):
        found = methods(*arguments, **options)
        return {
            name: method.set_params(n_estimators=40) if hasattr(method, "n_estimators") else method
            for name, method in found.items()
        }

    monkeypatch.setattr(protocol, "methods_to_compare", smaller)


def outside(*words, **options):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pwlr.cli", *map(str, words)], capture_output=True, text=True, check=False, **options
    )


def toy(folder: Path, *, name: str = "TOY", copies: int = 10, y=(0, 1), graphs=None):
    """Write graphs of two kinds as a TU folder; return the folder."""
    kinds = graphs or [nx.path_graph(4), nx.cycle_graph(4)]
    batch = GraphBatch.from_networkx([*kinds] * copies, y=None if y is None else [*y] * copies)
    return write_tu(batch, folder / name, name=name)


# -- the door ----------------------------------------------------------------------------------------------------------


def test_help_of_pwlr(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(command in out for command in COMMANDS)
    assert "pwlr classify" in out
    assert run("-h")[1] == out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command, run):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"Example:  pwlr {command}" in out
    assert run(command, "-h")[1] == out


def test_no_command_shows_the_help(run):
    code, out, err = run()
    assert code == 2
    assert "Usage" in out + err


def test_version(run):
    assert run("--version") == (0, f"pwlr {pwlr.__version__}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ("explode",),
        ("embed",),
        ("embed", "MUTAG"),
        ("embed", "MUTAG", "-o", "x.csv", "--p", "two"),
        ("embed", "MUTAG", "-o", "x.csv", "--colour", "red"),
        ("classify", "MUTAG", "--folds", "many"),
        ("classify", "MUTAG", "--repetitions", "0"),
        ("classify", "MUTAG", "--seed", "-1"),
        ("classify", "MUTAG", "PTC_MR"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(words, run):
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert "Usage" in err


def test_the_script_and_the_module_are_one(run):
    script = Path(sys.executable).parent / "pwlr"
    said = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == outside("--version").stdout == f"pwlr {pwlr.__version__}\n"


def test_errors_of_a_real_process():
    said = outside("embed", "MUTAG", "-o", "nowhere/x.csv")
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr == "pwlr: the folder nowhere does not exist: make it first, or write somewhere else\n"


def test_what_nobody_foresaw_is_not_hidden(monkeypatch):
    """A bug shows its traceback; only what a user can mend is told in one sentence."""

    def broken(*_):
        raise ZeroDivisionError("bug")

    monkeypatch.setattr(common, "read_input", broken)
    monkeypatch.setattr(sys, "argv", ["pwlr", "embed", "MUTAG", "-o", "x.csv"])
    with pytest.raises(ZeroDivisionError, match="bug"):
        main()


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device"), PermissionError(13, "no")])
def test_errors_of_the_machine(error, refused, monkeypatch):
    def broken(*_):
        raise error

    monkeypatch.setattr(common, "read_input", broken)
    assert len(refused("embed", "MUTAG", "-o", "x.csv")) > len("pwlr: \n")


def test_ctrl_c(run, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "read_input", stopped)
    code, out, err = run("embed", "MUTAG", "-o", "x.csv")
    assert code == 130  # 128 + SIGINT, as shells have it
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [("datasets", "--json"), ("datasets",), ("doctor", "--json")])
def test_a_reader_that_goes_away(words):
    read, write = os.pipe()
    os.close(read)
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    said = subprocess.run(
        [sys.executable, "-m", "pwlr.cli", *words], stdout=write, stderr=subprocess.PIPE, check=False, env=environment
    )
    os.close(write)
    assert said.stderr == b""
    assert said.returncode in (0, 1, 141)


# -- embed -------------------------------------------------------------------------------------------------------------


def read_back(path: Path) -> tuple[list[str], np.ndarray, list, list]:
    """Names of the columns, vectors, y and graph numbers of a file that was written."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return file["feature_names"].tolist(), file["X"], file["y"].tolist(), file["graph"].tolist()
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        values = np.array(rows, dtype=float)
    else:
        table = pyarrow.parquet.read_table(path)
        names, values = table.column_names, np.column_stack([column.to_numpy() for column in table.columns])
    assert names[:2] == ["graph", "y"]
    return names[2:], values[:, 2:], values[:, 1].tolist(), values[:, 0].tolist()


EMBEDDINGS = {
    "default": ([], {}),
    "one k": (["--k", "1,12"], {"k": (1, 12)}),
    "several k": (["--k", "0,0:inf,2:3,inf"], {"k": [(0, 0), (np.inf, 2), (3, np.inf)]}),
    "the paper's lists": (["--representation", "sorted", "--k", "1,12"], {"representation": "sorted", "k": (1, 12)}),
    "the paper's pairs": (
        ["--representation", "degree-pairs", "--homology", "h1", "--tau", "0.5"],
        {"representation": "degree-pairs", "homology": "h1", "tau": 0.5},
    ),
    "moments": (
        ["--representation", "degree-pairs", "--stats", "moments"],
        {"representation": "degree-pairs", "stats": "moments"},
    ),
    "another filtration": (
        ["--node-features", "degree", "--edge-weights", "max-degree", "--p", "2", "--backend", "numpy"],
        {"node_features": "degree", "edge_weights": "max-degree", "p": 2.0, "backend": "numpy"},
    ),
    "the largest norm": (["--p", "inf", "--jobs", "2"], {"p": np.inf}),
}


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_embed_writes_what_the_transformer_gives(case, run):
    words, options = EMBEDDINGS[case]
    graphs = pwlr.load_dataset("MUTAG")
    transformer = PWLRTransformer(**options)
    X = transformer.fit_transform(graphs)
    for suffix in (".npz", ".csv", ".parquet") if case in ("default", "the paper's lists") else (".csv",):
        path = Path(f"out{suffix}")
        code, out, err = run("embed", "MUTAG", "-o", path, *words)
        assert (code, err) == (0, "")
        assert out == f"{path}: 188 graphs, {X.shape[1]} columns\n"
        names, vectors, y, number = read_back(path)
        assert names == transformer.get_feature_names_out().tolist()
        np.testing.assert_array_equal(vectors, X)
        assert y == graphs.y.tolist()
        assert number == list(range(188))
    assert sorted(path.name for path in Path().iterdir()) == sorted(path.name for path in Path().glob("out.*"))


@pytest.mark.parametrize("recipe", ["plain", "as-written", "as-published"])
def test_embed_knows_the_recipes(recipe, run):
    assert run("embed", "MUTAG", "-o", "x.csv", "--recipe", recipe, "--k", "1,2")[0] == 0
    expected = PWLRTransformer(k=(1, 2)).fit_transform(pwlr.load_dataset("MUTAG", recipe))
    np.testing.assert_array_equal(read_back(Path("x.csv"))[1], expected)


def test_embed_says_what_it_did_in_json(run):
    code, out, err = run("embed", "MUTAG", "-o", "x.npz", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"input": "MUTAG", "output": "x.npz", "graphs": 188, "columns": 472}


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_embed_of_a_folder_without_classes(suffix, run, tmp_path):
    folder = toy(tmp_path, y=None)
    assert run("embed", folder, "-o", f"x{suffix}")[0] == 0
    if suffix == ".npz":
        with np.load("x.npz") as file:
            assert set(file.files) == {"X", "feature_names", "graph"}
    elif suffix == ".csv":
        with Path("x.csv").open(newline="") as file:
            assert next(csv.reader(file))[:2] == ["graph", "nodes[(1)]"]
    else:
        assert "y" not in pyarrow.parquet.read_table("x.parquet").column_names


def test_embed_finds_sets_in_a_data_folder(run, tmp_path, monkeypatch):
    toy(tmp_path / "mine", name="TOY")
    assert run("embed", "TOY", "--data-dir", "mine", "-o", "x.csv")[0] == 0
    monkeypatch.setenv("PWLR_DATA_DIR", "mine")
    assert run("embed", "TOY", "-o", "y.csv")[0] == 0
    assert run("embed", "mine/TOY", "-o", "z.csv")[0] == 0
    assert Path("x.csv").read_bytes() == Path("y.csv").read_bytes() == Path("z.csv").read_bytes()


def test_a_file_of_the_users_that_is_not_what_it_is_called(tmp_path):
    toy(tmp_path / "mine", name="MUTAG")
    said = outside("embed", "MUTAG", "--data-dir", "mine", "-o", "x.csv")
    assert said.returncode == 0
    assert said.stdout.startswith("x.csv: 20 graphs")
    assert "is not the known MUTAG: it has 20 graphs where the catalogue says 188" in said.stderr
    assert ".py" not in said.stderr  # a sentence, not a line of our source
    assert said.stderr.count("\n") == 1


def test_embed_replaces_the_file_of_before(run):
    Path("x.csv").write_text("old")
    assert run("embed", "MUTAG", "-o", "x.csv")[0] == 0
    assert len(read_back(Path("x.csv"))[2]) == 188


def test_permissions_are_those_of_a_plain_write(run):
    assert run("embed", "MUTAG", "-o", "x.csv")[0] == 0
    Path("plain").write_text("")
    assert Path("x.csv").stat().st_mode == Path("plain").stat().st_mode


WRITERS = {".npz": "numpy.savez_compressed", ".csv": "csv.writer", ".parquet": "pyarrow.parquet.write_table"}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError("a bug")])
def test_a_write_that_fails_leaves_no_half_file(suffix, error, run, monkeypatch):
    old = Path(f"x{suffix}")
    old.write_text("what was there before")

    def fails(*arguments, **_):
        where = next((part for part in arguments if hasattr(part, "write")), None)
        if where is None:
            Path(arguments[-1]).write_bytes(b"half")
        else:
            where.write("half" if suffix == ".csv" else b"half")
        raise error

    monkeypatch.setattr(WRITERS[suffix], fails)
    if isinstance(error, OSError):
        code, out, err = run("embed", "MUTAG", "-o", old)
        assert (code, out) == (2, "")
        assert "No space left on device" in err
    else:
        monkeypatch.setattr(sys, "argv", ["pwlr", "embed", "MUTAG", "-o", str(old)])
        with pytest.raises(ZeroDivisionError):
            main()
    assert old.read_text() == "what was there before"
    assert [path.name for path in Path().iterdir()] == [old.name]


@pytest.mark.parametrize("name", ["x.txt", "x", ".csv", "x.csv.gz", "x.json", ""])
def test_unknown_formats_are_refused(name, refused):
    assert ".npz, .csv, .parquet" in refused("embed", "MUTAG", "-o", name)


def test_formats_are_known_by_any_case(run):
    assert run("embed", "MUTAG", "-o", "X.CSV")[0] == 0


def test_output_that_cannot_be_written(refused, monkeypatch, tmp_path):
    Path("file").write_text("")
    Path("folder.csv").mkdir()
    assert "folder nowhere does not exist" in refused("embed", "MUTAG", "-o", "nowhere/x.csv")
    assert "file" in refused("embed", "MUTAG", "-o", "file/x.csv")
    assert "folder.csv is a folder" in refused("embed", "MUTAG", "-o", "folder.csv")

    def no(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", no)
    assert "cannot write to the folder .: Permission denied" in refused("embed", "MUTAG", "-o", "x.csv")
    assert not Path("x.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--k", "banana"], "--k banana is not understood: give multiscale, a pair like 1,12"),
        (["--k", "1"], "--k 1 is not understood"),
        (["--k", "1,2,3"], "--k 1,2,3 is not understood"),
        (["--k", "1.5,2"], "--k 1.5,2 is not understood"),
        (["--k", ""], "is not understood"),
        (["--k=-1,2"], "k1=-1 is not a number of steps"),
        (["--k", "1,2:1,2"], "names a pair twice"),
        (["--k", "search"], "--k search is not understood: give multiscale, a pair"),
        (["--representation", "opt"], "representation='opt' is not known: choose one of 'typed'"),
        (["--homology", "h2"], "homology='h2' is not known"),
        (["--stats", "mean"], "stats='mean' is not known"),
        (["--representation", "sorted", "--stats", "moments"], "stats='moments' does not go with"),
        (["--node-features", "colour"], "node_features='colour' is not known"),
        (["--node-features", "attributes"], "needs node attributes, but the graphs have none"),
        (["--edge-weights", "heavy"], "edge_weights='heavy' is not known"),
        (["--edge-weights", "attribute"], "need edge attributes, but the graphs have none"),
        (["--edge-weights", "label"], "edge .* has weight 0.0 by edge_weights='label'"),
        (["--p", "0.5"], "p=0.5 is not a norm"),
        (["--p", "nan"], "p=nan is not a norm"),
        (["--tau", "nan"], "tau=nan must be a finite number"),
        (["--recipe", "secret"], "recipe='secret' is not known: choose one of 'plain'"),
        (["--data-dir", "nowhere"], "data_dir 'nowhere' is not a folder"),
        (["--backend", "gpu"], "backend='gpu' is not known: choose one of 'auto'"),
        (["--jobs", "0"], "jobs"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_bad_options_are_refused_in_one_sentence(words, said, refused):
    assert re.search(said, refused("embed", "MUTAG", "-o", "x.csv", *words))
    assert not Path("x.csv").exists()


# -- input -------------------------------------------------------------------------------------------------------------


def test_unknown_data_sets(refused):
    said = refused("embed", "MUTAGG", "-o", "x.csv")
    assert "'MUTAGG' is not on this machine (did you mean MUTAG?)" in said
    assert "could not be downloaded" in said
    assert "did you mean PROTEINS" in refused("classify", "proteins")
    assert "neither an existing folder or zip" in refused("embed", "./nothing", "-o", "x.csv")
    assert "neither an existing folder or zip" in refused("embed", "", "-o", "x.csv")
    assert not Path("pwlr-report").exists()


def test_broken_input(refused, tmp_path):
    Path("broken.zip").write_bytes(b"PK\x03\x04 this is no zip")
    assert "broken.zip is not an intact zip archive" in refused("embed", "broken.zip", "-o", "x.csv")
    Path("empty").mkdir()
    assert "holds no data set in the TU format" in refused("classify", "empty")
    Path("notes.txt").write_text("hello")
    assert "notes.txt" in refused("embed", "notes.txt", "-o", "x.csv")
    folder = toy(tmp_path)
    (folder / "TOY_A.txt").write_text("1, 2\n2, 1\n1, 99\n99, 1\n")
    assert "TOY_A.txt line 3" in refused("embed", folder, "-o", "x.csv")


def test_a_set_without_graphs(refused, tmp_path):
    folder = tmp_path / "NONE"
    folder.mkdir()
    for part in ("A", "graph_indicator", "graph_labels"):
        (folder / f"NONE_{part}.txt").write_text("")
    assert "holds no graphs" in refused("embed", folder, "-o", "x.csv")
    assert "graph" in refused("classify", folder)


# -- classify ----------------------------------------------------------------------------------------------------------


def test_classify(run, tmp_path, few_trees):
    folder = toy(tmp_path)
    code, out, err = run("classify", folder, "--no-variants", "--folds", "5", "-o", "report")
    assert (code, err) == (0, "")
    assert "PWLRClassifier" in out
    assert "number of nodes and edges" in out
    assert "majority class" in out
    assert "100.0" in out
    assert "50.0" in out
    assert "report/results.json" in out
    assert sorted(path.name for path in Path("report").iterdir()) == ["accuracy.png", "importance.png", "results.json"]
    for name in ("accuracy.png", "importance.png"):
        picture = image.imread(Path("report", name))
        assert picture.shape[0] > 100
        assert picture.std() > 0  # something is drawn
    record = json.loads(Path("report/results.json").read_text())
    assert record["command"].startswith("pwlr classify ")
    assert record["data_set"] == {"name": "TOY", "graphs": 20, "nodes": 80, "edges": 70}
    assert record["settings"] == {"k": "multiscale", "recipe": "plain", "folds": 5, "repetitions": 1, "seed": 0}
    assert record["versions"]["pwlr"] == pwlr.__version__
    assert [score["method"] for score in record["scores"]] == ["PWLRClassifier", *reversed(protocol.BASELINES)]
    assert len(record["folds"]) == 15
    assert {score["method"]: score["mean"] for score in record["scores"]} == {
        "PWLRClassifier": 1.0,
        "number of nodes and edges": 1.0,
        "majority class": 0.5,
    }


def test_classify_is_the_protocol(run, few_trees):
    code, out, _ = run(
        "classify",
        "MUTAG",
        "--no-variants",
        "--folds",
        "2",
        "--repetitions",
        "2",
        "--seed",
        "3",
        "--k",
        "0,1",
        "--json",
    )
    assert code == 0
    record = json.loads(out)
    graphs = pwlr.load_dataset("MUTAG")
    methods = protocol.methods_to_compare((0, 1), variants=False, random_state=3)
    results = protocol.run_folds(graphs, methods, n_folds=2, repetitions=2, seed=3)
    assert [fold["accuracy"] for fold in record["folds"]] == [result.accuracy for result in results]
    assert [score["mean"] for score in record["scores"]] == [score.mean for score in protocol.summarize(results)]
    assert record["report"] == str(Path("pwlr-report/MUTAG"))
    assert json.loads(Path(record["report"], "results.json").read_text()) == {
        key: value for key, value in record.items() if key != "report"
    }


def test_classify_with_the_papers_variants(run, tmp_path, few_trees):
    folder = toy(tmp_path, copies=4)
    code, out, _ = run("classify", folder, "--folds", "2", "--json")
    assert code == 0
    methods = [score["method"] for score in json.loads(out)["scores"]]
    assert methods == ["PWLRClassifier", *pwlr.PAPER_VARIANTS, *reversed(protocol.BASELINES)]


def test_classify_chooses_k_inside_each_fold(run, tmp_path, few_trees, monkeypatch):
    monkeypatch.setattr("pwlr.estimators.SEARCH_GRID", ((0, 0), (0, 1)))
    folder = toy(tmp_path, copies=6)
    code, out, err = run("classify", folder, "--no-variants", "--folds", "2", "--k", "search", "-o", "report", "--json")
    assert (code, err) == (0, "")
    ours = [fold for fold in json.loads(out)["folds"] if fold["method"] == "PWLRClassifier"]
    assert [fold["chosen"]["k"] for fold in ours] == [[0, 0]] * 2  # all tie, and the smallest is taken
    assert (
        "chosen inside each training part"
        in run("classify", folder, "--no-variants", "--folds", "2", "--k", "search", "-o", "report")[1]
    )


def test_classify_of_trees_with_the_papers_variants(run, tmp_path, few_trees):
    """Trees have no cycles: PWLR-H1 has no column, and says no more than the majority."""
    folder = toy(tmp_path, copies=4, graphs=(nx.path_graph(5), nx.star_graph(4)))
    code, out, _ = run("classify", folder, "--folds", "2", "--json")
    assert code == 0
    scores = {score["method"]: score["mean"] for score in json.loads(out)["scores"]}
    assert scores["PWLRClassifier"] == 1
    assert scores["PWLR-H1"] == scores["majority class"] == 0.5


def test_classify_repeats_itself(run, tmp_path, few_trees):
    folder = toy(tmp_path)
    words = ("classify", folder, "--no-variants", "--folds", "4", "--json")
    first, again, threads = (json.loads(run(*words, *more)[1]) for more in ((), (), ("--jobs", "1")))
    assert first == again
    assert first["folds"] == threads["folds"]


def test_classify_what_cannot_be_classified(refused, tmp_path):
    assert "there is nothing to tell apart" in refused("classify", toy(tmp_path, name="ONE", y=(1, 1)))
    assert "graph_labels.txt" in refused("classify", toy(tmp_path, name="BARE", y=None))
    assert "at most 3 folds" in refused("classify", toy(tmp_path, name="FEW", copies=3))
    assert "folds=1 cannot hold anything out" in refused("classify", "MUTAG", "--folds", "1")
    single = GraphBatch.from_networkx([nx.path_graph(3)] * 5, y=[0, 0, 0, 0, 1])
    write_tu(single, tmp_path / "SINGLE", name="SINGLE")
    assert "one graph cannot be held out" in refused("classify", "SINGLE", "--folds", "2")
    measured = GraphBatch.from_networkx([nx.path_graph(3)] * 50, y=np.linspace(0.1, 1, 50))
    write_tu(measured, tmp_path / "MEASURED", name="MEASURED")
    assert "that is no set of classes" in refused("classify", "MEASURED", "--folds", "2")
    assert not Path("pwlr-report").exists()


def test_the_table_says_how_k_was_found(run, few_trees, monkeypatch):
    monkeypatch.setattr("pwlr.estimators.SEARCH_GRID", ((0, 0),))
    words = ("classify", "MUTAG", "--no-variants", "--folds", "2")
    assert "2-fold cross-validation; k = multiscale, nothing chosen; recipe plain" in run(*words)[1]
    assert "2 times; k = 1,2, nothing chosen" in run(*words, "--k", "1,2", "--repetitions", "2")[1]
    assert "chosen inside each training part" in run(*words, "--k", "search", "--recipe", "as-written")[1]


@pytest.mark.parametrize(
    "words",
    [("--k", "fast"), ("--jobs", "0"), ("--seed", str(2**32)), ("--seed", str(2**32 - 1), "--repetitions", "2")],
    ids=" ".join,
)
def test_bad_options_of_classify(words, refused):
    refused("classify", "MUTAG", "--no-variants", "--folds", "2", *words)
    assert not Path("pwlr-report").exists()


def test_a_report_folder_that_cannot_be(refused):
    Path("file").write_text("")
    words = ("classify", "MUTAG", "--no-variants", "--folds", "2", "-o")
    assert "file is a file" in refused(*words, "file")
    assert "cannot make the folder file/report" in refused(*words, "file/report")


# -- datasets and doctor -----------------------------------------------------------------------------------------------


def test_datasets(run, tmp_path):
    toy(tmp_path / "mine")
    code, out, err = run("datasets", "--data-dir", "mine")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 1 + len(pwlr.datasets.available_datasets()) + 1
    assert [line.split()[0] for line in lines[1:]] == [*pwlr.datasets.available_datasets(), "TOY"]
    assert lines[1].split() == ["MUTAG", "188", "3,371", "3,721", "7", "-", "2", "built", "in"]
    assert "mine/TOY" in lines[-1]


def test_datasets_in_json(run, tmp_path):
    toy(tmp_path / "mine")
    code, out, err = run("datasets", "--json", "--data-dir", "mine")
    assert (code, err) == (0, "")
    records = {record["name"]: record for record in json.loads(out)}
    assert list(records) == [*pwlr.datasets.available_datasets(), "TOY"]
    assert records["MUTAG"]["found_in"] == "built in"
    assert records["MUTAG"]["content"]["graphs"] == 188
    assert records["DD"]["found_in"] is None
    assert records["TOY"]["found_in"].endswith("TOY")
    (alone,) = json.loads(run("datasets", "MUTAG", "--json")[1])
    assert alone == records["MUTAG"]


def test_one_data_set(run, refused):
    code, out, err = run("datasets", "MUTAG")
    assert (code, err) == (0, "")
    assert "188 graphs, 3,371 nodes, 3,721 edges, 2 classes" in out
    assert "0 C, 1 N, 2 O" in out
    assert "Debnath" in out
    assert "found: built in" in out
    assert "not on this machine" in run("datasets", "DD")[1]
    assert "did you mean PROTEINS" in refused("datasets", "proteins")
    assert "is not a folder" in refused("datasets", "--data-dir", "nowhere")


def test_doctor(run, tmp_path):
    toy(tmp_path / "mine")
    code, out, err = run("doctor", "--json", "--data-dir", "mine")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["versions"]["pwlr"] == pwlr.__version__
    assert report["versions"]["numpy"] == np.__version__
    assert report["threads"]["cores"] == os.cpu_count()
    assert all(backend["works"] for backend in report["backends"].values())
    assert set(report["backends"]) == {"numpy", "numba"}
    assert report["extras"]["networkx"] is True
    assert report["data"]["MUTAG"] == "built in"
    assert report["data"]["TOY"].endswith("TOY")
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    assert "backend numba: works" in out
    assert "MUTAG" in out


def test_doctor_tells_of_a_broken_backend(run, monkeypatch):
    def broken(*_, **__):
        raise ImportError("numba is broken here")

    monkeypatch.setattr("pwlr.backends.numba_cpu.rows", broken)
    code, out, _ = run("doctor", "--json")
    assert code == 0  # NumPy goes on
    report = json.loads(out)
    assert report["backends"]["numba"]["works"] is False
    assert "numba is broken here" in report["backends"]["numba"]["problem"]
    assert "FAILS ImportError: numba is broken here" in run("doctor")[1]


# -- what commands share -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "k"),
    [
        ("multiscale", "multiscale"),
        ("1,12", (1, 12)),
        ("0,0:1,1:4,4", [(0, 0), (1, 1), (4, 4)]),
        ("inf,0", (np.inf, 0)),
        (" 1 , infinity ", (1, np.inf)),
    ],
)
def test_k_on_the_command_line(text, k):
    assert common.read_k(text) == k
    assert common.read_k(text, search=True) == k


def test_progress_is_shown_on_a_terminal_alone(capsys):
    with common.progress_bar("working", 3) as advance:
        for _ in range(3):
            advance()
    assert capsys.readouterr() == ("", "")
