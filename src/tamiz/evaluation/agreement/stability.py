"""Does a method select the same features when the samples change a little?

With ``M`` selections among ``d`` features, the frequency ``p_f`` of feature ``f``,
``s_f² = M / (M - 1) p_f (1 - p_f)`` and the mean size ``k``, the index of Nogueira, Sechidis and
Brown is

    Φ = 1 - (Σ_f s_f² / d) / (k/d (1 - k/d)),

1 if all selections are the same and 0, in the mean, if they are drawn at random. With equal sizes
it is Kuncheva's index. It is asymptotically normal, so that it has an interval and two methods can
be compared.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from tamiz.evaluation._resamples import Table, make_sampling
from tamiz.evaluation._workers import check_estimator, check_jobs, fit_to_the_end, run_jobs
from tamiz.evaluation.agreement.masks import mask_and_names, read_masks
from tamiz.evaluation.agreement.measures import StabilityTest, nogueira
from tamiz.evaluation.agreement.result import Stability, measure
from tamiz.evaluation.intervals import check_count, check_level
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded

__all__ = ["Stability", "StabilityTest", "stability", "stability_of"]


def stability(
    selections: Any, *, n_features: int | None = None, names: Any = None, confidence: float = 0.95
) -> Stability:
    """Measure how much several selections of features agree.

    Parameters
    ----------
    selections : boolean array of shape (n_selections, n_features) or list
        Masks, one row for each selection (an array or a data frame), or a list of masks, of
        :class:`~tamiz.Selection`, of fitted selectors, or of collections of positions or names.
    n_features : int, optional
        Number of features that could have been selected; needed for collections of positions, and
        for names unless ``names`` is given.
    names : list of str, optional
        Names of all features.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    Stability

    See Also
    --------
    stability_of : Make the selections, too.

    References
    ----------
    Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine
    Learning Research 18 (2018).

    Kuncheva: A stability index for feature selection. Artificial Intelligence and Applications
    (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.evaluation import stability
    >>> masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    >>> stability(masks).nogueira
    -0.5
    """
    confidence = check_level("confidence", confidence)
    masks, named = read_masks(selections, n_features, names)
    return measure(masks, named, confidence)


def stability_of(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 50,
    sample: str = "bootstrap",
    fraction: float = 0.5,
    n_folds: int = 10,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool | int = 0,
) -> Stability:
    """Fit a selector to resamples of the data and measure how much its selections agree.

    Parameters
    ----------
    selector : selector or pipeline
        Anything with ``get_support``; of a pipeline, the last step that has it.
    X : table of shape (n_samples, n_features)
        Array, sparse matrix or data frame.
    y : array of shape (n_samples,), optional
        Target. Classes keep their shares in every resample.
    n_resamples : int, default=50
        Number of selections.
    sample : {"bootstrap", "subsample", "folds"}, default="bootstrap"
        As many samples drawn with replacement, a ``fraction`` of them without, or the training
        parts of ``n_folds`` folds, repeated as often as needed. Copies of a sample that the
        bootstrap makes mislead methods of nearest neighbours; use subsamples for those. Stability
        is larger the more the resamples share: compare methods by the same kind only.
    fraction : float, default=0.5
        Share of the samples in a subsample.
    n_folds : int, default=10
        Number of folds.
    confidence : float, default=0.95
        Confidence of the intervals.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the resamples, and of a selector that has none.
    verbose : bool or int, default=0
        Whether to show progress.

    Returns
    -------
    Stability
        Ctrl-C keeps the selections made so far, if there are two or more; a warning says so.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.evaluation import stability_of
    >>> from tamiz.filters import SignalToNoise
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = stability_of(SignalToNoise(5), X, y, n_resamples=10, random_state=0)
    >>> found.nogueira > 0.7, found.to_frame()["name"][0]
    (True, 'mean concave points')
    """
    n_jobs = check_jobs(n_jobs)
    check_estimator(selector, "selector")
    confidence = check_level("confidence", confidence)
    n_resamples = check_count("n_resamples", n_resamples, 2)
    sampling = make_sampling(sample, fraction, n_folds)
    table = Table(X, y)
    random = check_random_state(random_state)
    seed = int(random.randint(2**31 - 1))
    rows = sampling.draw(table, n_resamples, np.random.default_rng(seed))
    machine = seeded(clone(selector), seed)
    notes: dict[str, Any] = {
        "selector": type(selector).__name__,
        "sample": sample,
        "n_resamples": n_resamples,
    }
    masks: list[np.ndarray] = []
    names: list[str] = []
    with Progress("stability", verbose) as progress:
        try:
            jobs = ((part,) for part in rows)
            working = run_jobs(_select, (machine, table), jobs, n_jobs, machine)
            for mask, found_names in working:
                masks.append(mask)
                names = found_names
                progress.update(f"{len(masks)} of {n_resamples} resamples")
        except KeyboardInterrupt:
            if len(masks) < 2:
                raise
            notes["interrupted"] = True
            warnings.warn(
                f"stopped after {len(masks)} of {n_resamples} resamples; the result is about "
                "those.",
                RuntimeWarning,
                stacklevel=2,
            )
    found = measure(np.array(masks), names, confidence)
    found.notes.update(notes)
    return found


def _select(given: tuple[Any, Table], rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    machine, table = given
    X, y = table.part(rows)
    fitted = fit_to_the_end(clone(machine), *((X,) if y is None else (X, y)))
    return mask_and_names(fitted, table.n_features)


def nogueira_index(masks: np.ndarray) -> float:
    """Nogueira's index alone, of boolean masks (selections, features); NaN if it is undefined."""
    return nogueira(masks)[0]
