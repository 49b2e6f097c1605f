"""Pictures draw what the records say, where they are told to, and touch nothing else."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from pwlr.experiments.protocol import MAJORITY, SIZE, Score
from pwlr.viz import plots

SCORES = [
    Score("ours", 0.91, 0.05, None, 300.0, 10),
    Score("theirs", 0.85, 0.07, None, 27.0, 10),
    Score("another", 0.5, 0.0, 0.1, None, 10),
    Score(SIZE, 0.84, 0.06, None, None, 10),
    Score(MAJORITY, 0.665, 0.01, None, None, 10),
]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_dots_stand_where_the_scores_are():
    ax = plots.accuracy_dots(SCORES, title="MUTAG")
    assert isinstance(ax, Axes)
    dots = [container for container in ax.containers if isinstance(container, ErrorbarContainer)]
    rows = [(dot.lines[0].get_xdata()[0], dot.lines[0].get_ydata()[0]) for dot in dots]
    np.testing.assert_allclose(rows, [(91, 0), (85, 1), (50, 2)])
    spread = [dot.lines[2][0].get_segments()[0][:, 0] for dot in dots]
    np.testing.assert_allclose(spread, [(86, 96), (78, 92), (50, 50)])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ours", "theirs", "another"]
    np.testing.assert_array_equal(ax.get_yticks(), [0, 1, 2])
    assert {"91.0", "85.0", "50.0"} <= set(texts(ax))
    bottom, top = ax.get_ylim()
    assert bottom > 2
    assert top < 0  # the first method stands at the top
    assert "MUTAG" in ax.get_title(loc="left")
    assert "%" in ax.get_xlabel()


def test_baselines_are_lines_and_named():
    ax = plots.accuracy_dots(SCORES)
    upright = [line for line in ax.lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    at = {round(float(line.get_xdata()[0]), 6) for line in upright}
    assert at >= {84.0, 66.5}
    said = " ".join(text.get_text() for text in ax.figure.findobj(lambda part: hasattr(part, "get_text")))
    assert f"{SIZE}: 84.0" in said
    assert f"{MAJORITY}: 66.5" in said


def test_dots_without_baselines_and_baselines_without_dots():
    alone = plots.accuracy_dots(SCORES[:1])
    assert alone.get_legend() is None
    assert [label.get_text() for label in alone.get_yticklabels()] == ["ours"]
    assert plots.accuracy_dots(SCORES[3:]).get_yticklabels() == []


def test_ours_stands_out():
    ax = plots.accuracy_dots(SCORES)
    colours = [to_hex(dot.lines[0].get_color()) for dot in ax.containers if isinstance(dot, ErrorbarContainer)]
    assert colours[0] != colours[1] == colours[2]


def test_bars_are_as_long_as_the_importances():
    names = [f"column {i}" for i in range(6)]
    ax = plots.importance_bars(names, [0.1, 0.4, 0.0, 0.25, 0.15, 0.1], top=4, title="what it looks at")
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], [40, 25, 15, 10])
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in bars], [0, 1, 2, 3], atol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["column 1", "column 3", "column 4", "column 0"]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the most important one stands at the top
    assert "what it looks at" in ax.get_title(loc="left")


def test_fewer_columns_than_bars():
    assert len(plots.importance_bars(["a", "b"], np.array([0.5, 0.5])).patches) == 2
    assert len(plots.importance_bars([], []).patches) == 0


@pytest.mark.parametrize(
    "draw", [lambda ax: plots.accuracy_dots(SCORES, ax=ax), lambda ax: plots.importance_bars(["a"], [1.0], ax=ax)]
)
def test_axes_of_the_users_are_drawn_on(draw):
    figure = Figure(figsize=(3, 2))
    left, right = figure.subplots(1, 2)
    assert draw(right) is right
    assert not left.has_data()
    assert right.has_data()
    assert figure.get_size_inches().tolist() == [3, 2]
    assert len(figure.axes) == 2
    assert draw(None).figure is not figure


def test_names_that_look_like_mathematics_are_drawn_as_they_are(tmp_path):
    ax = plots.importance_bars(["h0.sum[$x_1$-C(2)]@0,0", "nodes['a_b'(1)]"], [0.7, 0.3])
    plots.save(ax, tmp_path / "bars.png")
    labels = ax.get_yticklabels()
    assert labels[0].get_text() == "h0.sum[$x_1$-C(2)]@0,0"
    assert not labels[0].get_parse_math()


def test_saved_pictures_open(tmp_path):
    for name, ax in (("dots", plots.accuracy_dots(SCORES)), ("bars", plots.importance_bars(["a", "b"], [0.5, 0.5]))):
        plots.save(ax, tmp_path / f"{name}.png")
        picture = image.imread(tmp_path / f"{name}.png")
        height, width = picture.shape[:2]
        assert width > 600
        assert height > 100
        assert picture.std() > 0


def test_everything_drawn_is_inside_the_picture():
    names = ["h0.sumsq[Cl(12)-Cl(12):aromatic,rare]@20,20", "short"]
    for ax in (plots.accuracy_dots(SCORES, title="A title"), plots.importance_bars(names, [0.9, 0.1], title="T")):
        ax.figure.draw_without_rendering()
        frame = ax.figure.bbox
        tight = ax.get_tightbbox()
        assert tight.x0 >= frame.x0 - 1
        assert tight.x1 <= frame.x1 + 1
        assert tight.y0 >= frame.y0 - 1
        assert tight.y1 <= frame.y1 + 1


ALONE = """
import sys
from pwlr.experiments.protocol import Score
from pwlr.viz import plots
plots.save(plots.accuracy_dots([Score("a", 0.5, 0.1, None, None, 10)]), sys.argv[1])
plots.importance_bars(["a"], [1.0])
assert "matplotlib.pyplot" not in sys.modules
"""


def test_pyplot_is_never_imported(tmp_path):
    """So no window, no backend and no list of open figures is anybody's concern."""
    subprocess.run([sys.executable, "-c", ALONE, tmp_path / "x.png"], check=True)
    assert (tmp_path / "x.png").stat().st_size > 0
