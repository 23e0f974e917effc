"""What the columns are, as far as the user and the first rows say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Table
from tamiz.data.errors import DataError
from tamiz.data.plan import Plan, find_columns
from tamiz.data.roles import numeric_roles
from tamiz.scale.parts import take_rows


def given_roles(
    roles: Mapping[Any, str] | None,
    categorical_features: Any,
    plan: Plan,
    names: list[str],
    shown: str,
) -> dict[str, str]:
    """Roles that the user gives, by name of the column."""
    given: dict[str, str] = {}
    if roles:
        found = find_columns(names, list(roles), "roles", shown)
        given.update(zip(found, roles.values(), strict=True))
    if categorical_features is None:
        return given
    nominal = categorical_features
    mask = np.asarray(nominal)
    if mask.dtype == bool:
        if mask.shape != (len(plan.features),):
            raise DataError(
                f"categorical_features is a mask of shape {mask.shape}; {shown} has "
                f"{len(plan.features)} features."
            )
        nominal = [plan.features[j] for j in np.flatnonzero(mask)]
    found = find_columns(names, nominal, "categorical_features", shown)
    if plan.target in found:
        raise DataError(
            f"categorical_features names {plan.target!r}, which is the target; leave it out."
        )
    given.update(dict.fromkeys(found, "categorical"))
    return given


def first_roles(look: Table, plan: Plan, given: dict[str, str], guess: bool) -> dict[str, str]:
    """Roles of features that are known from the first table: given ones, dates, identifiers."""
    roles = {name: role for name, role in given.items() if name in plan.features}
    for column in look.columns:
        if column.date and column.name in plan.features and column.name not in given:
            if not guess:
                raise DataError(
                    f"{look.source}: column {column.name!r} holds dates; turn it into a number, "
                    "for instance the days since a fixed date."
                )
            roles[column.name] = "date"
    if not guess or sparse.issparse(look.matrix):
        return roles
    judged: dict[str, str] = {}
    if look.matrix is not None:
        found = numeric_roles(look.matrix, look.matrix_names)
        judged.update(zip(look.matrix_names, found, strict=True))
    for column in look.columns:
        if column.values is not None:
            judged[column.name] = numeric_roles(column.values[:, None], [column.name])[0]
    for name in plan.features:
        if judged.get(name) == "id" and name not in roles:
            roles[name] = "id"
    return roles


def with_target(look: Table, target: str | None) -> Table:
    """The rows that have a target, which are those that count; all if none has."""
    column = next((c for c in look.columns if c.name == target), None)
    if column is None or not (gaps := column.missing()).any() or gaps.all():
        return look
    return take_rows(look, np.flatnonzero(~gaps))
