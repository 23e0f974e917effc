r"""Elimination by the errors on held-out samples: HO-SVM.

A machine is trained on a random 70 % of the samples, and for every feature :math:`p` still in,

.. math::

    E_{(-p)} = \Big|\Big\{ l \in \text{VAL} : y_l \ne \operatorname{sgn}\Big(
    \sum_{i \in \text{TRAIN}} \alpha_i y_i K(x_i^{(-p)}, x_l^{(-p)}) + b \Big) \Big\}\Big|

counts the errors on the other 30 % when :math:`p` is taken out of the kernel and
:math:`\alpha, b` are kept. The feature with the least goes; the next step draws a new split.

References
----------
.. [1] S. Maldonado, R. Weber (2009). A wrapper method for feature selection using support vector
       machines. Information Sciences 179.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from tamiz.embedded.holdout.base import HoldOutElimination
from tamiz.kernels import KERNEL_NAMES, Kernel
from tamiz.runtime.parallel import N_JOBS
from tamiz.svm import SVC
from tamiz.validation import unchanged_on_error


def _machine_has(name: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(SVC if self.estimator is None else self.estimator, name)

    return check


class HoldOutSVM(HoldOutElimination):
    """Backward elimination by the errors on held-out samples (HO-SVM), with any kernel.

    Every step draws a new random split, trains a machine on its larger part, and removes the
    feature without which the machine makes least errors on the smaller part. The method knows
    where to stop: when every removal makes things worse. The elimination goes on to the last
    feature all the same, so that all are ranked.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; by default those in play when the rule
        ``stop`` says so. With groups, as many whole groups as fit.
    C : float, default=1.0
        Price of slack.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", an object of :mod:`tamiz.kernels`, or a function.
    gamma, degree, coef0 : float or str, int, float
        Parameters of the kernels given by name, as :class:`tamiz.svm.SVC` has them. A ``gamma``
        given as a word is turned into a number once, from all features that enter the
        elimination, and kept.
    estimator : classifier, optional
        Another judge instead of the support vector machine. It has no multipliers to keep, so it
        is fitted anew without each feature: exact, but with as many fits as features in every step.
    validation_size : float, default=0.3
        Share of every class that is held out.
    ties : {"random", "all"}, default="random"
        Whether one of several features with the same least error goes, or all of them at once
        (faster and coarser; one feature always stays).
    stop : {"worse", "not_better"}, default="worse"
        Stop when the least error without a feature exceeds the error with all of them, or when it
        is not below it, which keeps more features.
    splits_per_step : int, default=1
        Number of splits over which the errors of a step are averaged. More of them make the choice
        less a matter of luck.
    costs : pair (false positive, false negative) or dict, optional
        Prices of the two kinds of error, ``classes_[1]`` being the positive class; or the price of
        missing a sample of each class.
    balanced : bool, default=False
        Mean of the error rates of the classes instead of the number of errors.
    prefilter : {"auto", "chi2", "ks"} or filter, optional
        Test the features one by one first: "auto" takes chi-squared for categorical and
        Kolmogorov-Smirnov for other features. Those that fail rank last, by p-value.
    prefilter_level : float, default=0.05
        Largest p-value that passes.
    tune : bool or dict, optional
        Choose ``C`` and the kernel's parameters with all features by 10-fold cross-validation
        before the elimination: True for the grids of the paper, or lists of candidates by name.
        Of equal candidates the one named first is taken.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One versus one or one versus rest; errors are those of the common answer.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted.
    feature_groups : list of lists or dict of lists, optional
        Features that leave together, by position or name.
    fixed_features : list, optional
        Features that never leave.
    categorical_features : list or mask, optional
        Features whose values are categories; used by ``prefilter`` alone.
    n_jobs : int, optional
        Splits of a step (with ``estimator``: fits) that run at the same time, in threads.
    random_state : int, RandomState or None, default=None
        Determines the splits and the choice among equals. The answer for a seed does not depend
        on ``n_jobs`` nor on interruptions.
    checkpoint : path, optional
        File to write the state to now and then.
    resume : bool, default=False
        Go on from ``checkpoint`` if it exists.
    verbose : bool or int, default=0
        Show progress when it takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        See :class:`tamiz.selector.Selector`. Each step of ``selection_.path`` has the hold-out
        error with the features then in play as ``value``; its ``details`` hold the error before
        the step (``error``) and without each feature (``without``, in the order of ``features``).
    errors_ : array
        Hold-out error, a mean over the splits of the step, along the elimination.
    sizes_ : array
        Number of features that each entry of ``errors_`` belongs to.
    estimator_ : SVC or classifier
        The machine fitted to all samples with the selected features.
    classes_ : array
        Class labels.
    C_, kernel_ : float, Kernel
        What the machines were trained with, after tuning.
    tuning_ : list of dict
        Cross-validated error of every candidate; with ``tune`` only.
    pvalues_ : array of shape (n_features,)
        With ``prefilter`` only.
    status_ : {"converged", "interrupted"}
        Whether the elimination came to its end. Ctrl-C keeps what was reached, also while
        ``tune`` is at work: the best candidate so far is used, and no feature has left.

    Notes
    -----
    The kernel values of all pairs of samples are held in up to three matrices of 8 n**2 bytes;
    a warning comes first when one takes more than 2,000 MB. There is no ``sample_weight``: with
    random splits a sample of weight two cannot be the same as that sample twice.

    See Also
    --------
    tamiz.embedded.SVMRFE : Removes the feature that changes the margin least.
    tamiz.svm.SVC : The machine.

    References
    ----------
    .. [1] S. Maldonado, R. Weber (2009). A wrapper method for feature selection using support
           vector machines. Information Sciences 179.

    Examples
    --------
    Two features that tell the class only together, among eighteen of noise:

    >>> import numpy as np
    >>> from tamiz import HoldOutSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 8] > 0)
    >>> selector = HoldOutSVM(2, C=10.0, splits_per_step=3, random_state=0).fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [3, 8]
    >>> selector.transform(X).shape
    (300, 2)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            None,
        ],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "validation_size": [Interval(Real, 0.0, 1.0, closed="neither")],
        "ties": [StrOptions({"random", "all"})],
        "stop": [StrOptions({"worse", "not_better"})],
        "splits_per_step": [Interval(Integral, 1, None, closed="left")],
        "costs": ["array-like", dict, None],
        "balanced": ["boolean"],
        "prefilter": [StrOptions({"auto", "chi2", "ks"}), HasMethods(["fit"]), None],
        "prefilter_level": [Interval(Real, 0.0, 1.0, closed="right")],
        "tune": ["boolean", dict, None],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "feature_groups": ["array-like", list, tuple, None],
        "fixed_features": ["array-like", None],
        "categorical_features": ["array-like", None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "checkpoint": [str, HasMethods(["__fspath__"]), None],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        estimator: Any = None,
        validation_size: float = 0.3,
        ties: str = "random",
        stop: str = "worse",
        splits_per_step: int = 1,
        costs: Any = None,
        balanced: bool = False,
        prefilter: Any = None,
        prefilter_level: float = 0.05,
        tune: Any = None,
        multiclass: str = "ovo",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        feature_groups: Any = None,
        fixed_features: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.estimator = estimator
        self.validation_size = validation_size
        self.ties = ties
        self.stop = stop
        self.splits_per_step = splits_per_step
        self.costs = costs
        self.balanced = balanced
        self.prefilter = prefilter
        self.prefilter_level = prefilter_level
        self.tune = tune
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.feature_groups = feature_groups
        self.fixed_features = fixed_features
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> HoldOutSVM:
        """Eliminate features, and fit a machine to those selected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels, at least two samples of each.

        Returns
        -------
        self : HoldOutSVM
        """
        with unchanged_on_error(self):
            self._fit(X, y)
        return self

    @available_if(_machine_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the machine on the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``.
        """
        return super().decision_function(X)

    @available_if(_machine_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities of the classes, if the judge ``estimator`` gives them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        X = self._reduced(X)
        return np.asarray(self.estimator_.predict_proba(X))
