"""scikit-learn's metadata routing, for estimators that fit others.

With ``sklearn.set_config(enable_metadata_routing=True)`` what is passed to ``fit`` besides X and y
reaches those who have asked for it, by ``set_fit_request`` and the like, and whoever has not said
whether it wants it is an error. Without, weights and groups go where they can be used, and metadata
of other names are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import has_fit_parameter

from tamiz.validation import ParameterError

#: Methods that are called as one, whose parts are asked.
_PARTS = {"fit_transform": ["fit", "transform"], "fit_predict": ["fit", "predict"]}


def routing_enabled() -> bool:
    """Whether metadata is routed by requests."""
    return bool(get_config().get("enable_metadata_routing"))


class Routes:
    """What each child gets of the metadata: all of it, or the part of some rows.

    Parameters
    ----------
    by_child : mapping
        Child -> what it asked for, by the names of its own parameters.
    n_samples : int
        Values of this length have an entry for each row; others are passed on as they are.
    """

    def __init__(self, by_child: Mapping[str, Mapping[str, Any]], n_samples: int):
        self._by_child = {child: dict(given) for child, given in by_child.items()}
        self._n = n_samples

    def part(self, child: str, rows: np.ndarray | None = None) -> dict[str, Any]:
        """Arguments for a child that gets these rows; all rows by default."""
        given = self._by_child.get(child, {})
        if rows is None:
            return dict(given)
        return {name: _entries(value, rows, self._n) for name, value in given.items()}

    def arrays(self) -> list[np.ndarray]:
        """All values, to tell whether those of another run are the same."""
        return [
            np.asarray(given[name])
            for _, given in sorted(self._by_child.items())
            for name in sorted(given)
        ]


def _entries(value: Any, rows: np.ndarray, n: int) -> Any:
    """The entries of these rows, of what has one for each."""
    size = getattr(value, "shape", (None,))[:1]
    if size == ():  # a single number
        return value
    if size == (None,):
        listed = isinstance(value, (list, tuple)) and len(value) == n
        return type(value)(value[int(i)] for i in rows) if listed else value
    if size[0] != n:
        return value
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]


def routes_of(
    owner: Any, n_samples: int, given: Mapping[str, Any], children: Collection[str] = ()
) -> Routes | None:
    """Who gets what of the metadata that are given, by the requests of the children of ``owner``.

    None where routing is not enabled. ``owner`` may be a router. ``children`` limits the answer.
    """
    if not routing_enabled():
        return None
    from sklearn.utils.metadata_routing import process_routing

    passed = {name: value for name, value in given.items() if value is not None}
    if not passed:
        return Routes({}, n_samples)
    found = process_routing(owner, "fit", **passed)
    routes = {
        child: {name: value for part in methods.values() for name, value in part.items()}
        for child, methods in found.items()
        if not children or child in children
    }
    return Routes(routes, n_samples)


def routes_to(
    owner: Any, name: str, child: Any, n_samples: int, given: Mapping[str, Any]
) -> Routes:
    """What the only child of ``owner`` gets, by the name ``name``, also where nobody is asked."""
    routes = routes_of(owner, n_samples, given)
    return routes_unasked(name, child, n_samples, given) if routes is None else routes


def routes_of_function(
    name: str,
    children: Mapping[str, tuple[Any, str]],
    n_samples: int,
    params: Mapping[str, Any] | None,
    **own: Any,
) -> Routes | None:
    """Who gets what of the metadata that a function was given; None where nobody is asked.

    ``params`` have any names; ``own`` are weights and groups. Groups are for a splitter that can be
    asked; a number of folds, which cannot, has them from the function.
    """
    params = dict(params or {})
    refuse_unknown(name, params)
    twice = sorted(key for key in params if own.get(key) is not None)
    if twice:
        raise ParameterError(f"{twice[0]} was given twice, by itself and in params.")
    if not routing_enabled():
        return None
    if not hasattr(children["splitter"][0], "set_split_request"):
        own.pop("groups", None)
    given = {**own, **params}
    router = router_of(name, **children)
    refuse_unrequested(router, **given)
    return routes_of(router, n_samples, given)


def routes_unasked(name: str, child: Any, n_samples: int, given: Mapping[str, Any]) -> Routes:
    """Weights, to a child or the last step of a pipeline, which has to take them."""
    weight = given.get("sample_weight")
    if weight is None:
        return Routes({}, n_samples)
    key, last = "sample_weight", child
    if getattr(child, "steps", None):
        step, last = child.steps[-1]
        key = f"{step}__sample_weight"
    if not has_fit_parameter(last, "sample_weight"):
        raise ParameterError(
            f"sample_weight was given, but {type(last).__name__} takes no sample weights; leave "
            "sample_weight out."
        )
    return Routes({name: {key: weight}}, n_samples)


def refuse_unknown(method: str, metadata: Collection[str]) -> None:
    """Refuse metadata of other names where nobody can be asked for them."""
    if metadata and not routing_enabled():
        first = next(iter(metadata))
        raise TypeError(
            f"{method} got an unexpected argument {first!r}. Metadata of such names reach who asks "
            "for them with sklearn.set_config(enable_metadata_routing=True)."
        )


def router_of(owner: Any, **children: tuple[Any, str]) -> Any:
    """The router of an estimator whose ``fit`` calls methods of others, and takes metadata itself.

    Of a function, ``owner`` is the name, and weights and groups are its own. ``children`` are pairs
    of an object and the method of it that is called. What knows no requests, as a number of folds,
    is left out.
    """
    from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping

    if isinstance(owner, str):
        request = MetadataRequest(owner=owner)
        for own in ("sample_weight", "groups"):
            request.fit.add_request(param=own, alias=True)
        router = MetadataRouter(owner=owner).add_self_request(request)
    else:
        router = MetadataRouter(owner=type(owner).__name__).add_self_request(owner)
    for name, (child, method) in children.items():
        if hasattr(child, "get_metadata_routing") and not isinstance(child, type):
            mapping = MethodMapping().add(caller="fit", callee=method)
            router.add(**{name: child}, method_mapping=mapping)
    return router


def refuse_unrequested(owner: Any, **metadata: Any) -> None:
    """With routing enabled, refuse metadata that some child has not said whether it wants.

    ``owner`` may be a router.
    """
    given = {name: value for name, value in metadata.items() if value is not None}
    if given and routing_enabled():
        from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

        process_routing(owner, "fit", **given)
        children = [
            (name, route)
            for name, route in get_routing_for_object(owner)
            if name != "$self_request"  # by which name the owner is given them is its own affair
        ]
        name = owner.owner if hasattr(owner, "owner") else type(owner).__name__
        _refuse_aliases(name, children, "fit", given)


def _refuse_aliases(owner: str, router: Iterable[Any], caller: str, given: Collection[str]) -> None:
    """Refuse requests by another name that was not given, of the children and of what they fit.

    Such a request would leave out what was given without a word.
    """
    for name, route in router:
        child = owner if name == "$self_request" else f"{name} of {owner}"
        for method in sorted({step.callee for step in route.mapping if step.caller == caller}):
            for part in _PARTS.get(method, [method]):
                for wanted, alias in _requests(route.router, part).items():
                    named = isinstance(alias, str) and not alias.startswith("$")  # "$": no name
                    if named and wanted in given and alias not in given:
                        raise ParameterError(
                            f"{child} asks for {wanted} by the name {alias!r}, which was not "
                            f"given; pass {alias}=..., or use set_{part}_request({wanted}=True)."
                        )
            if hasattr(route.router, "__iter__"):
                _refuse_aliases(child, route.router, method, given)


def _requests(request: Any, method: str) -> dict[str, Any]:
    """What was asked for, for a method: True, False, None or a name."""
    return dict(getattr(getattr(request, method, None), "requests", {}))


def wants(child: Any, method: str, name: str, otherwise: bool) -> bool:
    """Whether a child has asked for some metadata; ``otherwise`` where nobody is asked."""
    if not routing_enabled() or not hasattr(child, "get_metadata_routing"):
        return otherwise
    from sklearn.utils.metadata_routing import get_routing_for_object

    return name in get_routing_for_object(child).consumes(method, [name])


def declines(child: Any, method: str, name: str) -> bool:
    """Whether a child has said that it does not want some metadata."""
    if not routing_enabled() or not hasattr(child, "get_metadata_routing"):
        return False
    from sklearn.utils.metadata_routing import get_routing_for_object

    return _requests(get_routing_for_object(child), method).get(name) is False
