"""How good is a classifier? The confusion table and the numbers it holds, each with an interval.

With the counts TP, FP, FN and TN of the positive class: sensitivity TP / (TP + FN), specificity
TN / (TN + FP), precision TP / (TP + FP), accuracy (TP + TN) / n. Precision is not accuracy: in
Spanish texts *precisión* may mean either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.base import json_ready
from tamiz.display import INK, TableResult, axes, colours, frames
from tamiz.evaluation.inference import clopper_pearson, wilson
from tamiz.evaluation.margins import MarginReport, confidence_of, margin_report
from tamiz.evaluation.measures import (
    Confusion,
    Metric,
    ROCCurve,
    binary_metrics,
    collapse,
    macro_area,
    one_against_rest,
    several_metrics,
)
from tamiz.search.judges import last_step
from tamiz.svm.confidence import MarginConfidence
from tamiz.validation import (
    all_classes,
    check_counts,
    check_level,
    check_sample_weight,
    check_scores,
    checked,
    codes_of,
    column_of,
    estimator_with,
    integer_from,
    one_of,
    read_labels,
)

if TYPE_CHECKING:
    import pandas as pd


_PROPORTIONS: dict[str, Any] = {
    "wilson": (wilson, "Wilson"),
    "clopper_pearson": (clopper_pearson, "Clopper–Pearson"),
}
#: What may be said of the intervals.
_INTERVALS = {
    "confidence": check_level,
    "proportion": one_of(*_PROPORTIONS),
    "n_bootstrap": integer_from(1),
    "random_state": integer_from(0),
}
_SHOWN = {"f1": "F1", "mcc": "MCC", "roc_area": "ROC area", "macro_f1": "macro F1"}


@dataclass(repr=False)
class ReportCard(TableResult):
    """The quality of a classifier on labelled samples.

    ``card.sensitivity`` is a number, ``card["sensitivity"]`` the same with its interval, how that
    was made, and why it is absent where it is.

    Attributes
    ----------
    classes : list
        The labels; with two of them the second is positive.
    positive : label or None
        The positive class, of two.
    confusion : array of shape (n_classes, n_classes)
        Rows are the true classes, columns the predicted ones, in the order of ``classes``.
    metrics : dict of Metric
        The numbers of all samples together.
    per_class : dict of dict of Metric
        With more than two classes, those of each class against the others, by label.
    confidence : float
        Confidence of the intervals.
    roc : list of dict
        Points of the ROC curves, where scores were given.
    margin : MarginReport or None
        Of machines with a margin (:meth:`of`): ``margin.parts["inside"]`` has the fraction of the
        predictions inside the margin and the accuracy there, likewise "on" and "beyond";
        ``margin.boundary_distance`` and ``margin.support_distance`` are quartiles of the distances
        to the boundary and to the nearest support vector, in feature space.

    Examples
    --------
    >>> from tamiz.evaluation import ReportCard
    >>> card = ReportCard.from_confusion(TP=519, FP=31, FN=58, TN=773)
    >>> card
    <ReportCard: 1381 samples, accuracy 0.936, sensitivity 0.899, specificity 0.961>
    >>> print(card["precision"])
    0.944 (0.921 to 0.960)
    """

    classes: list[Any]
    positive: Any
    confusion: np.ndarray
    metrics: dict[str, Metric]
    per_class: dict[Any, dict[str, Metric]]
    confidence: float
    roc: list[dict[str, Any]] = field(default_factory=list)
    margin: MarginReport | None = None

    # ------------------------------------------------------------------ other ways to make one

    @classmethod
    @checked(**_INTERVALS)
    def from_confusion(
        cls,
        matrix: Any = None,
        *,
        TP: int | None = None,
        FP: int | None = None,
        FN: int | None = None,
        TN: int | None = None,
        classes: Any = None,
        positive: Any = None,
        confidence: float = 0.95,
        proportion: str = "wilson",
        n_bootstrap: int = 2000,
        random_state: int = 0,
    ) -> ReportCard:
        """From a published table.

        Parameters
        ----------
        matrix : array of shape (n_classes, n_classes), optional
            Counts; rows are the true classes, columns the predicted ones. With two classes the
            second is positive.
        TP, FP, FN, TN : int, optional
            The four counts of two classes, instead.
        classes : list, optional
            Labels.
        positive : label, optional
            The positive class. With more than two classes, that class against all others.
        confidence, proportion, n_bootstrap, random_state
            As in :func:`report_card`.
        """
        four = (TN, FP, FN, TP)
        if matrix is None:
            if any(count is None for count in four):
                raise ValueError("give a matrix, or all of TP, FP, FN and TN.")
            matrix = np.array(four).reshape(2, 2)
        elif any(count is not None for count in four):
            raise ValueError("give a matrix, or TP, FP, FN and TN, not both.")
        counts = check_counts(matrix)
        labels = list(range(len(counts))) if classes is None else list(classes)
        if len(set(labels)) != len(counts):
            raise ValueError(f"classes must hold {len(counts)} different labels; got {labels}.")
        if positive is not None:
            _refuse_unknown(positive, labels)
            c = labels.index(positive)
            other = labels[1 - c] if len(labels) == 2 else f"other than {positive}"
            labels, counts = [other, positive], collapse(counts, c)
        options = _Options(confidence, proportion, n_bootstrap, random_state)
        return _make(labels, counts, counts, [], options)

    @classmethod
    @checked(estimator=estimator_with("predict", advice="pass a fitted classifier"))
    def of(cls, estimator: Any, X: Any, y: Any, **options: Any) -> ReportCard:
        """Of a fitted classifier on samples, best ones it has not seen.

        Scores for the ROC area come from ``decision_function`` or ``predict_proba``. Of machines
        with a margin the card also says how many predictions lie inside, on and beyond it.

        Parameters
        ----------
        estimator : fitted classifier
            Anything with ``predict``.
        X, y : table and array
            Samples and their true classes.
        **options
            Those of :func:`report_card`.
        """
        predicted = estimator.predict(X)
        known = getattr(estimator, "classes_", None)
        if "scores" not in options and known is not None:
            options["scores"] = scores_of(estimator, X, len(known))
            options.setdefault("labels", list(known))
            scores = options["scores"]
            flat = scores is not None and scores.ndim == 1 and len(known) == 2
            if flat and options.get("positive") == np.asarray(known).tolist()[0]:
                options["scores"] = -scores  # the machine's speak for its second class
        card = report_card(y, predicted, **options)
        confidence = confidence_of(estimator, X)
        if confidence is not None:
            truth, guess = read_labels("y", y), read_labels("y_pred", predicted)
            weight = check_sample_weight(options.get("sample_weight"), len(truth))
            named = {name: options[name] for name in _INTERVALS if name in options}
            right = np.array([a == b for a, b in zip(truth, guess, strict=True)], dtype=bool)
            card.take_margin(confidence, right, weight, **named)
        return card

    def take_margin(
        self, seen: MarginConfidence, right: np.ndarray, weight: np.ndarray, **intervals: Any
    ) -> None:
        """Set ``margin``: where predictions lie, seen from the margin, and which were right.

        Parameters
        ----------
        seen : MarginConfidence
            What machines with a margin say of their predictions.
        right : array of bool
            Which of these predictions were right.
        weight : array
            Weights of their samples.
        **intervals
            ``confidence`` and the other options of :func:`report_card` for intervals.
        """
        made = _table(np.zeros((2, 2)), np.zeros((2, 2)), [], _Options(**intervals))
        self.margin = margin_report(seen, right, weight, made)

    # ------------------------------------------------------------------ reading

    def __getitem__(self, name: str) -> Metric:
        if name in self.metrics:
            return self.metrics[name]
        if self.per_class and name in next(iter(self.per_class.values())):
            raise KeyError(
                f"with {len(self.classes)} classes {name} is a number of each class: see "
                f"per_class[label][{name!r}]."
            )
        hint = " It needs scores=..." if name == "roc_area" else ""
        raise KeyError(f"{name!r} is not one of {', '.join(self.metrics)}.{hint}")

    @property
    def sensitivity(self) -> float:
        """TP / (TP + FN), the recall of the positive class."""
        return self["sensitivity"].value

    @property
    def specificity(self) -> float:
        """TN / (TN + FP), the recall of the negative class."""
        return self["specificity"].value

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return self["precision"].value

    @property
    def accuracy(self) -> float:
        """Fraction of right predictions."""
        return self["accuracy"].value

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the recalls of the classes."""
        return self["balanced_accuracy"].value

    @property
    def f1(self) -> float:
        """2TP / (2TP + FP + FN)."""
        return self["f1"].value

    @property
    def mcc(self) -> float:
        """Matthews' correlation coefficient."""
        return self["mcc"].value

    @property
    def roc_area(self) -> float:
        """Area under the ROC curve; the mean over the classes if there are more than two."""
        return self["roc_area"].value

    @property
    def n_samples(self) -> float:
        """Number of samples, or the sum of their weights."""
        total = float(self.confusion.sum())
        return int(total) if total == int(total) else total

    def __repr__(self) -> str:
        names = ("accuracy", "sensitivity", "specificity", "balanced_accuracy")
        known = [name for name in names if name in self.metrics][:3]
        shown = ", ".join(f"{_title(name)} {self.metrics[name].value:.3f}" for name in known)
        return f"<ReportCard: {self.n_samples:g} samples, {shown}>"

    def __str__(self) -> str:
        labels = [str(label) for label in self.classes]
        width = max(9, *(len(label) for label in labels))
        lines = ["rows: true, columns: predicted"]
        lines.append(" " * (width + 2) + "  ".join(f"{label:>{width}}" for label in labels))
        for label, row in zip(labels, self.confusion, strict=True):
            lines.append(f"{label:<{width}}  " + "  ".join(f"{count:>{width}g}" for count in row))
        lines += ["", *_rows(self.metrics, self.confidence)]
        for label, metrics in self.per_class.items():
            lines += ["", f"{label} against the others", *_rows(metrics, None)]
        if self.margin is not None:
            lines += ["", *self.margin.lines()]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """One row for each number: class, value, interval, method, reason."""
        parts: list[tuple[Any, dict[str, Metric]]] = [("all", self.metrics)]
        parts += list(self.per_class.items())
        return frames().DataFrame(
            [
                {
                    "class": label,
                    "metric": name,
                    "value": metric.value,
                    "low": metric.interval[0],
                    "high": metric.interval[1],
                    "method": metric.method,
                    "reason": metric.reason,
                }
                for label, metrics in parts
                for name, metric in metrics.items()
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON; what is undefined is None."""
        return json_ready(
            {
                "classes": self.classes,
                "positive": self.positive,
                "confusion": self.confusion,
                "n_samples": self.n_samples,
                "confidence": self.confidence,
                "metrics": {name: m._asdict() for name, m in self.metrics.items()},
                "per_class": {
                    str(label): {name: m._asdict() for name, m in metrics.items()}
                    for label, metrics in self.per_class.items()
                },
                "roc": self.roc,
                "margin": None if self.margin is None else self.margin.plain(),
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the confusion table and, where scores were given, the ROC curve beside it.

        Parameters
        ----------
        ax : matplotlib axes or pair of them, optional
            A single one gets the confusion table only.

        Returns
        -------
        ax : matplotlib axes, or an array of two
        """
        return _plot(self, ax)


def _title(name: str) -> str:
    return _SHOWN.get(name, name.replace("_", " ").replace("roc area", "ROC area"))


def _rows(metrics: dict[str, Metric], confidence: float | None) -> list[str]:
    head = [] if confidence is None else [f"{'':<19}value  {100 * confidence:g} % interval"]
    return head + [
        f"{_title(name):<18} {metric}{'  ' + metric.reason if metric.reason else ''}"
        for name, metric in metrics.items()
    ]


@checked(**_INTERVALS)
def report_card(
    y_true: Any,
    y_pred: Any,
    *,
    scores: Any = None,
    positive: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    proportion: str = "wilson",
    n_bootstrap: int = 2000,
    random_state: int = 0,
) -> ReportCard:
    """Judge predictions by the true classes.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n_samples,)
        True and predicted classes.
    scores : array of shape (n_samples,) or (n_samples, n_classes), optional
        Decision values or probabilities, for the ROC area: of the positive class, or of all
        classes in sorted order.
    positive : label, optional
        The positive class; the last in sorted order of two. With more classes, that class against
        all others.
    labels : list, optional
        All classes, where some may be absent from ``y_true`` and ``y_pred``.
    sample_weight : array of shape (n_samples,), optional
        Weights. Intervals then rest on the effective number of samples.
    confidence : float, default=0.95
        Confidence of the intervals.
    proportion : {"wilson", "clopper_pearson"}, default="wilson"
        Interval of proportions.
    n_bootstrap : int, default=2000
        Resamples of the table for the numbers that have no formula (MCC, macro averages).
    random_state : int, default=0
        Their seed.

    Returns
    -------
    ReportCard
        What is undefined is NaN, and its ``reason`` says why.

    References
    ----------
    Wilson: Probable inference, the law of succession, and statistical inference. JASA 22 (1927).

    DeLong, DeLong, Clarke-Pearson: Comparing the areas under two or more correlated receiver
    operating characteristic curves. Biometrics 44 (1988).

    Sun, Xu: Fast implementation of DeLong's algorithm. IEEE Signal Processing Letters 21 (2014).

    Zou, Donner: Construction of confidence limits about effect measures. Statistics in Medicine 27
    (2008), on combining intervals (MOVER).

    Examples
    --------
    >>> from tamiz.evaluation import report_card
    >>> card = report_card([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0], scores=[1, 2, 4, 3, 6, 5])
    >>> card.accuracy, card.roc_area
    (0.667, 0.889)
    """
    options = _Options(confidence, proportion, n_bootstrap, random_state)
    truth, guess = read_labels("y_true", y_true), read_labels("y_pred", y_pred)
    if len(truth) != len(guess):
        raise ValueError(
            f"y_true has {len(truth)} entries but y_pred has {len(guess)}; they must be equal."
        )
    if not len(truth):
        raise ValueError("y_true is empty; there is nothing to report.")
    weight = check_sample_weight(sample_weight, len(truth))
    classes = all_classes(truth, guess, labels)
    table = None if scores is None else check_scores(scores, len(truth))
    codes, guesses = codes_of(truth, classes), codes_of(guess, classes)
    _refuse_unknown(positive, classes)
    if len(classes) > 2 and positive is not None:
        c = classes.index(positive)
        if table is not None and table.ndim == 2:
            table = column_of(table, c, classes)
        codes, guesses = (codes == c).astype(int), (guesses == c).astype(int)
        classes = [f"other than {positive}", positive]
    elif len(classes) == 2:
        p = 1 if positive is None else classes.index(positive)
        if table is not None and table.ndim == 2:
            table = column_of(table, p, classes)
        if p == 0:
            classes, codes, guesses = classes[::-1], 1 - codes, 1 - guesses
    elif table is not None and table.shape[1:] != (len(classes),):
        raise ValueError(
            f"scores has shape {table.shape}; with {len(classes)} classes it needs one column for "
            "each, in sorted order."
        )
    k = len(classes)
    cell = codes * k + guesses
    counts = np.bincount(cell, weights=weight, minlength=k * k).reshape(k, k)
    squares = np.bincount(cell, weights=weight**2, minlength=k * k).reshape(k, k)
    areas = []
    if table is not None:
        columns = [table] if table.ndim == 1 else list(table.T)
        marks = [codes == 1] if table.ndim == 1 else [codes == c for c in range(k)]
        own = None if sample_weight is None else weight
        areas = [ROCCurve(m, s, own) for m, s in zip(marks, columns, strict=True)]
    return _make(classes, counts, squares, areas, options)


def _refuse_unknown(positive: Any, classes: list[Any]) -> None:
    if positive is not None and positive not in classes:
        raise ValueError(
            f"positive={positive!r} is not one of the classes {', '.join(map(repr, classes))}."
        )


# ------------------------------------------------------------------ putting it together


class _Options(NamedTuple):
    """How intervals are made."""

    confidence: float = 0.95
    proportion: str = "wilson"
    n_bootstrap: int = 2000
    random_state: int = 0


def _table(
    counts: np.ndarray, squares: np.ndarray, labels: list[str], options: _Options
) -> Confusion:
    interval, named = _PROPORTIONS[options.proportion]
    return Confusion(
        counts=np.asarray(counts, dtype=np.float64),
        squares=np.asarray(squares, dtype=np.float64),
        labels=labels,
        proportion=interval,
        proportion_name=named,
        confidence=options.confidence,
        n_bootstrap=options.n_bootstrap,
        seed=options.random_state,
    )


def _make(
    classes: list[Any],
    counts: np.ndarray,
    squares: np.ndarray,
    curves: list[ROCCurve],
    options: _Options,
) -> ReportCard:
    table = _table(counts, squares, [str(label) for label in classes], options)
    per_class: dict[Any, dict[str, Metric]] = {}
    if len(classes) == 2:
        metrics = binary_metrics(table)
        if curves:
            labels = (table.labels[0], table.labels[1])
            metrics["roc_area"] = curves[0].metric(options.confidence, labels)
    else:
        metrics = several_metrics(table)
        for c, label in enumerate(classes):
            against = one_against_rest(table, c)
            per_class[label] = binary_metrics(against)
            if curves:
                labels = (against.labels[0], against.labels[1])
                per_class[label]["roc_area"] = curves[c].metric(options.confidence, labels)
        if curves:
            metrics["roc_area"] = macro_area(curves, per_class, options.confidence)
    whole = bool((counts == np.round(counts)).all())
    marks = classes[1:] if len(classes) == 2 else classes
    return ReportCard(
        classes=classes,
        positive=classes[1] if len(classes) == 2 else None,
        confusion=counts.astype(np.int64) if whole else counts,
        metrics=metrics,
        per_class=per_class,
        confidence=options.confidence,
        roc=[
            {"class": mark, "fpr": curve.fpr, "tpr": curve.tpr}
            for mark, curve in zip(marks, curves, strict=False)
        ],
    )


def _plot(card: ReportCard, ax: Any) -> Any:
    """Draw the table and, where there are scores, the curves."""
    pair: Any = np.ravel(ax) if ax is not None else []
    if len(pair) == 2:
        table, curves = pair
    elif ax is not None or not card.roc:
        return _plot_confusion(card, axes(ax))
    else:
        import matplotlib.pyplot as plt

        pair = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")[1]
        table, curves = pair
    _plot_confusion(card, table)
    if card.roc:
        _plot_roc(card, curves)
    return np.asarray(pair)


def _plot_confusion(card: ReportCard, ax: Any) -> Any:
    """Counts, shaded by their fraction of the true class."""
    counts = card.confusion
    whole = counts.sum(axis=1, keepdims=True)
    shade = counts / np.where(whole > 0, whole, 1)
    ax.imshow(shade, cmap="Blues", vmin=0, vmax=1)
    k = len(card.classes)
    for i in range(k):
        for j in range(k):
            dark = shade[i, j] > 0.55
            text = f"{counts[i, j]:,}" if counts.dtype.kind == "i" else f"{counts[i, j]:.4g}"
            if k <= 8 and whole[i, 0] > 0:
                text += f"\n{100 * shade[i, j]:.1f} %"
            colour = "white" if dark else "black"
            ax.text(j, i, text, ha="center", va="center", color=colour, size=_size(k))
    labels = [str(label) for label in card.classes]
    turned = {"rotation": 45, "ha": "right"} if max(map(len, labels)) * k > 40 else {}
    ax.set_xticks(range(k), labels, **turned)
    ax.set_yticks(range(k), labels)
    ax.set(xlabel="predicted", ylabel="true")
    accuracy = card.metrics["accuracy"]
    ax.set_title(f"accuracy {accuracy.value:.3f} {_span(accuracy.interval)}", size="medium")
    return ax


def _size(k: int) -> float:
    return max(5.0, 11.0 - 0.5 * k)


def _plot_roc(card: ReportCard, ax: Any) -> Any:
    """One curve for two classes, else one for each class against the others."""
    ax.plot([0, 1], [0, 1], color="0.7", lw=1, ls="--")
    for curve, colour in zip(card.roc, colours(len(card.roc)), strict=True):
        if not len(curve["fpr"]):
            continue
        metrics = card.per_class.get(curve["class"], card.metrics)
        label = f"{curve['class']}: {metrics['roc_area'].value:.3f}"
        ax.plot(curve["fpr"], curve["tpr"], color=colour, lw=1.6, label=label)
    if card.positive is not None and not math.isnan(card["sensitivity"].value):
        at = (1 - card["specificity"].value, card["sensitivity"].value)
        ax.plot(*at, "o", color=INK, ms=6, label="predictions as given")
    area = card["roc_area"]
    ax.set(xlabel="1 − specificity", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    if len(card.roc) <= 12:
        ax.legend(
            fontsize="small",
            loc="lower right",
            title=None if len(card.roc) == 1 else "area of each class",
        )
    what = "ROC area" if card.positive is not None else "mean ROC area"
    ax.set_title(f"{what} {area.value:.3f} {_span(area.interval)}", size="medium")
    return ax


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "" if math.isnan(low) else f"({low:.3f} to {high:.3f})"


def scores_of(estimator: Any, X: Any, k: int) -> np.ndarray | None:
    """Decision values or probabilities, where the estimator has them for every class."""
    inner = last_step(getattr(estimator, "best_estimator_", estimator))
    # as many pairs as classes if there are three, but a column is not a class
    pairs = k > 2 and getattr(inner, "decision_function_shape", None) == "ovo"
    for name in ("predict_proba",) if pairs else ("decision_function", "predict_proba"):
        method = getattr(estimator, name, None)
        if method is not None:
            scores = np.asarray(method(X))
            if scores.ndim == 1 or scores.shape[1] == k:
                return scores
    return None
