"""scikit-learn's checks of an estimator: every one of them.

Some would be left out if SciPy had been imported without ``SCIPY_ARRAY_API=1``; ``conftest.py``
sets it before anything imports SciPy.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from sklearn.utils.estimator_checks import check_estimator


def assert_every_check_passes(estimator: Any, not_met: Collection[str] = ()) -> None:
    """None fails and none is skipped, except those named."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = check_estimator(estimator, on_fail=None)
    assert len(answers) > 40
    assert [
        (answer["check_name"], answer["status"], repr(answer["exception"]))
        for answer in answers
        if answer["status"] != "passed" and answer["check_name"] not in not_met
    ] == []
