"""From units to figures: sums by hand, and choices that must not look at what they are judged by."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from pwlr.experiments.store import Unit
from pwlr.experiments.summary import at_k, best_on_test, cells, chosen_inside, figure_of

K = ("1", "2")


def unit(repetition, fold, accuracy, *, k=K, selection=None, **more):
    values = {"run_id": "run", "dataset": "SET", "recipe": "plain", "variant": "x", "n_test": 4, "n_columns": 7}
    return Unit(
        **{**values, **more},
        k1=k[0],
        k2=k[1],
        repetition=repetition,
        fold=fold,
        accuracy=accuracy,
        selection=selection,
    )


def units(table, **more):
    """Units from a table of accuracies, repetitions by folds."""
    return [unit(r, f, accuracy, **more) for r, row in enumerate(table) for f, accuracy in enumerate(row)]


# -- means, deviations, intervals --------------------------------------------------------------------------------------


def test_figure_by_hand():
    figure = figure_of(units([[0.5, 0.7], [0.8, 1.0]]), K)
    assert figure.mean == pytest.approx(0.75)
    # repetitions have 0.6 and 0.9: deviations 0.15, divided by 2 as the paper does
    assert figure.std == pytest.approx(0.15)
    assert (figure.repetitions, figure.folds, figure.k, figure.selected_on_test) == (2, 2, K, False)
    # deviations of folds -0.25, -0.05, 0.05, 0.25: squares sum to 0.13, over 3; a test part is 1/(2 - 1) of its
    # training part; Student's t with 3 degrees of freedom leaves 2.5 % above 3.182446
    half = 3.182446 * math.sqrt((1 / 4 + 1 / 1) * 0.13 / 3)
    assert figure.low == pytest.approx(0.75 - half, rel=1e-4)
    assert figure.high == pytest.approx(0.75 + half, rel=1e-4)


def test_the_interval_does_not_shrink_to_nothing():
    """However often folds are drawn again, the graphs stay the same few."""
    rng = np.random.default_rng(0)
    few, many = (figure_of(units(rng.normal(0.8, 0.1, (repetitions, 10))), K) for repetitions in (2, 200))
    naive = 2 * student.ppf(0.975, 1999) * 0.1 / math.sqrt(2000)
    assert many.high - many.low > 10 * naive
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.1 * math.sqrt(1 / 2000 + 1 / 9), rel=0.1)
    assert few.high - few.low > many.high - many.low


def test_one_repetition_has_no_deviation_and_one_fold_no_interval():
    figure = figure_of(units([[0.5, 1.0]]), K)
    assert figure.mean == 0.75
    assert math.isnan(figure.std)
    assert figure.low < 0.75 < figure.high
    alone = figure_of(units([[0.5]]), K)
    assert all(math.isnan(value) for value in (alone.std, alone.low, alone.high))


def test_nothing_is_no_figure():
    assert figure_of([], K) is None
    assert at_k([], K) is None
    assert best_on_test([]) is None
    assert chosen_inside([]) is None
    assert list(cells([])) == []


def test_incomplete_repetitions_are_left_aside():
    whole = units([[0.5, 0.7], [0.8, 1.0]])
    assert figure_of([*whole, unit(2, 0, 0.0)], K) == figure_of(whole, K)
    assert figure_of([unit(2, 0, 0.0), *whole], K) == figure_of(whole, K)


def test_the_order_of_units_is_nothing():
    some = units([[0.5, 0.7, 0.1], [0.8, 1.0, 0.3]])
    assert all(
        (f := figure_of(order, K)).mean == pytest.approx(figure_of(some, K).mean) and f.repetitions == 2
        for order in itertools.islice(itertools.permutations(some), 0, 720, 37)
    )


# -- at which k --------------------------------------------------------------------------------------------------------


def test_at_k_takes_one_k():
    mixed = units([[0.5, 0.7]]) + units([[0.0, 0.0]], k=("2", "1"))
    assert at_k(mixed, K) == figure_of(units([[0.5, 0.7]]), K)
    assert at_k(mixed, ("7", "7")) is None


def test_best_on_test_is_marked_as_such():
    best = best_on_test(units([[0.5, 0.7]]) + units([[0.9, 0.9]], k=("2", "1")))
    assert (best.mean, best.k, best.selected_on_test) == (0.9, ("2", "1"), True)
    alone = best_on_test(units([[0.5, 0.7]]))
    assert not alone.selected_on_test  # one k is given, not selected


@pytest.mark.parametrize("choose", [best_on_test, chosen_inside])
def test_ties_go_to_the_smaller_k(choose):
    def winner(*ks):
        # the accuracy tells which k was taken; where that is what is compared, all are equal
        order = [0.5] * len(ks) if choose is best_on_test else [0.1 * n for n in range(len(ks))]
        some = [unit(0, fold, order[n], k=k, selection=0.5) for n, k in enumerate(ks) for fold in (0, 1)]
        figure = choose(some)
        return figure.k if choose is best_on_test else ks[round(10 * figure.mean)]

    for ks in itertools.permutations([("10", "0"), ("2", "3"), ("4", "1"), ("inf", "0")]):
        assert winner(*ks) == ("2", "3")  # the smaller sum, then the smaller k1; as numbers, not as text
    assert winner(("inf", "0"), ("0", "9")) == ("0", "9")
    assert winner(("inf", "0"), ("0", "inf")) == ("0", "inf")


def test_best_on_test_compares_equal_repetitions():
    """A killed extension to more repetitions has them for some k alone."""
    extended = units([[0.5, 0.5], [1.0, 1.0]])
    other = units([[0.6, 0.6]], k=("2", "1"))
    best = best_on_test(extended + other)
    assert (best.k, best.mean, best.repetitions) == (("2", "1"), 0.6, 1)


# -- chosen inside -----------------------------------------------------------------------------------------------------


def test_every_fold_takes_its_own_k():
    some = [
        unit(0, 0, 0.1, k=("1", "1"), selection=0.9),
        unit(0, 0, 0.9, k=("2", "2"), selection=0.8),
        unit(0, 1, 1.0, k=("1", "1"), selection=0.2),
        unit(0, 1, 0.3, k=("2", "2"), selection=0.3),
    ]
    figure = chosen_inside(some)
    assert figure.mean == pytest.approx((0.1 + 0.3) / 2)
    assert figure.k == ("*", "*")
    assert not figure.selected_on_test
    assert chosen_inside(some[::2]).k == ("1", "1")  # nothing to choose from


def test_the_choice_never_looks_at_accuracy():
    """Whatever the accuracies, the same units are chosen; so its mean over all their permutations is the plain one."""
    rng = np.random.default_rng(4)
    grid = [(str(k1), str(k2)) for k1 in range(3) for k2 in range(3)]
    some = [unit(r, f, 0.0, k=k, selection=round(rng.random(), 1)) for r in range(3) for f in range(5) for k in grid]

    def taken(accuracy):
        """Which units count: raise one accuracy at a time and see whether the figure moves."""
        marked = [replace(each, accuracy=value) for each, value in zip(some, accuracy, strict=True)]
        base = chosen_inside(marked).mean
        return [
            n
            for n, each in enumerate(marked)
            if abs(
                chosen_inside([*marked[:n], replace(each, accuracy=each.accuracy + 1), *marked[n + 1 :]]).mean - base
            )
            > 1e-9
        ]

    first = taken(np.zeros(len(some)))
    assert len(first) == 15  # one in each fold
    for _ in range(3):
        assert taken(rng.permutation(np.linspace(0, 1, len(some)))) == first
    # accuracies that are best where the selection is worst, and the other way round
    assert taken([-each.selection for each in some]) == first
    assert taken([each.selection for each in some]) == first


def test_baselines_have_nothing_to_choose():
    figure = chosen_inside(units([[0.5, 0.7]], k=("", "")))
    assert (figure.k, figure.mean) == (("", ""), pytest.approx(0.6))


def test_a_fold_that_lacks_a_k_does_not_choose():
    """Else a killed run would mix choices from many k with choices from few."""
    small, large = units([[0.5, 0.5]], k=("1", "1"), selection=0.1), units([[0.9]], k=("2", "2"), selection=0.2)
    assert chosen_inside([*small, *large]).folds == 1
    both = [unit(0, 0, 0.9, k=("2", "2"), selection=0.2), unit(0, 1, 0.7, k=("2", "2"), selection=0.2)]
    more = units([[0.5, 0.5], [0.0, 0.0]], k=("1", "1"), selection=0.1)
    figure = chosen_inside([*more, *both])  # the second repetition knows one k alone
    assert (figure.mean, figure.repetitions, figure.folds) == (pytest.approx(0.8), 1, 2)


# -- cells -------------------------------------------------------------------------------------------------------------


def test_cells_are_summarized_one_by_one():
    some = [
        *units([[0.5, 0.7]], seconds=1800.0),
        *units([[0.1, 0.3]], k=("2", "2"), seconds=0.0),
        *units([[1.0, 1.0]], variant="y", seconds=3600.0),
    ]
    found = list(cells(some))
    assert [(cell.variant, cell.k1, cell.figure.mean, cell.hours) for cell in found] == [
        ("x", "1", pytest.approx(0.6), 1.0),
        ("x", "2", pytest.approx(0.2), 0.0),
        ("y", "1", 1.0, 2.0),
    ]
    assert found[0].figure == figure_of(some[:2], K)
