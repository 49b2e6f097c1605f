"""One function a picture: it takes records and an optional ``ax``, draws, and returns the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pwlr.experiments.protocol import MAJORITY, SIZE, Score

__all__ = ["accuracy_dots", "importance_bars"]

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


def accuracy_dots(scores: Sequence[Score], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw accuracies as dots with one standard deviation of a fold, and the baselines as lines."""
    baselines = {SIZE: (ORANGE, "--"), MAJORITY: (GREY, ":")}
    shown = [score for score in scores if score.method not in baselines]
    ax = _axes(ax, 7.0, 1.4 + 0.36 * len(shown))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    for row, score in enumerate(shown):
        mean, spread, colour = 100 * score.mean, 100 * score.std_of_folds, GREEN if row == 0 else BLUE
        ax.errorbar(mean, row, xerr=spread, fmt="o", color=colour, ms=7, lw=1.6, capsize=3)
        ax.annotate(f"{mean:.1f}", (mean, row), (0, 7), textcoords="offset points", ha="center", fontsize=8, bbox=box)
    for score in scores:
        if score.method in baselines:
            colour, dashes = baselines[score.method]
            ax.axvline(
                100 * score.mean, color=colour, ls=dashes, lw=1.6, label=f"{score.method}: {100 * score.mean:.1f}"
            )
    ax.set_yticks(range(len(shown)), [score.method for score in shown])
    ax.set_ylim(len(shown) - 0.5, -0.7)
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel("accuracy in % (dot: mean over folds, whisker: one standard deviation of a fold)")
    ax.set_title(title, loc="left", pad=26)
    if any(score.method in baselines for score in scores):
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, fontsize=9, borderaxespad=0.2)
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
    ax.set_yticks(np.arange(len(order)), [names[i] for i in order], family="monospace", fontsize=8, parse_math=False)
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
