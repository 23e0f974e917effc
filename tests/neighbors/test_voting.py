"""The neighbours that voted, against the definition of the vote."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.neighbors import KNNClassifier

mpl.use("Agg")


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_votes_are_those_that_the_classifier_counts(weights):
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    knn = KNNClassifier(7, weights=weights).fit(X[::2], names[::2])
    Q = X[1::2]
    found = knn.explain(Q)
    apart = np.linalg.norm(Q[:, None] - X[::2], axis=2)
    np.testing.assert_allclose(found.distances, np.sort(apart, axis=1)[:, :7])
    np.testing.assert_allclose(np.take_along_axis(apart, found.rows, 1), found.distances)
    np.testing.assert_array_equal(found.labels, names[::2][found.rows])
    np.testing.assert_array_equal(found.predictions, knn.predict(Q))
    sums = [(found.votes * (found.labels == c)).sum(axis=1) for c in knn.classes_]
    np.testing.assert_allclose(np.transpose(sums), knn.predict_proba(Q), atol=1e-12)


def test_a_training_sample_votes_alone_and_strangers_do_not_vote():
    knn = KNNClassifier(3, weights="distance").fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert knn.explain([[1.0]]).votes[0].tolist() == [1.0, 0.0, 0.0]
    stranger = knn.explain([[np.nan]])
    assert not stranger.votes.any() and np.isinf(stranger.distances).all()


def test_the_result_is_a_table_and_a_picture():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), KNNClassifier(5)).fit(X, y)
    found = model[-1].explain(model[:-1].transform(X[:4]))
    table = found.to_frame()
    assert len(table) == 20 and table["sample"].tolist()[::5] == [0, 1, 2, 3]
    np.testing.assert_array_equal(table["neighbour"].to_numpy().reshape(4, 5), found.rows)
    np.testing.assert_allclose(table["vote"].to_numpy().reshape(4, 5), found.votes)
    widths = sorted(bar.get_width() for bar in found.plot(2).patches)
    np.testing.assert_allclose(widths, np.sort(found.distances[2]))
    with pytest.raises(ValueError, match="sample"):
        found.plot(4)
