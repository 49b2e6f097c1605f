"""Layouts: which columns there are, how they are called, what rare and unseen kinds are counted as."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold
from tests.helpers import graph_sets, random_batch, to_batch
from tests.naive import Graph

from pwlr import engine
from pwlr.errors import GraphFormatError, OptionError, UnseenError, UnseenWarning
from pwlr.graphs import GraphBatch
from pwlr.method.diffusion import MULTISCALE
from pwlr.method.kinds import Survey
from pwlr.method.vectors import FeatureLayout, LayoutOptions, parse_k

MOMENTS = ("count", "sum", "sumsq")


def path(*labels, edge_labels=None):
    edges = tuple((v, v + 1) for v in range(len(labels) - 1))
    return Graph(len(labels), edges, node_labels=labels, edge_labels=edge_labels)


def cycle(*labels):
    n = len(labels)
    return Graph(n, tuple(sorted([*((v, v + 1) for v in range(n - 1)), (0, n - 1)])), node_labels=labels)


def fit(graphs, k=(0, 0), **options):
    batch = graphs if isinstance(graphs, GraphBatch) else to_batch(graphs)
    return FeatureLayout.fit(batch, LayoutOptions(pairs=parse_k(k), **options))


def by_name(layout, graph, unseen="error", **choices):
    """The vector of one graph, zeros left out."""
    (vector,) = engine.embed(to_batch([graph]), layout, engine.Filtering(backend="numpy", **choices), unseen=unseen)
    return {name: value for name, value in zip(layout.names, vector.tolist(), strict=True) if value}


# A triangle of C with an O attached; without k2 the heights are 0 inside the triangle and 2 on the way to the O.
KITE = Graph(4, ((0, 1), (0, 2), (1, 2), (2, 3)), node_labels=("C", "C", "C", "O"))


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"representation": "sorted"}, "h0[0] h0[1] h0[2] h1[0]"),
        ({"representation": "sorted", "homology": "h0"}, "h0[0] h0[1] h0[2]"),
        ({"representation": "sorted", "homology": "h1"}, "h1[0]"),
        ({"representation": "degree-pairs"}, "h0[1,3] h0[2,2] h0[2,3] h1[1,3] h1[2,2] h1[2,3]"),
        ({"representation": "degree-pairs", "stats": "sum", "homology": "h1"}, "h1[1,3] h1[2,2] h1[2,3]"),
        (
            {"representation": "degree-pairs", "stats": "moments", "homology": "h0"},
            " ".join(f"h0.{stat}[{pair}]" for pair in ("1,3", "2,2", "2,3") for stat in ("count", "sum", "sumsq")),
        ),
    ],
)
def test_names_of_the_papers_representations(options, names):
    assert fit([KITE], (1, 12), **options).names == [f"{name}@1,12" for name in names.split()]


def test_names_of_typed():
    h0 = [f"h0.{stat}[{kind}]@0,1" for kind in ("O(1)-C(3)", "C(2)-C(2)", "C(2)-C(3)") for stat in MOMENTS]
    h1 = [
        f"h1.{stat}[{kind}]@0,1" for kind in ("C(2)-C(2)", "C(2)-C(3)") for stat in MOMENTS
    ]  # the O hangs on a bridge
    births = ["nodes[O(1)]", "nodes[C(2)]", "nodes[C(3)]"]
    assert fit([KITE], (0, 1)).names == [*births, "nodes", "h0", "h1", *h0, *h1]
    assert fit([KITE], (0, 1), homology="h0").names == [*births, "nodes", "h0", *h0]
    assert fit([KITE], (0, 1), homology="h1").names == ["h1", *h1]


def test_several_k_follow_one_another():
    """Node kinds and totals stand there once."""
    one, other = fit([KITE], (0, 1)), fit([KITE], (math.inf, 3))
    both = fit([KITE], [(0, 1), (np.inf, 3)])
    assert both.names == one.names + other.names[len(other.once) :]
    assert other.names[-1] == "h1.sumsq[C(2)-C(3)]@inf,3"
    assert fit([KITE], "multiscale").options.pairs == MULTISCALE == ((0, 0), (1, 1), (4, 4))


def test_order_of_k_is_kept():
    """Columns come in the order in which the pairs were asked for, not in that of the grid."""
    layout = fit([KITE], [(4, 4), (0, 0)], representation="sorted")
    assert layout.names == [f"{name}@{k}" for k in ("4,4", "0,0") for name in ("h0[0]", "h0[1]", "h0[2]", "h1[0]")]
    (vector,) = engine.embed(to_batch([KITE]), layout, engine.Filtering())
    assert vector[4:].tolist() == [1, 1, 3, 1]


@pytest.mark.parametrize(
    ("node_labels", "edge_labels", "wanted"),
    [
        (None, None, ["nodes[(1)]", "h0.sum[(1)-(1)]@0,0"]),
        ((3, -4), None, ["nodes[-4(1)]", "h0.sum[-4(1)-3(1)]@0,0"]),
        ((3, 3), (2,), ["nodes[3(1)]", "h0.sum[3(1)-3(1):2]@0,0"]),
        ((3, 3), (-2,), ["nodes[3(1)]", "h0.sum[3(1)-3(1):-2]@0,0"]),
        (None, ("double",), ["nodes[(1)]", "h0.sum[(1)-(1):double]@0,0"]),
        (("C", "N"), ("=",), ["nodes[C(1)]", "h0.sum[C(1)-N(1):=]@0,0"]),
        (("a-b", "x"), None, ["nodes['a-b'(1)]", "h0.sum['a-b'(1)-x(1)]@0,0"]),
        (("", "x"), None, ["nodes[''(1)]", "h0.sum[''(1)-x(1)]@0,0"]),
        (("C(2)", "*"), None, ["nodes['*'(1)]", "h0.sum['*'(1)-'C(2)'(1)]@0,0"]),
    ],
)
def test_labels_in_names(node_labels, edge_labels, wanted):
    layout = fit([Graph(2, ((0, 1),), node_labels=node_labels, edge_labels=edge_labels)])
    assert set(wanted) <= set(layout.names)


def test_rare_kinds_in_names():
    bare = Graph(3, ((0, 1), (1, 2)))
    assert "h0.sum[(1)-(2)]@0,0" in fit([bare, bare], min_graphs=2).names
    star = Graph(4, ((0, 1), (0, 2), (0, 3)))
    assert {"nodes[*,rare]", "h0.sum[*-*,rare]@0,0"} <= set(fit([bare, star], min_graphs=2).names)


def test_words_for_integer_labels():
    graph = Graph(3, ((0, 1), (1, 2)), node_labels=(0, 1, 7), edge_labels=(4, 4))
    batch = to_batch([graph], node_label_names={0: "C", 1: "O"}, edge_label_names={4: "double"})
    layout = fit(batch)
    assert layout.once == ("nodes[C(1)]", "nodes[7(1)]", "nodes[O(2)]", "nodes", "h0", "h1")
    assert "h0.sum[C(1)-O(2):double]@0,0" in layout.names
    plain = fit([graph])
    assert plain.n_columns == layout.n_columns
    vectors = [engine.embed(to_batch([graph]), each, engine.Filtering()) for each in (layout, plain)]
    np.testing.assert_array_equal(*vectors)  # words change no number


@pytest.mark.parametrize("words", [{0: "C", 1: "C"}, {0: "1"}, {0: "C", 1: "C", 2: "C#0"}])
def test_names_are_unique_whatever_the_words(words):
    batch = to_batch([Graph(3, ((0, 1), (0, 2), (1, 2)), node_labels=(0, 1, 2))], node_label_names=words)
    names = fit(batch).names
    assert len(set(names)) == len(names)


@settings(settings.get_profile("default"), max_examples=60, derandomize=True)
@given(
    graphs=graph_sets(),
    min_graphs=st.sampled_from([1, 2, "auto"]),
    homology=st.sampled_from(["h0", "h1", "h0+h1"]),
    k=st.sampled_from([(0, 0), "multiscale"]),
)
def test_width_is_the_number_of_names(graphs, min_graphs, homology, k):
    n_pairs = len(parse_k(k))
    for representation, stats in (
        ("sorted", "auto"),
        ("degree-pairs", "sum"),
        ("degree-pairs", "moments"),
        ("typed", "auto"),
    ):
        layout = fit(graphs, k, representation=representation, stats=stats, homology=homology, min_graphs=min_graphs)
        assert layout.n_columns == len(layout.names) == len(set(layout.names))
        assert layout.n_columns == len(layout.once) + n_pairs * len(layout.block)


# -- rare kinds --------------------------------------------------------------------------------------------------------

RARE = [path("C", "C"), path("C", "C"), path("C", "C", "O"), path("N", "N", "C")]
RARE.append(Graph(4, ((0, 1), (0, 2), (0, 3)), node_labels=("C", "C", "C", "C")))
"""By hand, with min_graphs = 2. Nodes: C(1) is in all five graphs. Left over: O(1), N(1), N(2) in one graph each, and
C(2), C(3) in one graph each, but C in two. Edges: C(1)-C(1) is in two graphs. Left over: C(1)-C(2), O(1)-C(2) of the
third graph, N(1)-N(2), C(1)-N(2) of the fourth, C(1)-C(3) of the fifth. Of these C-C is in two graphs; then left over
are O-C, N-N and C-N, whose degrees are all (1)-(2), in two graphs."""


def test_back_off_by_hand():
    layout = fit(RARE, min_graphs=2, homology="h0")
    kinds = ("C(1)-C(1)", "C-C,rare", "(1)-(2),rare")
    columns = [f"h0.{stat}[{kind}]@0,0" for kind in kinds for stat in MOMENTS]
    assert layout.names == ["nodes[C(1)]", "nodes[C,rare]", "nodes", "h0", *columns]
    assert by_name(layout, RARE[0]) == {"nodes[C(1)]": 2, "nodes": 2, "h0": 1, "h0.count[C(1)-C(1)]@0,0": 1}
    assert by_name(layout, RARE[2]) == {
        "nodes[C(1)]": 1,
        "nodes[C,rare]": 1,  # C(2); the O is in the totals alone
        "nodes": 3,
        "h0": 2,
        "h0.count[C-C,rare]@0,0": 1,
        "h0.count[(1)-(2),rare]@0,0": 1,
        "h0.sum[(1)-(2),rare]@0,0": 2,
        "h0.sumsq[(1)-(2),rare]@0,0": 4,
    }
    assert by_name(layout, RARE[3]) == {
        "nodes[C(1)]": 1,
        "nodes": 3,
        "h0": 2,
        "h0.count[(1)-(2),rare]@0,0": 2,  # N-N at height 0, C-N at height 2
        "h0.sum[(1)-(2),rare]@0,0": 2,
        "h0.sumsq[(1)-(2),rare]@0,0": 4,
    }
    assert by_name(layout, RARE[4]) == {
        "nodes[C(1)]": 3,
        "nodes[C,rare]": 1,
        "nodes": 4,
        "h0": 3,
        "h0.count[C-C,rare]@0,0": 3,
    }


def test_labels_without_degrees_have_no_direction():
    """C(1)-O(2) and O(1)-C(2), C(1)-O(3): the lower label stands at either end, and all are C-O."""
    star = Graph(4, ((0, 1), (0, 2), (0, 3)), node_labels=("O", "C", "C", "C"))
    layout = fit([path("C", "O", "O"), path("O", "C", "C"), star], min_graphs=3, homology="h0")
    assert layout.block == tuple(f"h0.{stat}[C-O,rare]" for stat in MOMENTS)
    for graph, count in ((path("O", "C", "C"), 1), (path("O", "C", "O"), 2), (star, 3)):
        assert by_name(layout, graph)["h0.count[C-O,rare]@0,0"] == count


def test_thresholds_by_hand():
    finest = fit(RARE, min_graphs=1, homology="h0")
    assert finest.n_columns == 6 + 2 + 6 * 3  # of nodes C(1), C(2), C(3), N(1), N(2), O(1); of edges also six kinds
    assert not [name for name in finest.names if "rare" in name]
    three = fit(RARE, min_graphs=3, homology="h0")  # 2 + 1 graphs have C-C; nothing else is in three
    assert three.names[:4] == ["nodes[C(1)]", "nodes", "h0", "h0.count[C-C,rare]@0,0"]
    assert three.n_columns == 6
    assert fit(RARE, min_graphs=6, homology="h0").names == ["nodes", "h0"]


def test_unseen_kinds_fall_back():
    """Each goes to the first level that was kept; none is an error."""
    layout = fit(RARE, min_graphs=2, homology="h0")
    assert by_name(layout, path("C", "C", "C"))["h0.count[C-C,rare]@0,0"] == 2
    assert by_name(layout, path("S", "S", "S"))["h0.count[(1)-(2),rare]@0,0"] == 2
    assert by_name(layout, path("S", "S")) == {"nodes": 2, "h0": 1}
    assert by_name(layout, cycle("S", "S", "S")) == {"nodes": 3, "h0": 2}
    finest = fit(RARE, min_graphs=1, homology="h0")
    assert by_name(finest, path("C", "C", "C")) == {
        "nodes[C(1)]": 2,
        "nodes[C(2)]": 1,
        "nodes": 3,
        "h0": 2,
        "h0.count[C(1)-C(2)]@0,0": 2,
    }


def test_cycles_have_columns_only_where_some_fitted_graph_can_close_one():
    layout = fit([KITE, cycle("O", "O", "O", "O")], homology="h1", min_graphs=1)
    kinds = {name.split("[")[1].split("]")[0] for name in layout.block}
    assert kinds == {"C(2)-C(2)", "C(2)-C(3)", "O(2)-O(2)"}  # O(1)-C(3) is a bridge
    # C(3)-O(3) is fitted on a bridge between two triangles; closing a cycle, it is in the total alone.
    triangles = Graph(6, ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (3, 5), (4, 5)), node_labels=tuple("CCCOOO"))
    layout = fit([triangles], min_graphs=1)
    assert "h0.sum[C(3)-O(3)]@0,0" in layout.names
    assert "h1.sum[C(3)-O(3)]@0,0" not in layout.names
    prism = Graph(
        6,
        ((0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)),
        node_labels=tuple("CCCOOO"),
    )
    found = by_name(layout, prism)
    assert found["h1"] == 4
    assert found["h0.count[C(3)-O(3)]@0,0"] == 1  # the other two close cycles
    assert not [name for name in found if name.startswith("h1.")]


def test_a_coarse_kind_is_cyclic_if_what_it_collects_is():
    """`C-C,rare` collects C(2)-C(4) of a bow tie (on cycles) and C(1)-C(2) of a path (a bridge)."""
    bow_tie = Graph(5, ((0, 1), (0, 4), (1, 4), (2, 3), (2, 4), (3, 4)), node_labels=("C",) * 5)
    layout = fit([bow_tie, path("C", "C", "C")], min_graphs=2)
    assert {"h0.count[C-C,rare]@0,0", "h1.count[C-C,rare]@0,0"} <= set(layout.names)
    only_trees = fit([path("C", "C", "C"), path("C", "C")], min_graphs=2)
    assert not [name for name in only_trees.names if name.startswith("h1.")]
    assert "h1" in only_trees.names


@pytest.mark.parametrize(("n_graphs", "wanted"), [(1, 1), (39, 1), (79, 1), (80, 2), (199, 4), (200, 5), (1000, 5)])
def test_auto_threshold(n_graphs, wanted):
    assert fit([path("C", "O")] * n_graphs).min_graphs == wanted
    assert fit([path("C", "O")] * n_graphs, min_graphs=3).min_graphs == 3


def test_auto_threshold_doubles_until_the_layout_is_narrow():
    """40 graphs, each four sharing 30 labels of their own: too wide for 1, 2 and 4; at 8 these kinds are gone."""
    graphs = [path(*range(30 * (i // 4), 30 * (i // 4) + 30)) for i in range(40)]
    layout = fit(graphs)
    assert layout.min_graphs == 8
    assert layout.n_columns <= 1000 < fit(graphs, min_graphs=4).n_columns
    assert fit(graphs, homology="h1").min_graphs == 1  # a tree has no H1 columns, so nothing is wide


def test_auto_limit_grows_with_the_graphs():
    """24 groups of ten graphs with 20 nodes and 19 edges of their own kinds: more than 1000 columns are within 10 n."""
    graphs = [path(*range(20 * (i // 10), 20 * (i // 10) + 20)) for i in range(240)]
    layout = fit(graphs)
    assert layout.min_graphs == 5
    assert layout.n_columns == 24 * (20 + 19 * 3) + 3


# -- what the fitted graphs did not have -------------------------------------------------------------------------------


@pytest.fixture
def longer():
    """Longer lists than those of a kite, and degree pairs that it does not have."""
    return Graph(
        6, ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)), node_labels=("C", "C", "C", "O", "C", "C")
    )


@pytest.mark.parametrize(
    ("representation", "words"),
    [
        ("sorted", r"1 graphs have a longer H0 list than the fitted 3 \(graph 0: 5\); the largest heights are cut off"),
        ("degree-pairs", r"1 graphs have degree pairs that no fitted graph had \(graph 0: \(3, 3\)\)"),
    ],
)
def test_unseen(longer, representation, words):
    layout = fit([KITE], representation=representation, homology="h0")
    with pytest.raises(UnseenError, match=words):
        by_name(layout, longer, unseen="error")
    with pytest.warns(UnseenWarning, match=words):
        warned = by_name(layout, longer, unseen="warn")
    assert by_name(layout, longer, unseen="ignore") == warned
    by_name(layout, KITE, unseen="error")  # nothing is unseen here


def test_what_is_left_of_longer_graphs(longer):
    """Heights: 0 three times among C, 2 on the three edges at the O, and one more 0."""
    lists = by_name(fit([KITE], representation="sorted", tau=1), longer, unseen="ignore")
    assert lists == {"h0[0]@0,0": 1, "h0[1]@0,0": 1, "h0[2]@0,0": 1, "h1[0]@0,0": 1}
    sums = by_name(fit([KITE], representation="degree-pairs", tau=1), longer, unseen="ignore")
    assert sums == {"h0[2,2]@0,0": 2, "h0[2,3]@0,0": 4, "h1[2,3]@0,0": 4}


@pytest.mark.parametrize("representation", ["sorted", "degree-pairs"])
def test_unseen_with_several_workers(longer, representation):
    """One warning, and the number of the graph in the whole batch, however many workers share it."""
    layout, how = fit([KITE], representation=representation, homology="h0"), engine.Filtering()
    batch = to_batch([*[KITE] * 8, longer, longer])
    messages = []
    for n_jobs in (1, 2, 3):
        with pytest.raises(UnseenError, match=r"2 graphs .*\(graph 8: ") as refused:
            engine.embed(batch, layout, how, unseen="error", n_jobs=n_jobs)
        with pytest.warns(UnseenWarning, match=r"2 graphs .*\(graph 8: ") as warned:
            engine.embed(batch, layout, how, n_jobs=n_jobs)
        messages.append((str(refused.value), [str(warning.message) for warning in warned]))
    assert len(messages[0][1]) == 1
    assert messages[0] == messages[1] == messages[2]


def test_only_the_wanted_lists_are_checked(longer):
    tree = path("C", "C", "C", "C", "C", "C", "C", "C", "C")
    layout = fit([KITE], representation="sorted", homology="h1")
    by_name(layout, tree, unseen="error")  # its H0 list is long, but not asked for
    with pytest.raises(UnseenError, match="longer H1 list than the fitted 1"):
        by_name(layout, longer, unseen="error")


def test_unseen_values():
    layout = fit([KITE])
    with pytest.raises(OptionError, match="unseen='drop' is not known: choose one of 'warn', 'ignore', 'error'"):
        by_name(layout, KITE, unseen="drop")


# -- labels of another type --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (path(1, 2), "node labels: integers"),
        (Graph(2, ((0, 1),)), "node labels: none"),
        (path("C", "C", edge_labels=(1,)), "edge labels: integers"),
    ],
)
def test_labels_of_another_type_are_refused(other, words):
    fitted = Survey.of(to_batch([KITE]))
    with pytest.raises(GraphFormatError, match=f"fitted on graphs with node labels: strings.*these have .*{words}"):
        by_name(fit([KITE]), other)
    with pytest.raises(
        GraphFormatError, match=f"some graphs have node labels: strings.*others .*{words}.*: make them alike"
    ):
        fitted.merge(Survey.of(to_batch([other])))


@pytest.mark.parametrize(
    "without_edges",
    [
        Graph(1, node_labels=("C",)),
        Graph(1, node_labels=("C",), edge_labels=()),
        Graph(0),
        Graph(0, node_labels=(), edge_labels=()),
    ],
)
def test_labels_of_nothing_have_no_type(without_edges):
    """A lone atom has no bonds, so nobody can say what type its bond labels are; it is embedded as in company."""
    molecules = [path("C", "O", edge_labels=("single",)), path("C", "C", edge_labels=("double",))]
    layout = fit(molecules)
    wanted = {"nodes": without_edges.n_nodes} if without_edges.n_nodes else {}
    assert by_name(layout, without_edges) == wanted
    surveys = [Survey.of(to_batch(graphs)) for graphs in (molecules, [without_edges])]
    for first, second in (surveys, surveys[::-1]):
        merged = FeatureLayout.from_survey(first.merge(second), LayoutOptions(min_graphs=1))
        assert merged.label_types == ("strings", "strings")
        assert set(merged.names) >= set(fit(molecules, "multiscale", min_graphs=1).names)


def test_the_papers_representations_do_not_look_at_labels():
    for representation in ("sorted", "degree-pairs"):
        layout = fit([KITE], representation=representation)
        assert by_name(layout, Graph(4, KITE.edges, node_labels=(6, 6, 6, 8))) == by_name(layout, KITE)


# -- surveys -----------------------------------------------------------------------------------------------------------


@settings(settings.get_profile("default"), max_examples=25, derandomize=True)
@given(graphs=graph_sets(max_graphs=6), data=st.data())
def test_merged_surveys_are_the_survey_of_the_whole(graphs, data):
    batch = to_batch(graphs)
    cut = data.draw(st.integers(0, len(graphs)))
    again = data.draw(st.integers(cut, len(graphs)))
    first, second, third = Survey.of(batch[:cut]), Survey.of(batch[cut:again]), Survey.of(batch[again:])
    for options in (
        LayoutOptions(representation="sorted"),
        LayoutOptions(representation="degree-pairs"),
        LayoutOptions(min_graphs=1),
        LayoutOptions(min_graphs=2),
        LayoutOptions(),
    ):
        whole = FeatureLayout.fit(batch, options)
        for merged in (first.merge(second).merge(third), first.merge(second.merge(third))):
            layout = FeatureLayout.from_survey(merged, options)
            assert layout.names == whole.names
            assert (layout.n_graphs, layout.lengths, layout.min_graphs) == (
                whole.n_graphs,
                whole.lengths,
                whole.min_graphs,
            )
            found = engine.embed(batch, layout, engine.Filtering(backend="numpy"))
            np.testing.assert_array_equal(found, engine.embed(batch, whole, engine.Filtering(backend="numpy")))


def test_merged_surveys_of_larger_sets(rng):
    batch = random_batch(rng, 120, 8, n_labels=8)
    parts = [Survey.of(batch[i::3]) for i in range(3)]
    options = LayoutOptions(min_graphs=3)
    merged = FeatureLayout.from_survey(parts[0].merge(parts[1]).merge(parts[2]), options)
    assert merged.names == FeatureLayout.fit(batch, options).names
    kinds = [name.partition("[")[2].partition("]")[0] for name in merged.block]
    by_degree = [kind.startswith("(") for kind in kinds]  # the set shows all levels of the back-off
    by_label = [kind.endswith(",rare") and not kind.startswith("(") for kind in kinds]
    assert any(by_degree)
    assert any(by_label)
    assert sum(by_degree) + sum(by_label) < len(kinds)


def test_layouts_pickle():
    layout = fit([KITE])
    again = pickle.loads(pickle.dumps(layout))
    assert again.names == layout.names
    assert by_name(again, KITE) == by_name(layout, KITE)


@pytest.mark.parametrize("representation", ["sorted", "degree-pairs", "typed"])
def test_no_graphs_and_empty_graphs(representation):
    nothing = to_batch([])
    layout = fit(nothing, representation=representation)
    assert layout.names == (["nodes", "h0", "h1"] if representation == "typed" else [])
    assert engine.embed(nothing, layout, engine.Filtering()).shape == (0, layout.n_columns)
    empty = Graph(0, node_labels=())
    layout = fit([KITE, empty, Graph(2, node_labels=("C", "C"))], representation=representation)
    assert by_name(layout, empty) == {}
    assert by_name(layout, Graph(2, node_labels=("C", "C"))) == (
        {"nodes[C(0)]": 2, "nodes": 2} if representation == "typed" else {}
    )


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"representation": "seq"},
            "representation='seq' is not known: choose one of 'typed', 'sorted', 'degree-pairs'",
        ),
        ({"homology": "h2"}, r"homology='h2' is not known: choose one of 'h0\+h1', 'h0', 'h1'"),
        ({"stats": "mean"}, "stats='mean' is not known: choose one of 'auto', 'sum', 'moments'"),
        ({"stats": "sum"}, "representation='typed' is always made of moments"),
        ({"representation": "sorted", "stats": "moments"}, "stats='moments' does not go with representation='sorted'"),
        *(
            ({"min_graphs": value}, f"min_graphs={value!r} must be 'auto' or a whole number of at least 1")
            for value in (0, -1, 2.5, True, "5", None)
        ),
        *(
            ({"tau": value}, f"tau={value!r} must be a finite number")
            for value in (math.nan, math.inf, "1", True, None)
        ),
    ],
)
def test_refused_options(options, words):
    with pytest.raises(OptionError, match=words):
        LayoutOptions(**options)


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ("coarse", r"k='coarse' is not known: give \(k1, k2\)"),
        *(
            (k, r"is not understood: give \(k1, k2\), a list of such pairs")
            for k in (3, None, [], (1,), (1, 2, 3), [(0, 0), (1,)])
        ),
        *(
            (k, "k1=.* is not a number of steps: give a whole number from 0 on, or infinity")
            for k in ((-1, 0), (0.5, 0), (True, 0))
        ),
        *((k, "k2=.* is not a number of steps") for k in ((0, math.nan), (0, -math.inf), (0, None), [(0, "a")])),
        ([(0, 0), (1, 1), (0, 0)], "names a pair twice"),
        ([(0, 0), (0.0, 0)], "names a pair twice"),
    ],
)
def test_refused_k(k, words):
    with pytest.raises(OptionError, match=words):
        parse_k(k)


@pytest.mark.parametrize(
    ("k", "pairs"),
    [
        ((1, 12), ((1, 12),)),
        ([1, 12], ((1, 12),)),
        (np.array([1, 12]), ((1, 12),)),
        (np.array([[1, 12], [0, 0]]), ((1, 12), (0, 0))),
        ([(1.0, math.inf)], ((1, math.inf),)),
        ([(0, 0), (1, 1)], ((0, 0), (1, 1))),
    ],
)
def test_understood_k(k, pairs):
    assert parse_k(k) == pairs
    assert all(type(steps) is int for pair in parse_k(k) for steps in pair if steps != math.inf)


# -- published widths --------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(("name", "published"), [("MUTAG", 337), ("BZR", 327), ("BZR_MD", 547)])
def test_published_width(data_dir, name, published):
    """ARCHITECTURE.md's table, in brackets: columns that are not all zero, averaged over the training folds."""
    from pwlr.datasets import load_dataset

    batch = load_dataset(name, data_dir=data_dir)
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(np.zeros(batch.n_graphs), batch.y)
    widths = []
    for train, _ in folds:
        layout = FeatureLayout.fit(batch[train], LayoutOptions(MULTISCALE, "typed", min_graphs=5))
        X = engine.embed(batch[train], layout, engine.Filtering())
        widths.append(np.count_nonzero(X.any(axis=0)))
    assert np.mean(widths) == pytest.approx(published, rel=0.03)
