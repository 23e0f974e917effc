"""Every public machine passes every one of scikit-learn's estimator checks, none skipped.

Some of the checks are skipped unless SciPy was imported with ``SCIPY_ARRAY_API=1``, and by the time
a test runs SciPy has been imported. So the checks run in processes of their own, one for each
group of machines, whose answers the tests below share.

``HardMarginSVC()`` is checked with a narrow radial kernel: with its default, the linear one, it
refuses classes that no hyperplane separates, and the data of several checks are of that kind.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tamiz.svm import HardMarginSVC, NotSeparableError

ROOT = Path(__file__).resolve().parent.parent.parent

GROUPS = {
    "kernel classifiers": [
        "SVC()",
        "SVC(kernel='linear', multiclass='ovr')",
        "SVC(kernel='precomputed')",
        "SVC(solver='decomposition')",
        "SVC(solver='chunking')",
        "SVC(class_weight='balanced', warm_start=True)",
        "HardMarginSVC(kernel='rbf', gamma=10.0)",
    ],
    "regression and novelty": [
        "SVR()",
        "SVR(kernel='linear', loss='squared')",
        "SVR(kernel='precomputed')",
        "SVDD()",
        "SVDD(nu=0.2, kernel='poly')",
        "OneClassSVM()",
    ],
    "linear": [
        "PegasosClassifier(max_iter=20)",
        "SubgradientClassifier(max_iter=200)",
        "PerceptronClassifier(max_iter=100)",
        "LinearMachine()",
        "LinearMachine(class_weight='balanced')",
    ],
}

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
import tamiz.svm
answers = {}
for text in json.loads(sys.argv[1]):
    estimator = eval(text, vars(tamiz.svm).copy())
    answers[text] = [
        [a["check_name"], a["status"], repr(a["exception"])]
        for a in check_estimator(estimator, on_fail=None)
    ]
print("ANSWERS" + json.dumps(answers))
"""


@functools.cache
def answers_of(group: str) -> dict[str, list[list[str]]]:
    """Name, status and exception of every check, for each machine of the group."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(GROUPS[group])],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": path_of_tamiz()},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (line,) = [s for s in done.stdout.splitlines() if s.startswith("ANSWERS")]
    return json.loads(line.removeprefix("ANSWERS"))


def path_of_tamiz() -> str:
    """What a new process needs to import the package under test."""
    return os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])


@pytest.mark.parametrize(
    ("group", "machine"), [(group, machine) for group in GROUPS for machine in GROUPS[group]]
)
def test_every_check_passes(group, machine):
    answers = answers_of(group)[machine]
    assert len(answers) > 40
    assert [answer for answer in answers if answer[1] != "passed"] == []


def test_every_public_machine_is_checked():
    from sklearn.base import BaseEstimator

    import tamiz.svm

    public = {
        name
        for name in tamiz.svm.__all__
        if isinstance(getattr(tamiz.svm, name), type)
        and issubclass(getattr(tamiz.svm, name), BaseEstimator)
    }
    checked = {text.partition("(")[0] for texts in GROUPS.values() for text in texts}
    assert checked == public


def test_why_the_hard_margin_is_checked_with_a_radial_kernel():
    """Labels drawn by lot, as in several of the checks, are not separable by a hyperplane."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    with pytest.raises(NotSeparableError, match=r"cannot be separated.*Use SVC") as caught:
        HardMarginSVC().fit(X, y)
    weight = caught.value.certificate
    assert (weight >= 0).all()
    assert weight[y == 0].sum() == pytest.approx(1) == weight[y == 1].sum()
    np.testing.assert_allclose(weight[y == 0] @ X[y == 0], weight[y == 1] @ X[y == 1], atol=1e-6)
    assert HardMarginSVC(kernel="rbf", gamma=10.0).fit(X, y).score(X, y) == 1.0
