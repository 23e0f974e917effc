"""Machines along a penalty: each begins where the one before it ended.

Selectors fit clones of the machine they were given, and a clone knows nothing of a fit. What is put
in the machine's place here is its own clone.
"""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from tamiz.svm import LinearMachine, LinearMachineRegressor

#: Machines whose ``warm_start`` is where they begin and has no part in where they end. (That of a
#: forest keeps its trees, and that of a stochastic method never forgets its path.)
_BEGIN_ANYWHERE = (ElasticNet, Lasso, LinearMachine, LinearMachineRegressor, LogisticRegression)


class Continued:
    """A machine that is its own clone, so that the next fit begins where the last one ended."""

    def __init__(self, machine: Any):
        self._machine = machine

    def __sklearn_clone__(self) -> Continued:
        return self

    def fit(self, *data: Any, **arguments: Any) -> Any:
        """Fit the machine, from where it is."""
        self._machine.fit(*data, **arguments)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_machine":  # of an object that is being restored
            raise AttributeError(name)
        return getattr(self._machine, name)


def continues(estimator: Any, name: str) -> bool:
    """Whether fits of several values of this parameter can begin where the last one ended.

    Parameters
    ----------
    estimator : estimator
        A selector or pipeline, not fitted.
    name : str
        A parameter of it or of what is in it, such as "estimator__C".
    """
    return isinstance(_owner(estimator, name)[0], _BEGIN_ANYWHERE)


def made_to_continue(estimator: Any, name: str) -> Any:
    """The estimator, changed such that fits of several values of a parameter go on.

    Parameters
    ----------
    estimator : estimator
        As in :func:`continues`, which said yes; a clone that may be changed.
    name : str
        The parameter.
    """
    machine, where, parent = _owner(estimator, name)
    machine.set_params(warm_start=True)
    if where and not hasattr(parent, "steps"):  # pipelines fit the steps themselves
        estimator.set_params(**{where: Continued(machine)})
    return estimator


def _owner(estimator: Any, name: str) -> tuple[Any, str, Any]:
    """Whose parameter it is, the parameter that holds it, and what has that one."""
    where, _, _ = name.rpartition("__")
    above, _, _ = where.rpartition("__")
    params = estimator.get_params()
    machine = params.get(where) if where else estimator
    return machine, where, params.get(above) if above else estimator
