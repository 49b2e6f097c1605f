"""What exactly is measured: a frozen description of a protocol, whose hash goes with every result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pwlr.errors import OptionError

__all__ = ["TREE_COUNTS", "Protocol", "Spec"]

Protocol = Literal["paper", "nested"]
Twins = Literal["keep", "group", "drop"]

TREE_COUNTS = (10, 25, 50, 100, 150, 200)
"""From which the paper's protocol, and ours, choose the number of trees."""


@dataclass(frozen=True)
class Spec:
    """A protocol: what is chosen, on which graphs, over which folds.

    ``paper`` chooses the number of trees by an inner stratified cross-validation and takes (k1, k2) as given.
    ``nested`` chooses everything, (k1, k2) included, by the out-of-bag accuracy on the training part of each outer
    fold.

    The repetitions to run are not part of it: repetition r has the same splits and seeds whatever their number, so a
    study can be extended.

    Attributes
    ----------
    protocol : "paper" or "nested"
    folds, inner_folds : int
        Outer stratified folds; inner ones, which ``nested`` does not have.
    tree_counts : tuple of int
    seed : int
        Decides splits and forests.
    twins : "keep", "group" or "drop"
        What is done about isomorphic copies: left where they fall, kept on one side of every split, or one of each.
    """

    protocol: Protocol = "nested"
    folds: int = 10
    inner_folds: int = 5
    tree_counts: tuple[int, ...] = TREE_COUNTS
    seed: int = 0
    twins: Twins = "keep"

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name, value, known in (
            ("protocol", self.protocol, ("paper", "nested")),
            ("twins", self.twins, ("keep", "group", "drop")),
        ):
            if value not in known:
                raise OptionError(f"{name}={value!r} is not known: choose one of {', '.join(map(repr, known))}")
        if self.folds < 2 or self.inner_folds < 2:
            raise OptionError(f"{min(self.folds, self.inner_folds)} folds cannot hold anything out: use at least 2")
        if not self.tree_counts or min(self.tree_counts) < 1 or list(self.tree_counts) != sorted(set(self.tree_counts)):
            raise OptionError("tree_counts must be distinct, ascending and at least 1")

    @property
    def run_id(self) -> str:
        """Twelve hexadecimal digits that stand for this description."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:12]

    def canonical(self) -> str:
        """Return the description as JSON with sorted keys: what is hashed and stored."""
        record: dict[str, Any] = asdict(self)
        if self.protocol == "nested":
            record.pop("inner_folds")  # it has none, so their number must not tell two equal runs apart
        return json.dumps(record, sort_keys=True)
