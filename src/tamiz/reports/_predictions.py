"""The report card of a comparison: its own predictions in one repeat, made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz.evaluation import report_card
from tamiz.evaluation._compare_judges import make_judge, nothing_selected
from tamiz.evaluation._compare_select import preparing_steps, seeded
from tamiz.evaluation._compare_setting import seed_for
from tamiz.evaluation._plan import Part, plan_parts

if TYPE_CHECKING:
    from tamiz.evaluation.comparison import Comparison
    from tamiz.reports.study import Recommendation, Study


def card_of(study: Study, cv: Any, repeats: int) -> Any:
    """Judge what the recommended method predicted in the first repeat that is complete.

    Every split has the features, their number and the parameters that its own training part chose,
    so that the predictions are those behind the honest error. None if no repeat is complete.
    """
    data, found, best = study.dataset, study.comparison, study.recommended
    assert data.y is not None and found is not None and best is not None
    splits = _complete_repeat(found, best)
    if splits is None:
        study.notes.append("No repeat was finished, so that there is no report card.")
        return None
    parts = plan_parts(cv, repeats, data.X, data.y, "classification", found.seed, None)
    answers, values, truth = [], [], []
    for k in splits:
        predicted, decided = _answers(study, parts[k], k)
        answers.append(predicted)
        values.append(decided)
        truth.append(data.y[parts[k].test])
    labels = np.unique(data.y)
    names = np.array(data.target_names if data.target_names is not None else labels.astype(str))
    scored = len(labels) == 2 and all(one is not None for one in values)
    return report_card(
        names[np.searchsorted(labels, np.concatenate(truth))],
        names[np.searchsorted(labels, np.concatenate(answers))],
        scores=np.concatenate([one for one in values if one is not None]) if scored else None,
        positive=names[-1] if len(names) == 2 else None,
        labels=names.tolist(),
    )


def _complete_repeat(found: Comparison, best: Recommendation) -> Any:
    m, j = found.methods.index(best.method), found.judges.index(best.judge)
    errors = (found.own_errors if best.kind == "own" else found.nested_errors)[m, j]
    for repeat in np.unique(found.repeat):
        splits = np.flatnonzero(found.repeat == repeat)
        if np.isfinite(errors[splits]).all():
            return splits
    return None


def _answers(study: Study, part: Part, k: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Predictions and decision values, if there are some, in the test part of split ``k``."""
    data, found, best = study.dataset, study.comparison, study.recommended
    assert data.y is not None and found is not None and best is not None
    m, j = found.methods.index(best.method), found.judges.index(best.judge)
    features: Any
    if best.kind == "own":
        place, features = -1, found.selections[best.method][k]
    else:
        size = int(found.nested_sizes[m, j, k])
        place, order = int(np.flatnonzero(found.sizes == size)[0]), found.orders[best.method][k]
        features = None if order is None else order[:size]
    scale = study.params.get("scale")
    is_sparse = sparse.issparse(data.X)
    X = data.X.tocsr() if is_sparse else data.X
    X_train, X_test = X[part.train], X[part.test]
    steps = preparing_steps(bool(np.sum(data.missing)), scale, is_sparse)
    if steps:
        prepare = Pipeline(steps)
        X_train, X_test = prepare.fit_transform(X_train), prepare.transform(X_test)
    if len(features):
        machine = make_judge(best.judge, "classification", scale is not None)
        machine = seeded(machine, seed_for(found.seed, "judge", best.judge, part.repeat, part.fold))
        rows = found.tuned.get(best.method, {}).get(best.judge)
        if rows is not None:
            machine.set_params(**rows[k][place])
        X_train, X_test = X_train[:, features], X_test[:, features]
    else:
        machine = nothing_selected("classification")
    machine.fit(X_train, data.y[part.train])
    decide = getattr(machine, "decision_function", None)
    return machine.predict(X_test), None if decide is None else decide(X_test)
