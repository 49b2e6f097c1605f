"""What each part of `typed` adds: the same vectors with one part taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pwlr.estimators import PWLRTransformer
from pwlr.graphs import GraphBatch

__all__ = ["ABLATIONS", "FULL", "Ablation"]

Table = NDArray[np.float32]

FULL = "typed"


def _every_column(_: str) -> bool:
    """Keep all."""
    return True


@dataclass(frozen=True)
class Ablation:
    """A way to make vectors: parameters of the transformer, then a choice among the named columns.

    Attributes
    ----------
    words : str
        What is taken away.
    parameters : mapping
        Of `PWLRTransformer`, where they differ from its defaults.
    keep : callable
        Tells of a column's name whether it stays.
    join_h0_h1 : bool
        Whether H0 and H1 columns of one kind are added up.
    """

    words: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    keep: Callable[[str], bool] = _every_column
    join_h0_h1: bool = False

    def vectors(self, train: GraphBatch, test: GraphBatch, node_features: str) -> tuple[Table, Table]:
        """Return the vectors of training and test graphs; the layout is the training graphs' alone."""
        transformer = PWLRTransformer(
            node_features=node_features,  # type: ignore[arg-type]  # checked by the transformer
            dtype=np.float32,
            unseen="ignore",
            **self.parameters,
        ).fit(train)
        names = [name if not self.join_h0_h1 else _joined(name) for name in transformer.get_feature_names_out()]
        group = {name: number for number, name in enumerate(dict.fromkeys(filter(self.keep, names)))}
        columns = [position for position, name in enumerate(names) if name in group]
        goal = [group[names[position]] for position in columns]
        tables = []
        for part in (train, test):
            X = np.zeros((len(part), len(group)), dtype=np.float32)
            np.add.at(X.T, goal, transformer.transform(part)[:, columns].T)
            tables.append(X)
        return tables[0], tables[1]


def _joined(name: str) -> str:
    return name.replace("h1", "h0", 1) if name.startswith("h1") else name


ABLATIONS: Mapping[str, Ablation] = {
    FULL: Ablation("nothing"),
    "typed - node kinds": Ablation("counts of nodes by kind", keep=lambda name: not name.startswith("nodes[")),
    "typed - heights": Ablation("sums of heights and of their squares", keep=lambda name: ".sum" not in name),
    "typed - squares": Ablation("sums of squares", keep=lambda name: ".sumsq" not in name),
    "typed - split": Ablation("the split into H0 and H1", join_h0_h1=True),
    "typed - labels in kinds": Ablation(
        "labels in the kinds (degree pairs with moments)", {"representation": "degree-pairs", "stats": "moments"}
    ),
    "typed - rare kinds": Ablation("what falls back to coarser kinds", keep=lambda name: ",rare" not in name),
    "typed - back-off": Ablation("the back-off: every kind has columns", {"min_graphs": 1}),
    "typed at k = 0": Ablation("all k but (0, 0)", {"k": (0, 0)}),
    "typed at k = 1": Ablation("all k but (1, 1)", {"k": (1, 1)}),
    "typed at k = 4": Ablation("all k but (4, 4)", {"k": (4, 4)}),
}
"""By the name under which results are stored."""
