"""The paper's worked example (its appendix "Example"): every printed digit, typed from the paper.

One correction: the paper prints the degree pair of edge e_{1,2} as (1,2); node 1 has degree
3, so it is (1,3). The columns are then (1,3), (2,2), (2,3), in that order, with the printed numbers.
"""

import math

import numpy as np
import pytest
from tests import naive
from tests.helpers import BACKENDS, to_batch

from pwlr import engine
from pwlr.method.diffusion import Grid, transition_matrix
from pwlr.method.vectors import FeatureLayout, LayoutOptions, parse_k

# Nodes v1 to v4 are 0 to 3; the edges e12, e13, e14, e34.
EXAMPLE = naive.Graph(
    4, ((0, 1), (0, 2), (0, 3), (2, 3)), weights=(1.0, 2.0, 3.0, 1.0), node_labels=("A", "B", "C", "C")
)
M_G = [[1 / 7, 1 / 7, 2 / 7, 3 / 7], [1 / 2, 1 / 2, 0, 0], [2 / 4, 0, 1 / 4, 1 / 4], [3 / 5, 0, 1 / 5, 1 / 5]]
X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
M_G_X = [[1 / 7, 1 / 7, 5 / 7], [1 / 2, 1 / 2, 0], [2 / 4, 0, 2 / 4], [3 / 5, 0, 2 / 5]]
XT_M_G = [[1 / 7, 1 / 7, 2 / 7, 3 / 7], [1 / 2, 1 / 2, 0, 0], [11 / 10, 0, 9 / 20, 9 / 20]]

# The table: k2, sorted H0, sorted H1, H0 and H1 by degree pair.
TABLE = [
    (0, (0, 2, 2), (2,), (2, 0, 2), (0, 0, 2)),
    (1, (0.142857, 1.1, 1.292857), (1.435714,), (1.1, 0.142857, 1.292857), (0, 0, 1.435714)),
    (2, (0.248980, 0.402398, 0.895), (0.607806,), (0.895, 0.248980, 0.402398), (0, 0, 0.607806)),
    (3, (0.209344, 0.523549, 1.092750), (0.732893,), (1.092750, 0.209344, 0.523549), (0, 0, 0.732893)),
    (4, (0.226757, 0.432861, 1.065452), (0.659618,), (1.065452, 0.226757, 0.432861), (0, 0, 0.659618)),
    (5, (0.219926, 0.459778, 1.103905), (0.679704,), (1.103905, 0.219926, 0.459778), (0, 0, 0.679704)),
    (6, (0.222978, 0.443228, 1.101213), (0.666206,), (1.101213, 0.222978, 0.443228), (0, 0, 0.666206)),
    (math.inf, (0.222222, 0.444444, 1.111111), (0.666667,), (1.111111, 0.222222, 0.444444), (0, 0, 0.666667)),
]
HALF_A_DIGIT = 0.5e-6 * (1 + 1e-6)


def embedded(backend: str, representation: str, k: object) -> tuple[list[str], np.ndarray]:
    """Names and vector of the example, tau = 0 as in the paper."""
    batch = to_batch([EXAMPLE])
    layout = FeatureLayout.fit(batch, LayoutOptions(pairs=parse_k(k), representation=representation, tau=0))
    return layout.names, engine.embed(batch, layout, engine.Filtering(backend=backend))[0]


def test_transition_matrix():
    batch = to_batch([EXAMPLE])
    M = transition_matrix(batch.indptr, batch.indices, batch.weights).toarray()
    np.testing.assert_allclose(M, M_G, rtol=1e-15)
    np.testing.assert_allclose(M @ X, M_G_X, rtol=1e-15)


def test_the_naive_twin_tells_the_example():
    x = naive.node_matrix(EXAMPLE, "labels", [EXAMPLE])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(naive.transition_matrix(EXAMPLE), M_G, rtol=1e-15)
    np.testing.assert_allclose(naive.diffused(EXAMPLE, x, 1, 0).T, M_G_X, rtol=1e-15)
    np.testing.assert_allclose(naive.diffused(EXAMPLE, x, 0, 1), XT_M_G, rtol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_normalized_weisfeiler_lehman_step(backend):
    """The heights at (1, 0) are the distances between the printed rows of M_G X."""
    (row,) = engine.embed_grid(to_batch([EXAMPLE]), k1=[1], k2=[0], backend=backend)
    wanted = [np.abs(np.subtract(M_G_X[u], M_G_X[v])).sum() for u, v in EXAMPLE.edges]
    np.testing.assert_allclose(row.heights[0], wanted, rtol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_heights_after_one_random_walk_step(backend):
    """The fractions in the figure; edges come as e34, e12, e13, e14, and the last one closes a cycle."""
    (row,) = engine.embed_grid(to_batch([EXAMPLE]), k1=[0], k2=[1], backend=backend)
    np.testing.assert_allclose(row.heights[0], [11 / 10, 181 / 140, 201 / 140, 1 / 7], rtol=1e-14)
    assert row.order[0].tolist() == [3, 0, 1, 2]
    assert row.closes_cycle[0].tolist() == [False, False, True, False]


@pytest.mark.parametrize(("k2", "h0", "h1", "pairs_h0", "pairs_h1"), TABLE, ids=[f"k2={row[0]}" for row in TABLE])
@pytest.mark.parametrize("backend", BACKENDS)
def test_table(backend, k2, h0, h1, pairs_h0, pairs_h1):
    names, vector = embedded(backend, "sorted", (0, k2))
    assert names == [f"{name}@0,{k2}" for name in ("h0[0]", "h0[1]", "h0[2]", "h1[0]")]
    np.testing.assert_allclose(vector, [*h0, *h1], rtol=0, atol=HALF_A_DIGIT)

    names, vector = embedded(backend, "degree-pairs", (0, k2))
    assert names == [f"{group}[{pair}]@0,{k2}" for group in ("h0", "h1") for pair in ("1,3", "2,2", "2,3")]
    np.testing.assert_allclose(vector, [*pairs_h0, *pairs_h1], rtol=0, atol=HALF_A_DIGIT)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_whole_table_in_one_go(backend):
    """All eight k2 as one concatenated vector are the eight vectors."""
    _, vector = embedded(backend, "sorted", [(0, row[0]) for row in TABLE])
    np.testing.assert_allclose(vector.reshape(8, 4), [[*row[1], *row[2]] for row in TABLE], rtol=0, atol=HALF_A_DIGIT)


def test_limit_is_the_limit():
    """Many steps come to what infinity says."""
    (row,) = engine.embed_grid(to_batch([EXAMPLE]), k1=[0], k2=[400, math.inf], backend="numpy")
    np.testing.assert_allclose(row.heights[0], row.heights[1], rtol=1e-13)


def test_grid_takes_infinity_last():
    assert Grid.product([math.inf, 0], [math.inf, 3, 0]).rows == ((0, (0, 3, math.inf)), (math.inf, (0, 3, math.inf)))
