"""Warnings point at the line of the user, whatever wraps the method that is called."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.embedded import AROM, SVMRFE
from tamiz.filters import MRMR
from tamiz.scale import batches
from tamiz.svm import PegasosClassifier


def parts(*, constant=False, ordered=False, empty=False):
    """Two batches of rows of two classes that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.standard_normal((600, 4)) + y[:, None]
    if constant:
        X[:] = 1.0
    if empty:
        X[:, 3] = np.nan
    if ordered:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    return [(X[:300], y[:300]), (X[300:], y[300:])]


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("SVMRFE", lambda: SVMRFE().fit_stream(parts(), max_passes=1)),
        ("is constant", lambda: SVMRFE().fit_stream(parts(constant=True))),
        ("AROM", lambda: AROM().fit_stream(parts(), max_passes=1)),
        ("seem to be sorted", lambda: PegasosClassifier().fit_stream(parts(ordered=True))),
        (
            "still falls by more than",
            lambda: PegasosClassifier(tol=1e-12, random_state=0).fit_stream(parts(), passes=1),
        ),
        ("no value in any row", lambda: MRMR(2).fit_stream(parts(empty=True))),
        ("is filled with 0", lambda: batches(parts(empty=True)).filled()),
    ],
)
def test_a_warning_of_a_stream_points_at_the_call(words, call):
    with pytest.warns(UserWarning, match=words) as caught:
        call()
    said = [one for one in caught if words in str(one.message)]
    assert [one.filename for one in said] == [__file__]
