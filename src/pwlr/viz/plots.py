"""One function a picture: it takes records and an optional ``ax``, draws, and returns the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pwlr.experiments.protocol import MAJORITY, SIZE, Score

__all__ = ["accuracy_bars", "importance_bars"]

# Okabe and Ito's palette, told apart with every common kind of colour vision
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    # a bare Figure needs no display and leaves pyplot's global state alone
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=0)


def accuracy_bars(scores: Sequence[Score], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw accuracies as horizontal bars with one standard deviation of the folds, and the baselines as lines."""
    baselines = {MAJORITY: (GREY, ":"), SIZE: (ORANGE, "--")}
    bars = [score for score in scores if score.method not in baselines]
    ax = _axes(ax, 7.0, 1.2 + 0.38 * len(bars))
    rows = np.arange(len(bars))
    means, spread = 100 * np.array([s.mean for s in bars]), 100 * np.array([s.std_of_folds for s in bars])
    colours = [GREEN if i == 0 else BLUE for i in rows]
    ax.barh(rows, means, xerr=spread, height=0.66, color=colours, error_kw={"ecolor": "#333333", "lw": 1, "capsize": 2})
    for score in scores:
        if score.method in baselines:
            colour, dashes = baselines[score.method]
            ax.axvline(
                100 * score.mean, color=colour, ls=dashes, lw=1.6, label=f"{score.method}: {100 * score.mean:.1f}"
            )
    lowest = min([*means - spread, *(100 * s.mean for s in scores)], default=0.0)
    ax.set_xlim(max(0.0, 5 * np.floor((lowest - 4) / 5)), 100)
    for row, mean in enumerate(means.tolist()):
        ax.text(ax.get_xlim()[0] + 0.6, row, f"{mean:.1f}", va="center", ha="left", color="white", fontsize=9)
    ax.set_yticks(rows, [score.method for score in bars])
    ax.invert_yaxis()
    ax.set_xlabel("accuracy in % (bar: mean over folds, whisker: one standard deviation of a fold)")
    ax.set_title(title, loc="left")
    if any(score.method in baselines for score in scores):
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.4, -0.18 - 0.35 / len(bars)), ncols=2, frameon=False, fontsize=9
        )
    _tidy(ax)
    return ax


def importance_bars(
    names: Sequence[str], importances: ArrayLike, *, top: int = 15, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw the most important columns of a model, largest first."""
    values = np.asarray(importances, dtype=float)
    order = np.argsort(-values, kind="stable")[:top]
    ax = _axes(ax, 7.0, 1.0 + 0.3 * len(order))
    ax.barh(np.arange(len(order)), 100 * values[order], height=0.7, color=BLUE)
    ax.set_yticks(np.arange(len(order)), [names[i] for i in order], family="monospace", fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("impurity importance in %, of all columns together 100")
    ax.set_title(title, loc="left")
    _tidy(ax)
    return ax


def save(ax: Axes, path: Any) -> None:
    """Write the figure of the axes as PNG, readable on a dense screen."""
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.savefig(path, dpi=160)
