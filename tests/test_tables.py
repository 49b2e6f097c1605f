"""Which (k1, k2) are run, and which rows a store makes: nothing that was not run, nothing that was not asked for."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from pwlr.errors import OptionError, PwlrError
from pwlr.estimators import PAPER_VARIANTS, SEARCH_GRID
from pwlr.experiments import tables
from pwlr.experiments.evaluate import OURS, k_text
from pwlr.experiments.protocol import MAJORITY, SIZE
from pwlr.experiments.published import PrintedCell, columns, find_column, published_result
from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit
from pwlr.experiments.summary import Figure
from pwlr.experiments.tables import METHODS, QUICK, ResultRow, plan_of, result_rows, study_of

PAPER, NESTED = Spec("paper"), Spec()
SPECS = {"paper": PAPER, "nested": NESTED}
SMALL = [tuple(map(k_text, pair)) for pair in SEARCH_GRID]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results.sqlite")


def add(store, spec, variant, accuracy, *, k=("", ""), column="MUTAG", recipe="plain", repetitions=2, selection=None):
    """Units of whole repetitions with one accuracy."""
    store.add(
        Unit(spec.run_id, column, recipe, variant, *k, repetition, fold, accuracy, selection, 4, 7)
        for repetition in range(repetitions)
        for fold in range(2)
    )


def rows_of(store, specs=SPECS, **options):
    return {row.method: row for row in result_rows(["MUTAG"], "plain", specs, store, **options)}


# -- plans -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [column.name for column in columns()])
def test_printed_takes_the_papers_own_setting(column):
    plan = plan_of(column, PAPER, "printed", 10)
    for variant, pairs in plan.pairs.items():
        cell = published_result(column, variant)
        assert list(pairs) == [(cell.k1, cell.k2)]
    assert set(plan.pairs) == {variant for variant in PAPER_VARIANTS if published_result(column, variant)}
    assert plan.extras == (OURS, SIZE, MAJORITY)


def test_printed_settings_are_not_used_where_they_would_leak():
    """They were chosen on test folds; an honest protocol gets the small grid, which is fixed beforehand."""
    plan = plan_of("MUTAG", NESTED, "printed", 10)
    assert set(plan.pairs) == set(PAPER_VARIANTS)
    assert all(pairs == SEARCH_GRID for pairs in plan.pairs.values())
    assert plan == plan_of("MUTAG", NESTED, "small", 10)
    assert {len(pairs) for pairs in plan.pairs.values()} == {25}


@pytest.mark.parametrize("spec", [PAPER, NESTED])
def test_grids_have_the_size_of_their_name(spec):
    assert {len(pairs) for pairs in plan_of("MUTAG", spec, "small", 1).pairs.values()} == {25}
    full = plan_of("MUTAG", spec, "full", 1)
    assert all(set(pairs) == set(itertools.product(range(30), range(30))) for pairs in full.pairs.values())


def test_methods_can_be_chosen():
    plan = plan_of("MUTAG", PAPER, "printed", 4, ["PWLR-H1", MAJORITY])
    assert list(plan.pairs) == ["PWLR-H1"]
    assert (plan.extras, plan.repetitions, len(plan.pairs["PWLR-H1"])) == ((MAJORITY,), 4, 1)


def test_plans_that_cannot_be_made():
    with pytest.raises(OptionError, match="grid='huge' is not known: choose one of 'printed', 'small', 'full'"):
        plan_of("MUTAG", PAPER, "huge", 1)
    with pytest.raises(OptionError, match="variant 'PWLR-H2' is not known: choose from PWLR-H0"):
        plan_of("MUTAG", PAPER, "printed", 1, ["PWLR-H0", "PWLR-H2"])
    with pytest.raises(OptionError, match="the paper has no column 'NOPE'"):
        plan_of("NOPE", PAPER, "printed", 1)


def test_quick_columns_have_verified_recipes():
    assert {find_column(name).recipe_status for name in QUICK} == {"verified"}


# -- studies -----------------------------------------------------------------------------------------------------------


def test_a_study_is_stored_under_the_columns_name(monkeypatch):
    asked = []
    graphs = tables.load_dataset("MUTAG")
    monkeypatch.setattr(tables, "load_dataset", lambda *words, **options: asked.append((words, options)) or graphs)
    column = find_column("BZR+attributes")
    study = study_of(column, "plain", NESTED, "somewhere")
    assert asked == [(("BZR", "plain"), {"data_dir": "somewhere"})]
    assert (study.dataset, study.recipe, study.node_features) == ("BZR+attributes", "plain", column.node_features)
    assert study.groups is None


def test_a_study_that_cannot_be_split_is_refused():
    with pytest.raises(PwlrError, match="fewer than the 80 folds"):
        study_of(find_column("MUTAG"), "plain", Spec(folds=80))


# -- rows --------------------------------------------------------------------------------------------------------------


def test_what_was_not_run_is_none(store):
    rows = rows_of(store)
    assert all(row.paper is None and row.nested is None and row.difference is None for row in rows.values())
    assert set(rows) == {method for method in METHODS if published_result("MUTAG", method)}  # ours is not printed
    add(store, PAPER, MAJORITY, 0.6)
    rows = rows_of(store)
    assert rows[MAJORITY].paper.mean == pytest.approx(0.6)
    assert (rows[MAJORITY].nested, rows[MAJORITY].printed, rows[MAJORITY].marks) == (None, None, ())
    assert result_rows(["MUTAG"], "as-written", SPECS, store) != list(rows.values())  # recipes do not mix


def test_paper_at_the_printed_setting(store):
    add(store, PAPER, "PWLR-H0", 0.9, k=("1", "12"))
    add(store, PAPER, "PWLR-H0", 1.0, k=("0", "0"))  # of some other run, and better
    row = rows_of(store)["PWLR-H0"]
    assert row.paper.mean == pytest.approx(0.9)
    assert (row.paper.k, row.paper.selected_on_test, row.nested) == (("1", "12"), False, None)
    assert row.printed == published_result("MUTAG", "PWLR-H0")
    assert row.difference == pytest.approx((90 - 89.52) / 0.9)


def test_paper_at_the_best_of_a_grid(store):
    for n, k in enumerate(SMALL):
        add(store, PAPER, "PWLR-H0", 0.5 + n / 100, k=k)
    add(store, PAPER, "PWLR-H0", 1.0, k=("1", "12"))  # printed, not of the small grid
    row = rows_of(store, grid="small")["PWLR-H0"]
    assert (row.paper.k, row.paper.selected_on_test) == (SMALL[-1], True)
    assert row.paper.mean == pytest.approx(0.74)
    assert rows_of(store, grid="printed")["PWLR-H0"].paper.mean == 1.0
    assert rows_of(store, grid="full")["PWLR-H0"].paper is None  # of 900, few are there


def test_nested_chooses_from_its_own_grid(store):
    for n, k in enumerate(SMALL):
        add(store, NESTED, "PWLR-H0", 0.5 + n / 100, k=k, selection=1 - n / 100)
    add(store, NESTED, "PWLR-H0", 1.0, k=("7", "7"), selection=2.0)
    row = rows_of(store)["PWLR-H0"]
    assert (row.nested.mean, row.nested.k, row.nested.selected_on_test) == (0.5, ("*", "*"), False)
    assert (row.paper, row.difference) == (None, None)  # a difference is between equal protocols


def test_a_grid_that_is_not_finished_is_no_figure(store):
    for k in SMALL[:-1]:
        add(store, NESTED, "PWLR-H0", 0.5, k=k, selection=0.5)
    assert rows_of(store)["PWLR-H0"].nested is None
    add(store, NESTED, "PWLR-H0", 0.5, k=SMALL[-1], selection=0.5)
    assert rows_of(store)["PWLR-H0"].nested.mean == 0.5


def test_repetitions_beyond_the_wanted_are_left_aside(store):
    """A run of few repetitions shows the same table on a store that holds more, finished or not."""
    for n, k in enumerate(SMALL):
        add(store, NESTED, "PWLR-H0", 0.5, k=k, selection=0.5, repetitions=2 if n else 5)
    assert rows_of(store, repetitions=2)["PWLR-H0"].nested.repetitions == 2
    assert rows_of(store)["PWLR-H0"].nested.repetitions == 2  # the others knew one k alone
    add(store, PAPER, MAJORITY, 0.6, repetitions=5)
    assert rows_of(store, repetitions=3)[MAJORITY].paper.repetitions == 3
    assert rows_of(store)[MAJORITY].paper.repetitions == 5


@pytest.mark.parametrize("method", [OURS, SIZE, MAJORITY])
def test_what_has_nothing_to_choose_is_shown_under_both(store, method):
    add(store, PAPER, method, 0.6)
    add(store, NESTED, method, 0.7)
    row = rows_of(store)[method]
    assert row.paper.mean == pytest.approx(0.6)
    assert row.nested.mean == pytest.approx(0.7)
    assert row.paper.k == row.nested.k == ("", "")
    assert rows_of(store, {"nested": NESTED})[method].paper is None  # not asked for


def test_marks_are_those_of_the_printed_figure(store):
    marks = {method: row.marks for method, row in rows_of(store).items()}
    assert "float32" in marks["PWLR-H1"]
    assert "selected" in marks["PWLR-H0"]
    assert "not-invariant" in marks["PWLR-OPT-H0"]


def test_difference_needs_both_and_a_deviation():
    figure = Figure(0.9, 0.01, 0.8, 1.0, 10, 10, ("1", "2"))
    cell = PrintedCell(88.0, 0.5, 1, 2)
    row = ResultRow("MUTAG", "PWLR-H0", cell, figure, None, ())
    assert row.difference == pytest.approx(4.0)
    assert replace(row, paper=None, nested=figure).difference is None
    assert replace(row, printed=None).difference is None
    assert replace(row, printed=replace(cell, std=0.0)).difference is None
    assert np.isfinite(row.difference)
