"""Every selector of the library by a short name: what it costs, what data it takes, how to make it.

The one list that comparisons, reports and the command line read. A class is imported when it is
asked for, so that reading the list is cheap.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

_FILTERS, _EMBEDDED, _SEARCH = "tamiz.filters", "tamiz.embedded", "tamiz.search"
_BASELINES = "tamiz.evaluation.comparison.arguments"

#: Machines for a numeric target measure C and epsilon by how it varies.
_UNIT_FREE = {"scale_target": True}

#: Above this many features an elimination drops several at a time.
_WIDE = 150


@dataclass(frozen=True)
class Method:
    """One selector of the library.

    Attributes
    ----------
    name : str
        Short name, as :func:`tamiz.compare` and the command line take it.
    family : {"filter", "wrapper", "embedded", "baseline"}
        How it selects: from the data alone, by asking a judge, or inside a machine.
    home, class_name : str
        Module and name of the class.
    what : str
        What it looks at, in a few words.
    cost : str
        How its time grows, in words; n samples, p features.
    multiclass, regression : bool
        Whether it takes more than two classes, and a numeric target.
    categorical, sparse, missing : bool
        Whether it takes categories, sparse matrices, and missing values.
    non_negative : bool
        Whether features must not be negative.
    own_size : bool
        Whether it stops by itself, and so says how many features.
    greedy : bool
        Whether it ranks step by step only as far as it is asked to select.
    ranks : bool
        Whether the first k features of its ranking are what it selects if asked for k. A search
        among subsets may find quite others.
    defaults : mapping
        Parameters that :meth:`make` sets where the class has others.
    for_regression : mapping
        Parameters for a numeric target.
    if_wide : mapping
        Parameters for tables of more than 150 features.
    aliases : tuple of str
        Other names.
    own : type, optional
        The class itself, of a method that :func:`register_method` added.
    """

    name: str
    family: str
    home: str
    class_name: str
    what: str
    cost: str
    multiclass: bool = True
    regression: bool = False
    categorical: bool = False
    sparse: bool = False
    missing: bool = False
    non_negative: bool = False
    own_size: bool = False
    greedy: bool = False
    ranks: bool = True
    defaults: Mapping[str, Any] = field(default_factory=dict)
    for_regression: Mapping[str, Any] = field(default_factory=dict)
    if_wide: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    own: Any = None

    @property
    def cls(self) -> Any:
        """The class."""
        return self.own or getattr(import_module(self.home), self.class_name)

    @property
    def unit_free(self) -> bool:
        """Whether the ranking stays the same if features change their units or their zero.

        That holds for every filter with its default parameters. Machines, and searches judged by
        machines, need features of one scale.
        """
        return self.family in ("filter", "baseline")

    def make(self, *, task: str = "classification", n_features: int | None = None, **params: Any):
        """A selector with sensible defaults.

        Parameters
        ----------
        task : {"classification", "regression"}, default="classification"
            What the target holds.
        n_features : int, optional
            Number of features, for methods whose defaults depend on it.
        **params
            Parameters of the class; they go before the defaults.
        """
        if task == "regression" and not self.regression:
            raise ValueError(
                f"{self.name!r} needs classes, and y holds numbers. Methods for numbers: "
                f"{', '.join(m.name for m in METHODS.values() if m.regression)}."
            )
        known = dict(self.defaults)
        if task == "regression":
            known.update(self.for_regression)
        if "task" in self.cls._get_param_names():  # else it would guess, in each part of the rows
            known["task"] = task
        if n_features is not None and n_features > _WIDE:
            known.update(self.if_wide)
        return self.cls(**{**known, **params})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "name": self.name,
            "family": self.family,
            "class": f"{self.home}.{self.class_name}",
            "what": self.what,
            "cost": self.cost,
            "multiclass": self.multiclass,
            "regression": self.regression,
            "categorical": self.categorical,
            "sparse": self.sparse,
            "missing": self.missing,
            "non_negative": self.non_negative,
            "own_size": self.own_size,
        }


def _filter(name: str, class_name: str, what: str, cost: str, **more: Any) -> Method:
    return Method(name, "filter", _FILTERS, class_name, what, cost, **more)


def _scored(name: str, class_name: str, what: str, **more: Any) -> Method:
    """A filter of single features by a formula."""
    return _filter(name, class_name, what, "n p, milliseconds", sparse=True, **more)


def _counted(name: str, class_name: str, what: str, cost: str, **more: Any) -> Method:
    """A filter that counts in bins: it takes whatever can be counted."""
    return _filter(
        name, class_name, what, cost, categorical=True, sparse=True, missing=True, **more
    )


def _embedded(name: str, class_name: str, what: str, cost: str, **more: Any) -> Method:
    return Method(name, "embedded", _EMBEDDED, class_name, what, cost, **more)


def _wrapper(name: str, class_name: str, what: str, cost: str, **more: Any) -> Method:
    return Method(name, "wrapper", _SEARCH, class_name, what, cost, own_size=True, **more)


_BINNED = "n p, milliseconds"
_STEPS = "n p for each feature selected"
_LIST = [
    _scored("fisher", "FisherScore", "distance of the class means over their spread"),
    _scored("s2n", "SignalToNoise", "signal-to-noise ratio", aliases=("signal-to-noise",)),
    _scored("welch", "WelchT", "t-test for unequal variances", aliases=("t-test",)),
    _scored("pearson", "PearsonScore", "correlation with the target", regression=True),
    _scored("auc", "AUCScore", "area under the ROC curve of the feature alone"),
    _scored("ks", "KolmogorovSmirnov", "largest distance of the distributions"),
    _scored("stump", "StumpError", "error of the best threshold", aliases=("single-error",)),
    _counted("chi2", "ChiSquared", "chi-squared test of independence", _BINNED),
    _counted("ig", "InformationGain", "mutual information", _BINNED, aliases=("information-gain",)),
    _counted(
        "su",
        "SymmetricalUncertainty",
        "mutual information over the mean entropy",
        _BINNED,
        aliases=("symmetrical-uncertainty",),
    ),
    _counted(
        "iv",
        "InformationValue",
        "information value: distance of the classes over bins",
        _BINNED,
        aliases=("information-value",),
    ),
    _counted("maxrel", "MaxRel", "relevance alone: mutual information", _BINNED),
    _counted("mrmr", "MRMR", "relevance less redundancy, one by one", _STEPS, greedy=True),
    _counted("jmi", "JMI", "joint information with those selected", _STEPS, greedy=True),
    _counted("cmim", "CMIM", "least information given any selected", _STEPS, greedy=True),
    _counted(
        "maxdep", "MaxDep", "information of the whole subset", _STEPS, own_size=True, ranks=False
    ),
    _counted(
        "cfs",
        "CFS",
        "subset that correlates with the class, not with itself",
        "n p for each step of its search",
        regression=True,
        own_size=True,
    ),
    _counted(
        "qpfs",
        "QPFS",
        "relevance against redundancy as a quadratic program",
        "n p² without Nyström",
        regression=True,
        own_size=True,
        for_regression={"similarity": "pearson"},
    ),
    _filter(
        "relief",
        "Relief",
        "nearest hit and nearest miss",
        "n² p",
        categorical=True,
        missing=True,
    ),
    _filter(
        "relieff",
        "ReliefF",
        "ten nearest hits and misses",
        "n² p",
        categorical=True,
        missing=True,
    ),
    _filter(
        "rrelieff",
        "RReliefF",
        "neighbours, for a numeric target",
        "n² p",
        regression=True,
        categorical=True,
        missing=True,
    ),
    _embedded(
        "rfe",
        "SVMRFE",
        "drops what the margin misses least",
        "p machines; fast for the linear kernel",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        if_wide={"step": 0.1},  # a tenth of the features at a time
        aliases=("svm-rfe",),
    ),
    _embedded(
        "ho-svm",
        "HoldOutSVM",
        "drops what held-out errors miss least",
        "p machines, and n² p² in all; fewer with ties='all'",
        regression=True,
        for_regression=_UNIT_FREE,
        own_size=True,
        if_wide={"ties": "all"},  # not one by one
        aliases=("holdout", "ho"),
    ),
    _embedded(
        "forest",
        "ForestImportance",
        "decrease of impurity in a random forest",
        "n log n √p for each tree",
        aliases=("random-forest", "forest-importance"),
    ),
    _embedded(
        "l1-svm",
        "L1SVM",
        "linear machine with the sum of |w| as penalty",
        "one linear program",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
        aliases=("l1",),
    ),
    _embedded(
        "robust-lp",
        "RobustLP",
        "linear program of mean errors",
        "one linear program",
        sparse=True,
        own_size=True,
    ),
    _embedded(
        "fsv",
        "FSV",
        "linear machine that counts its features",
        "some tens of linear programs",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
    ),
    _embedded(
        "arom",
        "AROM",
        "rescales features until most are zero",
        "some tens of linear programs",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
    ),
    _embedded(
        "l1l2-svm",
        "L1L2SVM",
        "both penalties: groups of like features",
        "one convex problem",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
        aliases=("l1l2",),
    ),
    _embedded(
        "l0l2-svm",
        "L0L2SVM",
        "margin and a smooth count of features",
        "some tens of convex problems",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
        aliases=("l0l2",),
    ),
    _embedded(
        "milp-svm",
        "MILPSVM",
        "best subset of a linear machine, with a proof",
        "up to 2^p linear programs, a minute at most",
        regression=True,
        for_regression=_UNIT_FREE,
        sparse=True,
        own_size=True,
        ranks=False,
        aliases=("milp",),
    ),
    _embedded(
        "radius-margin",
        "RadiusMarginScaling",
        "factors that lessen the radius-margin bound",
        "n² p for each of some tens of machines",
        regression=True,
        for_regression=_UNIT_FREE,
        own_size=True,
    ),
    _embedded(
        "adaptive-scaling",
        "AdaptiveScaling",
        "factors that lessen the machine's objective",
        "n² p for each of some tens of machines",
        regression=True,
        for_regression=_UNIT_FREE,
        own_size=True,
    ),
    _embedded(
        "kp-svm",
        "KPSVM",
        "kernel widths of features under a penalty",
        "n² p for each of some tens of machines",
        regression=True,
        for_regression=_UNIT_FREE,
        own_size=True,
    ),
    _wrapper(
        "forward",
        "ForwardSelection",
        "adds what helps a judge most",
        "p fits for each feature added",
        sparse=True,
        aliases=("sfs",),
    ),
    _wrapper(
        "backward",
        "BackwardElimination",
        "drops what a judge misses least",
        "p²/2 fits",
        sparse=True,
        aliases=("sbs",),
    ),
    _wrapper(
        "best-first",
        "BestFirst",
        "both ways, from the best subset so far",
        "p fits for each step",
        sparse=True,
        ranks=False,
    ),
    _wrapper(
        "exhaustive",
        "ExhaustiveSearch",
        "every subset",
        "2^p fits: few features only",
        sparse=True,
        ranks=False,
    ),
    _wrapper(
        "branch-and-bound",
        "BranchAndBound",
        "every subset that can still win",
        "up to 2^p values of a criterion",
        ranks=False,
    ),
    _wrapper(
        "annealing",
        "SimulatedAnnealing",
        "a random walk that cools down",
        "one fit for each step",
        sparse=True,
        ranks=False,
    ),
    _wrapper(
        "genetic",
        "GeneticSearch",
        "generations of subsets",
        "one fit for each new subset",
        sparse=True,
        aliases=("ga",),
        ranks=False,
    ),
    Method(
        "random",
        "baseline",
        _BASELINES,
        "RandomRanking",
        "chance",
        "nothing",
        regression=True,
        sparse=True,
        categorical=True,
        missing=True,
    ),
    Method(
        "all",
        "baseline",
        _BASELINES,
        "AllFeatures",
        "every feature",
        "nothing",
        regression=True,
        sparse=True,
        categorical=True,
        missing=True,
        own_size=True,
        aliases=("all-features",),
    ),
]

_METHODS = {method.name: method for method in _LIST}

#: All methods by name.
METHODS: Mapping[str, Method] = MappingProxyType(_METHODS)

_NAMES = {
    **{name: method for method in _LIST for name in (*method.aliases, method.class_name.lower())},
    **METHODS,
}


def register_method(name: str, cls: type, *, family: str, what: str, **more: Any) -> Method:
    """Make a selector of your own known by name to studies, comparisons and searches.

    Parameters
    ----------
    name : str
        Short name, in lower case, with hyphens. A method of the same name is replaced.
    cls : type
        The class, a :class:`tamiz.base.Selector`.
    family : {"filter", "wrapper", "embedded"}
        How it selects.
    what : str
        What it looks at, in a few words.
    **more
        Further attributes of :class:`Method`, such as ``cost``, ``regression`` or ``sparse``.

    Returns
    -------
    method : Method

    Notes
    -----
    The page "Adding things" of the documentation has an example that is run.
    """
    values = {"cost": "not known", **more}
    method = Method(name, family, cls.__module__, cls.__name__, what, own=cls, **values)
    _METHODS[name] = method
    _NAMES.update(dict.fromkeys((*method.aliases, cls.__name__.lower(), name), method))
    return method


def find_method(name: str) -> Method:
    """The method of a name, whatever its case; underscores and hyphens are the same.

    Parameters
    ----------
    name : str
        Short name, alias, or name of the class.

    Returns
    -------
    method : Method

    Examples
    --------
    >>> from tamiz.evaluation.methods import find_method
    >>> find_method("SVM-RFE").class_name
    'SVMRFE'
    >>> find_method("mrmr").make(n_features_to_select=5)
    MRMR(n_features_to_select=5)
    """
    wanted = name.strip().lower().replace("_", "-")
    found = _NAMES.get(wanted)
    if found is None:
        close = difflib.get_close_matches(wanted, _NAMES, n=1)
        hint = f" Did you mean {_NAMES[close[0]].name!r}?" if close else ""
        raise ValueError(f"no method is called {name!r}.{hint} Methods: {', '.join(METHODS)}.")
    return found


def method_of(selector: Any) -> Method | None:
    """The method of an object of the library; None if it is no such object."""
    kind = type(selector)
    known = next((m for m in METHODS.values() if m.own is kind), None)
    if known is not None:
        return known
    if kind.__module__.partition(".")[0] != "tamiz":
        return None
    return next((m for m in _LIST if m.class_name == kind.__name__), None)
