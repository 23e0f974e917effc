"""Held-out predictions of the chosen machines, and a learning curve: would more rows help?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.evaluation.card import report_card
from tamiz.evaluation.comparison.fold import Fold, some_rows
from tamiz.evaluation.comparison.setting import Failures, Setting, Stopped
from tamiz.evaluation.study.answers import usual_candidate
from tamiz.evaluation.study.choice import Contest, Nested, Triple
from tamiz.search.judges import last_step
from tamiz.svm.confidence import MarginConfidence

#: How far from 1 a decision value may be to count as on the margin.
_ON_THE_MARGIN = 1e-3
#: Fractions of the training samples at which a learning curve is measured.
FRACTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)


class Predictions(NamedTuple):
    """Predictions of the whole procedure for samples of the test parts.

    ``rows`` are positions of samples; each finished repeat holds every sample once.
    """

    rows: np.ndarray
    repeat: np.ndarray
    truth: np.ndarray  # codes of the classes
    predicted: np.ndarray
    values: np.ndarray | None  # decision values: one column for two classes, else one for each
    #: Of two classes, the decision value for the predicted one where a machine with a margin made
    #: it, in units of this margin; NaN where another estimator did.
    margins: np.ndarray | None = None


def nested_predictions(setting: Setting, nested: Nested) -> Predictions | None:
    """In every split, fit what was chosen in the training part and predict the test part.

    These are the predictions behind the honest error. None if a deadline comes first.
    """
    return _predictions(setting, nested.contest, nested.chosen)


def triple_predictions(
    setting: Setting, contest: Contest, place: int, candidate: dict[str, Any] | None = None
) -> Predictions | None:
    """The same with one triple in all splits, so that decision values are comparable.

    Parameters of the judge are those of ``candidate`` instead of those that each split chose. Test
    parts then took part in choosing these, and in nothing else.
    """
    return _predictions(setting, contest, np.full(len(contest.splits), place), candidate)


def final_candidate(
    setting: Setting,
    contest: Contest,
    place: int,
    candidates: list[dict[str, Any]],
    notes: list[str],
) -> dict[str, Any] | None:
    """The parameters of the judge with the least mean error on the test parts of a triple.

    In the inner folds parameters are chosen on some of the rows where all would take too long, and
    what suits few rows need not suit the final model. The outer training parts have more rows, as
    many as the judge may learn from. The honest error knows nothing of this choice. None if the
    inner folds had all rows or if there is nothing to choose; if a deadline comes first, a note
    says so.
    """
    smallest = min(len(part.train) for part in setting.parts)
    inside = smallest * (setting.inner - 1) // max(1, setting.inner)
    if len(candidates) < 2 or (setting.limits.inner or inside) >= inside:
        return None
    errors = np.zeros(len(candidates))
    try:
        for split in contest.splits.tolist():
            fold = _fold(setting, split)
            columns = setting.sorted_columns(_features(contest, place, split))
            if not len(columns):
                return None
            for c, candidate in enumerate(candidates):
                setting.stop.look()
                machine = fold.predicted(contest.triples[place].judge, columns, candidate)
                Z = fold.Z_test[:, columns]
                errors[c] += setting.metric(machine, Z, fold.y_test, fold.weight_test)
    except Stopped:
        notes.append(
            f"There was no time to tune the judge {contest.triples[place].judge} again on all "
            "training rows; its parameters are those that most splits chose on fewer rows."
        )
        return None
    return candidates[int(np.argmin(errors))] if np.isfinite(errors).all() else None


def _fold(setting: Setting, split: int) -> Fold:
    part = setting.parts[split]
    return Fold(setting, part.train, part.test, (part.repeat, part.fold), Failures(setting, ""))


def _predictions(
    setting: Setting,
    contest: Contest,
    chosen: np.ndarray,
    candidate: dict[str, Any] | None = None,
) -> Predictions | None:
    found = contest.comparison
    blocks: list[Any] = []
    try:
        for k, split in enumerate(contest.splits.tolist()):
            place = int(chosen[k])
            if place < 0:
                continue
            part, fold = setting.parts[split], _fold(setting, split)
            m, j, c = (int(one) for one in contest.places[place])
            method, judge = found.methods[m], found.judges[j]
            rows = found.tuned.get(method, {}).get(judge)
            own = {} if rows is None or rows[split] is None else rows[split][c]
            columns = setting.sorted_columns(_features(contest, place, split))
            setting.stop.look()
            some = len(columns) > 0
            used = own if candidate is None else candidate
            machine = fold.predicted(judge, columns, used) if some else fold.fitted_without()
            Z = fold.Z_test[:, columns if some else [0]]
            values = _values(machine, Z)
            guess = machine.predict(Z)
            margins = _margins(setting, judge if some else None, values, guess)
            blocks.append((part.test, part.repeat, guess, values, margins))
    except Stopped:
        return None
    if not blocks:
        return None
    known = all(block[3] is not None and block[3].shape[1] == _width(setting) for block in blocks)
    rows = np.concatenate([block[0] for block in blocks])
    return Predictions(
        rows,
        np.repeat([block[1] for block in blocks], [len(block[0]) for block in blocks]),
        setting.y[rows],
        np.concatenate([block[2] for block in blocks]),
        np.concatenate([block[3] for block in blocks]) if known else None,
        np.concatenate([block[4] for block in blocks]) if _width(setting) == 1 else None,
    )


def _margins(
    setting: Setting, judge: str | None, values: np.ndarray | None, guess: np.ndarray
) -> np.ndarray:
    """Decision values in favour of what was predicted, of judges for which 1 is the margin."""
    own = judge is not None and hasattr(last_step(setting.judges[judge]), "margin_confidence")
    if not own or values is None or values.shape[1] != 1:
        return np.full(len(guess), np.nan)
    return np.where(guess == 1, values[:, 0], -values[:, 0])


def _width(setting: Setting) -> int:
    n_classes = len(np.unique(setting.y))
    return 1 if n_classes == 2 else n_classes


def _features(contest: Contest, place: int, split: int) -> np.ndarray:
    found: Any = contest.comparison
    triple = contest.triples[place]
    if triple.own:
        return found.selections[triple.method][split]
    return found.orders[triple.method][split][: triple.size]


def _machine(
    setting: Setting, fold: Fold, judge: str, columns: np.ndarray, candidate: dict[str, Any]
) -> tuple[Any, np.ndarray]:
    """A fitted machine, and the test part in the form that it expects."""
    setting.stop.look()
    if not len(columns):
        return fold.fitted_without(), fold.Z_test[:, :1]
    return fold.fitted(judge, columns, candidate), fold.Z_test[:, columns]


def _values(machine: Any, Z: np.ndarray) -> np.ndarray | None:
    decide = getattr(machine, "decision_function", None)
    if decide is not None:
        found = np.asarray(decide(Z), dtype=np.float64)
        return found.reshape(len(Z), -1)
    if hasattr(machine, "predict_proba"):
        found = np.asarray(machine.predict_proba(Z), dtype=np.float64)
        return found[:, [1]] - 0.5 if found.shape[1] == 2 else found
    return None


def card_of(made: Predictions, names: list[str], positive: str | None, level: float) -> Any:
    """The report card of all repeats.

    ``names`` are those of the classes, in the order of their codes.
    """
    labels = np.array(names, dtype=object)
    scored = len(names) == 2 and made.values is not None
    values = made.values
    card = report_card(
        labels[made.truth],
        labels[made.predicted],
        scores=values[:, 0] if scored and values is not None else None,
        positive=positive,
        labels=list(names),
        confidence=level,
    )
    seen = np.zeros(0) if made.margins is None else np.flatnonzero(~np.isnan(made.margins))
    if made.margins is not None and len(seen):
        sure = MarginConfidence(made.margins[seen], None, None, _ON_THE_MARGIN)
        right = made.truth[seen] == made.predicted[seen]
        card.take_margin(sure, right, np.ones(len(seen)), confidence=level)
    return card


class LearningCurve(NamedTuple):
    """Error of one answer with fewer training samples; means over the folds of one repeat."""

    n_train: np.ndarray
    error: np.ndarray
    training_error: np.ndarray
    errors: np.ndarray  # (folds, fractions)


def learning_curve(
    setting: Setting, found: Any, triple: Triple, place: np.ndarray
) -> LearningCurve | None:
    """Would more rows help? The answer fitted to 20, 40, ... 100 % of the training parts.

    Features are ranked anew each time. None if a deadline comes first.
    """
    candidate = usual_candidate(found, place)
    folds = [part for part in setting.parts if part.repeat == setting.parts[0].repeat]
    tests: list[list[float]] = []
    trains: list[list[float]] = []
    sizes: list[list[int]] = []
    try:
        for part in folds:
            test_row, train_row, counts = [], [], []
            for f, fraction in enumerate(FRACTIONS):
                most = max(10, round(fraction * len(part.train)))
                y = setting.y[part.train]
                rows = part.train[some_rows(y, most, setting.task, setting.seed_of("learn", f))]
                key = (part.repeat, part.fold, 1000 + f)
                fold = Fold(setting, rows, part.test, key, Failures(setting, ""))
                ranking = fold.rank(triple.method)
                if ranking is None or len(np.unique(fold.y)) < 2:
                    return None
                features = ranking.own if triple.own else ranking.order[: triple.size]  # type: ignore[index]
                columns = setting.sorted_columns(features)
                machine, Z = _machine(setting, fold, triple.judge, columns, candidate)
                test_row.append(setting.metric(machine, Z, fold.y_test, fold.weight_test))
                seen = fold.Z[:, columns] if len(columns) else fold.Z[:, :1]
                train_row.append(setting.metric(machine, seen, fold.y, fold.weight))
                counts.append(len(rows))
            tests.append(test_row)
            trains.append(train_row)
            sizes.append(counts)
    except Stopped:
        return None
    except ValueError:  # too few samples of a class for the method
        return None
    return LearningCurve(
        np.mean(sizes, axis=0), np.mean(tests, axis=0), np.mean(trains, axis=0), np.array(tests)
    )
