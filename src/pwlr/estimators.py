"""`PWLRTransformer` and `PWLRClassifier`: the method as scikit-learn citizens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from pwlr.engine import Filtering, check_jobs, embed, event_rows
from pwlr.errors import GraphFormatError, OptionError
from pwlr.graphs import GraphBatch
from pwlr.io.convert import as_batch
from pwlr.method.diffusion import Grid
from pwlr.method.features import EdgeWeights, NodeFeatures, resolve_node_features
from pwlr.method.kinds import Survey
from pwlr.method.vectors import (
    Accumulator,
    FeatureLayout,
    Homology,
    LayoutOptions,
    Representation,
    Stats,
    Unseen,
    check_unseen_option,
    parse_k,
    parse_pairs,
)

__all__ = ["PAPER_VARIANTS", "SEARCH_GRID", "PWLRClassifier", "PWLRTransformer"]

PAPER_VARIANTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        f"PWLR-{short}{homology.upper()}": MappingProxyType({"representation": representation, "homology": homology})
        for short, representation in (("", "sorted"), ("OPT-", "degree-pairs"))
        for homology in ("h0", "h1", "h0+h1")
    }
)
"""The paper's six representations, as parameters of the estimators."""

SEARCH_GRID: tuple[tuple[int, int], ...] = tuple((k1, k2) for k1 in (0, 1, 3, 8, 20) for k2 in (0, 1, 3, 8, 20))
"""What ``k="search"`` looks through by default."""


class _GraphInput(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """What both estimators share: their input is graphs, and which node features they use is settled at fit."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags

    def _settle(self, X: Any) -> GraphBatch:
        """Read the graphs of a fit and settle what ``node_features="auto"`` means for them."""
        batch = as_batch(X)
        if batch.n_graphs == 0:
            raise GraphFormatError(f"{type(self).__name__}.fit got no graphs: give at least one")
        self.node_features_ = resolve_node_features(batch, self.node_features)
        self._n_attributes = _width(batch)
        return batch

    def _read(self, X: Any) -> GraphBatch:
        """Read graphs to transform or predict, which must carry what the fitted ones did."""
        check_is_fitted(self)
        batch = as_batch(X)
        if self.node_features_ in ("attributes", "both") and batch.n_graphs and _width(batch) != self._n_attributes:
            raise GraphFormatError(
                f"{type(self).__name__} was fitted on graphs with {self._n_attributes} node attributes; "
                f"these have {_width(batch)}"
            )
        return batch

    def _filtering(self) -> Filtering:
        return Filtering(
            str(getattr(self, "node_features_", self.node_features)), self.edge_weights, self.p, backend=self.backend
        )


def _width(batch: GraphBatch) -> int:
    return 0 if batch.node_attributes is None else batch.node_attributes.shape[1]


class PWLRTransformer(TransformerMixin, _GraphInput):  # type: ignore[misc]
    """Turn graphs into named numbers: the PWLR representation.

    ``fit`` only learns what the columns stand for, without any diffusion; ``transform`` fills them in.

    Parameters
    ----------
    k : "multiscale", (k1, k2) or list of (k1, k2), default "multiscale"
        Numbers of normalized Weisfeiler-Lehman steps and of random-walk steps, each from 0 to infinity. Several pairs
        give their columns side by side. ``"multiscale"`` is (0, 0), (1, 1) and (4, 4).
    homology : "h0+h1", "h0" or "h1"
        Edges that join components (H0), edges that close cycles (H1), or both.
    representation : "typed", "sorted" or "degree-pairs"
        ``"typed"``: counts, sums and sums of squares of the heights by kind of edge, and counts by kind of node.
        ``"sorted"``: the heights in ascending order (the paper's PWLR-H0, -H1). ``"degree-pairs"``: sums by the
        degrees of both ends (the paper's PWLR-OPT).
    stats : "auto", "sum" or "moments"
        Of ``"degree-pairs"``: the sum of (height + tau), or count, sum and sum of squares (``"typed"`` always).
    min_graphs : "auto" or int
        Kinds of ``"typed"`` seen in fewer fitted graphs are counted as the next coarser kind. ``"auto"`` is 5 (less for
        small sets), doubled until the layout has at most max(1000, 10 n) columns for n graphs.
    node_features : "auto", "labels", "attributes", "both", "degree" or "constant"
        What diffuses. ``"auto"``: labels, else attributes, else degree.
    edge_weights : "given", "unit", "attribute", "reciprocal", "label", "max-degree", mapping or callable
        What the walk prefers; see `pwlr.method.features.edge_weights`.
    p : float, default 1
        Exponent of the norm that gives an edge its height, at least 1; infinity is legal.
    tau : float, default 1
        Added to every listed height, so that a height of 0 differs from an absent edge.
    unseen : "warn", "ignore" or "error"
        What to do with longer lists and new degree pairs at transform. ``"typed"`` falls back instead.
    backend : "auto", "numpy" or "numba"
    n_jobs : int, optional
        Threads. The numbers are the same bits for every value.
    dtype : numpy dtype, default float64
        Of the output; all arithmetic is float64.
    sparse_output : bool, default False
        Return a CSR array.

    Attributes
    ----------
    layout_ : FeatureLayout
    node_features_ : str
        What ``"auto"`` turned out to mean.
    n_features_out_ : int

    Examples
    --------
    >>> import pwlr
    >>> graphs = pwlr.load_dataset("MUTAG")
    >>> H0 = pwlr.PWLRTransformer(k=(1, 12), **pwlr.PAPER_VARIANTS["PWLR-H0"])
    >>> H0.fit_transform(graphs).shape
    (188, 27)
    """

    def __init__(
        self,
        k: Any = "multiscale",
        *,
        homology: Homology = "h0+h1",
        representation: Representation = "typed",
        stats: Stats = "auto",
        min_graphs: int | Literal["auto"] = "auto",
        node_features: NodeFeatures = "auto",
        edge_weights: EdgeWeights = "given",
        p: float = 1.0,
        tau: float = 1.0,
        unseen: Unseen = "warn",
        backend: str = "auto",
        n_jobs: int | None = None,
        dtype: Any = np.float64,
        sparse_output: bool = False,
    ) -> None:
        self.k = k
        self.homology = homology
        self.representation = representation
        self.stats = stats
        self.min_graphs = min_graphs
        self.node_features = node_features
        self.edge_weights = edge_weights
        self.p = p
        self.tau = tau
        self.unseen = unseen
        self.backend = backend
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn the columns from graphs: a `GraphBatch` or a list of graphs of a known library."""
        self._fit_layout(self._settle(X))
        return self

    def transform(self, X: Any) -> Any:
        """Return the vectors, one row a graph."""
        return self._fill(self._read(X))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:  # noqa: ARG002
        """Fit, then return the vectors; reads the graphs once."""
        batch = self._settle(X)
        self._fit_layout(batch)
        return self._fill(batch)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the name of every column, such as ``h1[3]@1,12`` or ``h0.sum[C(3)-N(2):single]@0,0``."""
        check_is_fitted(self)
        return np.asarray(self.layout_.names, dtype=object)

    def _fit_layout(self, batch: GraphBatch) -> None:
        options = LayoutOptions(
            parse_k(self.k), self.representation, self.homology, self.stats, self.min_graphs, self.tau
        )
        self._filtering()  # refuses bad options now rather than at transform
        check_unseen_option(self.unseen)
        check_jobs(self.n_jobs)
        if np.dtype(self.dtype).kind != "f":
            raise OptionError(f"dtype={self.dtype!r} cannot hold sums of heights: use float64 or float32")
        self.layout_ = FeatureLayout.fit(batch, options)
        self.n_features_out_ = self.layout_.n_columns

    def _fill(self, batch: GraphBatch) -> Any:
        return embed(
            batch,
            self.layout_,
            self._filtering(),
            unseen=self.unseen,
            dtype=self.dtype,
            sparse=self.sparse_output,
            n_jobs=self.n_jobs,
        )


class PWLRClassifier(ClassifierMixin, _GraphInput):  # type: ignore[misc]
    """Classify graphs: `PWLRTransformer` and a random forest, with nothing to choose.

    The parameters of `PWLRTransformer` mean the same here; below are those that differ or are new.

    Parameters
    ----------
    k : "multiscale", (k1, k2), list of (k1, k2) or "search"
        ``"search"`` takes the one (k1, k2) of `search_grid` with the best out-of-bag accuracy on the graphs of the fit;
        ties go to the smaller k1 + k2, then the smaller k1.
    representation : "typed", "sorted", "degree-pairs" or "search"
        ``"search"`` chooses one of the paper's six, in the same way.
    search_grid : list of (k1, k2), optional
        Default: {0, 1, 3, 8, 20} squared. The paper's own is ``itertools.product(range(30), range(30))``.
    n_estimators : int, default 200
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array
    forest_ : RandomForestClassifier
        Fitted on the vectors.
    layout_ : FeatureLayout
        What the columns of the vectors stand for.
    best_params_ : dict
        The k, representation and homology in use.
    selection_table_ : dict of arrays
        Every candidate that was looked at, with its out-of-bag accuracy; empty if nothing was searched.
    feature_importances_ : array, shape (n_columns,)

    Examples
    --------
    >>> import pwlr
    >>> graphs = pwlr.load_dataset("MUTAG")
    >>> clf = pwlr.PWLRClassifier(random_state=0).fit(graphs[:150], graphs.y[:150])
    >>> clf.predict(graphs[150:153])
    array([-1,  1,  1])
    """

    def __init__(
        self,
        k: Any = "multiscale",
        *,
        homology: Homology = "h0+h1",
        representation: Representation | Literal["search"] = "typed",
        stats: Stats = "auto",
        min_graphs: int | Literal["auto"] = "auto",
        node_features: NodeFeatures = "auto",
        edge_weights: EdgeWeights = "given",
        p: float = 1.0,
        tau: float = 1.0,
        unseen: Unseen = "warn",
        backend: str = "auto",
        n_jobs: int | None = None,
        search_grid: Any = None,
        n_estimators: int = 200,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.homology = homology
        self.representation = representation
        self.stats = stats
        self.min_graphs = min_graphs
        self.node_features = node_features
        self.edge_weights = edge_weights
        self.p = p
        self.tau = tau
        self.unseen = unseen
        self.backend = backend
        self.n_jobs = n_jobs
        self.search_grid = search_grid
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit on graphs and their classes."""
        if y is None:
            # the words in the middle are what scikit-learn's own check looks for
            raise OptionError(
                "PWLRClassifier requires y to be passed, but the target y is None: "
                "give the classes, fit(graphs, graphs.y)"
            )
        batch = self._settle(X)
        classes: NDArray[Any] = column_or_1d(y, warn=True)
        check_consistent_length(batch, classes)
        assert_all_finite(classes, input_name="y")
        check_classification_targets(classes)
        self.classes_ = np.unique(classes)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        # numba takes longer to import than a transformer to run, so only what grows a forest waits for it
        from pwlr.forest import fit_sklearn_forest

        candidates = self._candidates()
        if len(candidates) == 1:
            self.selection_table_: dict[str, NDArray[Any]] = {}
            chosen = candidates[0]
        else:
            scores, widths = self._scores(batch, classes, candidates, seed)
            self.selection_table_ = _table(candidates, scores, widths)
            chosen = candidates[int(np.argmax(scores))]  # the first of the best: candidates stand in tie order
        self.best_params_ = {
            "k": chosen.pairs if len(chosen.pairs) > 1 else chosen.pairs[0],
            "representation": chosen.representation,
            "homology": chosen.homology,
        }
        self.layout_ = FeatureLayout.fit(batch, chosen)
        self.forest_ = fit_sklearn_forest(
            self._vectors(batch),
            classes,
            n_trees=self.n_estimators,
            random_state=seed,
            n_jobs=effective_n_jobs(self.n_jobs),
        )
        self.forest_.set_params(n_jobs=None)  # threads add votes up in any order; one gives the same bits each time
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each graph."""
        batch = self._read(X)
        if batch.n_graphs == 0:
            return self.classes_[:0]
        return np.asarray(self.forest_.predict(self._vectors(batch)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of votes for each class of `classes_`."""
        batch = self._read(X)
        if batch.n_graphs == 0:
            return np.empty((0, len(self.classes_)))
        return np.asarray(self.forest_.predict_proba(self._vectors(batch)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity importance of every column; `get_feature_names_out` names them."""
        check_is_fitted(self)
        return np.asarray(self.forest_.feature_importances_)[: self.layout_.n_columns]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the columns that the forest sees."""
        check_is_fitted(self)
        return np.asarray(self.layout_.names, dtype=object)

    def _candidates(self) -> list[LayoutOptions]:
        """List what may be chosen, in the order that breaks ties: smaller k1 + k2, smaller k1, the paper's order."""
        searching = isinstance(self.k, str) and self.k == "search"
        if not searching and self.search_grid is not None:
            raise OptionError("search_grid is only looked at with k='search'")
        scales = [parse_k(self.k)] if not searching else [(pair,) for pair in self._grid()]
        variants: list[Mapping[str, Any]] = [{"representation": self.representation, "homology": self.homology}]
        if self.representation == "search":
            variants = list(PAPER_VARIANTS.values())
        common = {"stats": self.stats, "min_graphs": self.min_graphs, "tau": self.tau}
        return [LayoutOptions(pairs, **{**common, **variant}) for pairs in scales for variant in variants]

    def _grid(self) -> list[tuple[float, float]]:
        pairs: Any = SEARCH_GRID if self.search_grid is None else self.search_grid
        wanted = "give a list of pairs (k1, k2)"
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise OptionError(f"search_grid={pairs!r} is not understood: {wanted}")
        listed = list(dict.fromkeys(map(_hashable, pairs)))
        if any(np.ndim(pair) == 0 for pair in listed):
            raise OptionError(f"search_grid={pairs!r} is not understood: {wanted}")
        checked = parse_pairs(listed, "search_grid", wanted)
        return sorted(checked, key=lambda pair: (sum(pair), pair[0]))

    def _scores(
        self, batch: GraphBatch, y: NDArray[Any], candidates: list[LayoutOptions], seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Out-of-bag accuracy and width of every candidate, from one pass over the grid."""
        from pwlr.forest import grow_forest

        scores, widths = np.empty(len(candidates)), np.empty(len(candidates), dtype=np.int64)
        for number, X in self._walk(batch, candidates):
            scores[number] = grow_forest(
                X, y, n_trees=self.n_estimators, random_state=seed, n_jobs=effective_n_jobs(self.n_jobs)
            ).oob_score()
            widths[number] = X.shape[1]
        return scores, widths

    def _walk(self, batch: GraphBatch, candidates: list[LayoutOptions]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield every candidate's number and vectors, as soon as the pass over the grid has all that it needs."""
        survey = Survey.of(batch)
        grid = Grid.of_pairs(pair for options in candidates for pair in options.pairs)
        waiting = {
            number: Accumulator(FeatureLayout.from_survey(survey, options), batch)
            for number, options in enumerate(candidates)
        }
        for row in event_rows(batch, grid, self._filtering()):
            for number in list(waiting):
                waiting[number].add(row)
                if max(k1 for k1, _ in candidates[number].pairs) <= row.k1:
                    yield number, _seen_by_a_forest(waiting.pop(number).dense(np.float32))

    def _vectors(self, batch: GraphBatch) -> NDArray[np.float32]:
        # scikit-learn's trees read float32; made so at once, a wide matrix is in memory once
        X = embed(batch, self.layout_, self._filtering(), unseen=self.unseen, dtype=np.float32, n_jobs=self.n_jobs)
        return _seen_by_a_forest(X)


def _seen_by_a_forest(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors as a forest takes them: with at least one column, so that graphs of which nothing is known are legal."""
    return X if X.shape[1] else np.zeros((len(X), 1), dtype=np.float32)


def _hashable(pair: Any) -> Any:
    return tuple(pair) if isinstance(pair, list | np.ndarray) else pair


def _table(
    candidates: list[LayoutOptions], scores: NDArray[np.float64], widths: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    single = all(len(options.pairs) == 1 for options in candidates)
    steps = {"k1": 0, "k2": 1} if single else {}
    return {
        **{name: np.array([options.pairs[0][i] for options in candidates]) for name, i in steps.items()},
        "representation": np.array([options.representation for options in candidates]),
        "homology": np.array([options.homology for options in candidates]),
        "n_columns": widths,
        "oob_score": scores,
    }
