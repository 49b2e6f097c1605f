"""The worked example as records, and the records of timings; no time is asserted."""

import math

import pytest

from pwlr import load_dataset
from pwlr.errors import OptionError
from pwlr.experiments.example import example_graph, example_table
from pwlr.experiments.timing import time_embedding, time_grid, timing_table


def test_every_printed_digit_is_right():
    table = example_table()
    assert len(table) == 8 * (3 + 1 + 3 + 3)
    assert all(number.agrees for number in table)
    assert {tuple(number.computed) for number in table} == {("numpy", "numba")}
    assert list(dict.fromkeys(number.k2 for number in table)) == [0, 1, 2, 3, 4, 5, 6, math.inf]


def test_the_backends_agree_to_the_last_digits():
    for number in example_table():
        assert number.computed["numpy"] == pytest.approx(number.computed["numba"], rel=1e-13, abs=1e-15)


def test_only_the_degree_pair_of_the_first_edge_is_noted():
    noted = [number for number in example_table() if number.note]
    assert {(number.printed_coordinate, number.coordinate) for number in noted} == {("1,2", "1,3")}
    assert {number.variant for number in noted} == {"PWLR-OPT-H0", "PWLR-OPT-H1"}
    assert all("(1,3)" in number.note for number in noted)
    graph = example_graph()
    assert sorted(graph.degrees[graph.edges[0]].tolist()) == [1, 3]


def test_a_wrong_digit_would_show(monkeypatch):
    from pwlr.experiments import example, published

    printed = published.printed_example()
    first = {**printed["rows"][1], "h0": ["0.142858", *printed["rows"][1]["h0"][1:]]}
    monkeypatch.setattr(example, "printed_example", lambda: {**printed, "rows": [first]})
    wrong = [number for number in example_table(["numpy"]) if not number.agrees]
    assert [(number.k2, number.variant, number.coordinate) for number in wrong] == [(1, "PWLR-H0", "0")]


def test_timings():
    graphs = load_dataset("MUTAG")[:20]
    near, far, grid = timing_table(graphs, [(0, 0), (3, 4)], repeats=2, grid=3)
    assert (near.work, far.work, grid.work) == ("k=(0, 0)", "k=(3, 4)", "grid 3 x 3")
    assert (grid.n_settings, grid.n_graphs, grid.plain_ms, grid.ratio) == (9, 20, None, None)
    assert near.ours_ms == 1000 * near.ours_seconds / 20
    assert near.ratio == near.plain_ms / near.ours_ms
    assert far.repeats == 2
    assert grid.ours_ms == 1000 * grid.ours_seconds / (20 * 9)


def test_timings_of_one_backend_and_of_both_on_a_grid():
    graphs = load_dataset("MUTAG")[:5]
    assert time_embedding(graphs, (0, 1), repeats=1, plain=False).plain_seconds is None
    assert time_grid(graphs, [0, math.inf], [0], plain=True).ratio > 0
    assert len(timing_table(graphs, (0, 0), repeats=1, grid=None)) == 1
    assert timing_table(graphs, (0, 0), repeats=1, grid=2, plain_grid=True)[-1].ratio > 0


def test_nothing_to_time():
    graphs = load_dataset("MUTAG")
    with pytest.raises(OptionError, match="no graphs"):
        time_embedding(graphs[:0], (0, 0))
    with pytest.raises(OptionError, match="repeats=0"):
        time_grid(graphs, repeats=0)
