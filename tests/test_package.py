"""The package as a whole: its names, what importing it costs, its documentation, and what the repository holds."""

import ast
import doctest
import importlib
import inspect
import itertools
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import pwlr

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(pwlr.__file__).parent
HEAVY = ("numba", "sklearn", "matplotlib", "pandas", "scipy", "pooch", "pyarrow", "typer", "rich", "joblib")


def modules() -> list[str]:
    found = [info.name for info in pkgutil.walk_packages([str(SOURCE)], "pwlr.")]
    return ["pwlr", *(name for name in found if not name.endswith("__main__"))]


def in_a_process(code: str, **environment: str) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


# -- names -------------------------------------------------------------------------------------------------------------


def test_all_public_names_can_be_imported():
    assert len(set(pwlr.__all__)) == len(pwlr.__all__)
    for name in pwlr.__all__:
        assert getattr(pwlr, name) is not None
    assert set(pwlr.__all__) - {"__version__"} <= set(dir(pwlr))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = pwlr.no_such_name


def test_the_names_people_type():
    promised = {
        "GraphBatch",
        "PAPER_VARIANTS",
        "PWLRClassifier",
        "PWLRTransformer",
        "embed_grid",
        "load_dataset",
        "persistence",
        "__version__",
    }
    assert promised <= set(pwlr.__all__)
    assert {name for name in vars(pwlr.errors) if name.endswith(("Error", "Warning"))} <= set(pwlr.__all__)


@pytest.mark.parametrize("name", modules())
def test_every_name_in_all_is_there(name):
    module = importlib.import_module(name)
    for exported in getattr(module, "__all__", []):
        assert hasattr(module, exported)


def test_errors_are_what_people_catch():
    for name in pwlr.errors.__all__:
        error = getattr(pwlr, name)
        assert issubclass(error, pwlr.PwlrError | pwlr.PwlrWarning)
    for error in (pwlr.GraphFormatError, pwlr.OptionError, pwlr.DatasetError, pwlr.UnseenError):
        assert issubclass(error, ValueError)
    assert issubclass(pwlr.MissingExtraError, ImportError)


def test_a_missing_library_survives_pickling():
    import pickle

    error = pwlr.MissingExtraError("rdkit", "chem", "reading SMILES")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == 'reading SMILES needs rdkit, which is not installed: pip install "pwlr[chem]"'
    assert (again.library, again.extra, again.purpose) == ("rdkit", "chem", "reading SMILES")


# -- what an import loads ----------------------------------------------------------------------------------------------


def test_importing_pwlr_loads_nothing_heavy():
    loaded = in_a_process("import sys, pwlr; pwlr.__version__; print(*sys.modules)").split()
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, "numpy"}


@pytest.mark.parametrize(
    ("use", "without"),
    [
        ("pwlr.GraphBatch", ("numba", "sklearn", "matplotlib", "pandas", "pyarrow", "typer", "networkx", "igraph")),
        ("pwlr.load_dataset('MUTAG')", ("numba", "sklearn", "matplotlib", "pandas", "pyarrow", "typer", "pooch")),
        ("pwlr.persistence", ("numba", "sklearn", "matplotlib", "pandas", "pyarrow", "typer", "pooch")),
        ("pwlr.PWLRTransformer", ("numba", "matplotlib", "typer", "pooch")),
    ],
)
def test_what_is_used_is_what_is_loaded(use, without):
    loaded = in_a_process(f"import sys, pwlr; {use}; print(*sys.modules)").split()
    assert not {name.partition(".")[0] for name in loaded} & set(without)


HELP = """
import sys
from pwlr.cli import main
sys.argv = ["pwlr", *{words!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print("LOADED", *sys.modules)
"""


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["classify", "--help"], ["embed", "--help"]], ids=" ".join
)
def test_help_loads_nothing_that_computes(words):
    loaded = in_a_process(HELP.format(words=words)).partition("LOADED")[2].split()
    assert not {name.partition(".")[0] for name in loaded} & {"numpy", *HEAVY} - {"typer", "rich"}


def test_everything_can_be_imported_at_once():
    names = in_a_process("import pwlr; print(*sorted(set(vars(pwlr)) & set(pwlr.__all__)))", EAGER_IMPORT="1").split()
    assert names == sorted(pwlr.__all__)


EACH_FIRST = """
import importlib, sys
for name in {names!r}:
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "pwlr"]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""


def test_every_module_can_be_imported_first():
    """No circle of imports is hidden by the order in which others import."""
    in_a_process(EACH_FIRST.format(names=modules()))


def test_importing_touches_no_global_state():
    code = """
import os, random, threading
import numpy as np, sklearn.ensemble, matplotlib.figure, numba, typer  # what they do is theirs
def state():
    return dict(os.environ), threading.active_count(), random.getstate(), str(np.random.get_state()), np.geterr()
before = state(), np.get_printoptions()
import pwlr.estimators, pwlr.backends.numba_cpu, pwlr.viz.plots, pwlr.cli, pwlr.datasets, pwlr.experiments.protocol
assert (state(), np.get_printoptions()) == before
"""
    in_a_process(code)


def test_types_are_shipped():
    assert (SOURCE / "py.typed").is_file()
    stub = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    imported = {alias.asname or alias.name for line in lines for alias in line.names}
    assert imported | {"__version__"} == set(pwlr.__all__)


def test_the_version_is_the_installed_one():
    from importlib.metadata import version

    assert pwlr.__version__ == version("pwlr")


# -- documentation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", modules())
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip()
    for exported in getattr(module, "__all__", []):
        thing = getattr(module, exported)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        assert (thing.__doc__ or "").strip(), exported
        if inspect.isclass(thing) and thing.__module__.startswith("pwlr"):
            for attribute, member in vars(thing).items():
                if inspect.isfunction(member) and not attribute.startswith("_"):
                    assert (inspect.getdoc(member) or "").strip(), f"{exported}.{attribute}"


def examples(name: str) -> list[doctest.DocTest]:
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder().find(module) if test.examples]


WITH_EXAMPLES = [name for name in modules() if examples(name)]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_the_documentation(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    ran = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    assert ran.attempted > 0
    assert ran.failed == 0


def test_what_people_use_has_an_example():
    for thing in (
        pwlr.PWLRTransformer,
        pwlr.PWLRClassifier,
        pwlr.load_dataset,
        pwlr.embed_grid,
        pwlr.persistence,
        pwlr.GraphBatch.from_edges,
    ):
        assert ">>> " in inspect.getdoc(thing), thing


def parameters_of(text: str) -> list[str]:
    """Names under "Parameters" of a docstring in NumPy's style."""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z][A-Za-z ]+\n-+|\Z)", text, re.DOTALL)
    heads = re.findall(r"^([A-Za-z_][\w, ]*?)(?: :.*)?$", section[1], re.MULTILINE) if section else []
    return [name.strip() for head in heads for name in head.split(",")]


@pytest.mark.parametrize(
    "thing",
    [pwlr.PWLRTransformer, pwlr.load_dataset, pwlr.embed_grid, pwlr.persistence],
    ids=lambda thing: thing.__name__,
)
def test_every_parameter_is_documented(thing):
    assert set(inspect.signature(thing).parameters) == set(parameters_of(inspect.getdoc(thing)))


def test_the_classifier_documents_what_differs():
    transformer, classifier = (
        set(inspect.signature(thing).parameters) for thing in (pwlr.PWLRTransformer, pwlr.PWLRClassifier)
    )
    documented = set(parameters_of(inspect.getdoc(pwlr.PWLRClassifier)))
    assert documented >= classifier - transformer
    assert documented <= classifier


# -- the repository ----------------------------------------------------------------------------------------------------


def tracked_files() -> list[Path]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


# The folders of the machines where this was written; put together here, so that this file does not name them itself.
MACHINE_PATH = re.compile("|".join(["/" + "work/", "/" + "home/[a-z]", "/" + "Users/[a-z]", "/" + "root/"]))


def test_no_tracked_file_names_a_folder_of_one_machine():
    named = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        named += [
            f"{path.relative_to(ROOT)}:{number}"
            for number, line in enumerate(text.splitlines(), start=1)
            if MACHINE_PATH.search(line)
        ]
    assert named == []


def test_tracked_files_are_small():
    large = [f"{path.relative_to(ROOT)}" for path in tracked_files() if path.stat().st_size > 1_000_000]
    assert large == []


def test_the_changelog_tells_of_changed_numbers_first():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    headings = [line for line in lines if line.startswith("#")]
    assert headings[0] == "# Changelog"
    assert headings[1].startswith(f"## {pwlr.__version__}")
    for heading, following in itertools.pairwise(headings):
        if heading.startswith("## "):
            assert following == "### Changed numbers"


def test_files_that_a_project_has():
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml"):
        assert (ROOT / name).stat().st_size > 100, name
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_no_module_leaves_a_warning_filter(recwarn):
    before = list(warnings.filters)
    for name in modules():
        importlib.import_module(name)
    assert [entry for entry in warnings.filters if entry not in before] == []
