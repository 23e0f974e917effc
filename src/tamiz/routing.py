"""scikit-learn's metadata routing, for estimators that fit others.

With ``sklearn.set_config(enable_metadata_routing=True)`` what is passed to ``fit`` besides X and y
reaches those who have asked for it, by ``set_fit_request`` and the like, and whoever has not said
whether it wants it is an error. Without, weights and groups go where they can be used.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config


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
        from sklearn.utils.metadata_routing import process_routing

        process_routing(owner, "fit", **given)


def wants(child: Any, method: str, name: str, otherwise: bool) -> bool:
    """Whether a child has asked for some metadata; ``otherwise`` where nobody is asked."""
    if not routing_enabled() or not hasattr(child, "get_metadata_routing"):
        return otherwise
    from sklearn.utils.metadata_routing import get_routing_for_object

    return name in get_routing_for_object(child).consumes(method, [name])
