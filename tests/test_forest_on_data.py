"""The exact twin against the installed scikit-learn, bit for bit, on the vectors of every data set at hand."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import pwlr
from pwlr.datasets import available_datasets
from pwlr.forest import grow_forest

TREES = 12


def vectors_of(name, data_dir):
    graphs = pwlr.load_dataset(name, data_dir=data_dir)
    if len(graphs) > 1200:
        graphs = graphs[:: len(graphs) // 1200]  # scikit-learn is the slow one of the two
    typed = pwlr.PWLRTransformer(dtype=np.float32).fit_transform(graphs)
    listed = pwlr.PWLRTransformer(k=(1, 2), representation="sorted", dtype=np.float32).fit_transform(graphs)
    return {"typed": typed, "sorted": listed}, graphs.y


@pytest.mark.data
@pytest.mark.parametrize("name", available_datasets())
def test_same_forest_on_real_vectors(name, data_dir):
    tables, y = vectors_of(name, data_dir)
    half = np.arange(len(y)) % 2 == 0
    for X in tables.values():
        genuine = RandomForestClassifier(TREES, random_state=5).fit(X[half], y[half])
        twin = grow_forest(X[half], y[half], n_trees=TREES, random_state=5, engine="twin")
        np.testing.assert_array_equal(twin.predict_proba(X), genuine.predict_proba(X))
        np.testing.assert_array_equal(twin.predict(X), genuine.predict(X))
        np.testing.assert_array_equal(twin.feature_importances(), genuine.feature_importances_)
        assert sum(tree.tree_.node_count for tree in genuine.estimators_) == len(twin.threshold)
        np.testing.assert_array_equal(
            twin.threshold, np.concatenate([tree.tree_.threshold for tree in genuine.estimators_])
        )


@pytest.mark.data
@pytest.mark.parametrize("name", ["MUTAG", "PTC_FR", "BZR_MD"])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_same_votes_out_of_bag(name, data_dir):
    tables, y = vectors_of(name, data_dir)
    for X in tables.values():
        genuine = RandomForestClassifier(60, random_state=9, oob_score=True).fit(X, y)
        twin = grow_forest(X, y, n_trees=60, random_state=9, engine="twin")
        np.testing.assert_array_equal(twin.oob_decision_function(), genuine.oob_decision_function_)
        assert twin.oob_score() == genuine.oob_score_
