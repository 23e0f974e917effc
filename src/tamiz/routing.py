"""scikit-learn's metadata routing, for estimators that fit others.

With ``sklearn.set_config(enable_metadata_routing=True)`` what is passed to ``fit`` besides X and y
reaches those who have asked for it, by ``set_fit_request`` and the like, and whoever has not said
whether it wants it is an error. Without, weights and groups go where they can be used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sklearn import get_config

from tamiz.validation import ParameterError

#: Methods that are called as one, whose parts are asked.
_PARTS = {"fit_transform": ["fit", "transform"], "fit_predict": ["fit", "predict"]}


def routing_enabled() -> bool:
    """Whether metadata is routed by requests."""
    return bool(get_config().get("enable_metadata_routing"))


def router_of(owner: Any, **children: tuple[Any, str]) -> Any:
    """The router of an estimator whose ``fit`` calls methods of others, and takes metadata itself.

    ``children`` are pairs of an object and the method of it that is called. What knows no requests,
    as a number of folds, is left out.
    """
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    router = MetadataRouter(owner=type(owner).__name__).add_self_request(owner)
    for name, (child, method) in children.items():
        if hasattr(child, "get_metadata_routing") and not isinstance(child, type):
            mapping = MethodMapping().add(caller="fit", callee=method)
            router.add(**{name: child}, method_mapping=mapping)
    return router


def refuse_unrequested(owner: Any, **metadata: Any) -> None:
    """With routing enabled, refuse metadata that some child has not said whether it wants."""
    given = {name: value for name, value in metadata.items() if value is not None}
    if given and routing_enabled():
        from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

        process_routing(owner, "fit", **given)
        children = [
            (name, route)
            for name, route in get_routing_for_object(owner)
            if name != "$self_request"  # by which name the owner is given them is its own affair
        ]
        _refuse_aliases(type(owner).__name__, children, "fit", given)


def _refuse_aliases(owner: str, router: Iterable[Any], caller: str, given: Collection[str]) -> None:
    """Refuse requests by another name, of the children and of what they fit.

    Routers of scikit-learn take metadata by any name. ``fit`` has these names only here, and such
    a request would leave the metadata out without a word.
    """
    for name, route in router:
        child = owner if name == "$self_request" else f"{name} of {owner}"
        for method in sorted({step.callee for step in route.mapping if step.caller == caller}):
            for part in _PARTS.get(method, [method]):
                for wanted, alias in _requests(route.router, part).items():
                    named = isinstance(alias, str) and not alias.startswith("$")  # "$": no name
                    if named and (wanted in given or alias in given):
                        raise ParameterError(
                            f"{child} asks for {wanted} by the name {alias!r}, but here metadata "
                            f"have their own names only: use set_{part}_request({wanted}=True)."
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
