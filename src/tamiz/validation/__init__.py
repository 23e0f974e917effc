"""The only place where what a user passes is checked and converted.

Everything behind it gets contiguous arrays of known type. What code must tell apart is an error
class (:mod:`tamiz.validation.errors`); other rooms import from this package, not from its modules.
"""

from tamiz.validation.arrays import (
    IMPUTE,
    TOO_LARGE,
    check_frame,
    check_square,
    check_squares,
    check_symmetric,
    check_X,
    require_samples,
    unchanged_on_error,
)
from tamiz.validation.errors import (
    DamagedFileError,
    MissingValuesError,
    NoFeaturesError,
    OneClassError,
    SparseInputError,
)
from tamiz.validation.frames import (
    has_sparse_columns,
    is_frame,
    refuse_duplicate_names,
    refuse_text,
    refuse_text_rows,
)
from tamiz.validation.groups import (
    Units,
    check_features,
    check_units,
    number_to_drop,
)
from tamiz.validation.labels import (
    ANNOUNCE,
    Labels,
    as_vector,
    check_announced_classes,
    check_class_weight,
    check_classes,
    check_known_classes,
    check_regression_target,
    check_sample_weight,
    guess_task,
    taken_as_numbers,
    task_of,
    warn_of_quantity,
)
from tamiz.validation.parameters import (
    N_JOBS,
    by_keyword,
    check_budget,
    check_choice,
    check_count,
    check_estimator,
    check_jobs,
    check_level,
    check_names,
    check_resume,
    checked,
    fittable,
    integer_from,
    number_of_jobs,
    one_of,
    optional,
    refuse_no_jobs,
)
from tamiz.validation.unscaled import (
    UnscaledWarning,
    inner_fit,
    robust_spread,
    warn_if_unscaled,
)

__all__ = [
    "ANNOUNCE",
    "IMPUTE",
    "N_JOBS",
    "TOO_LARGE",
    "DamagedFileError",
    "Labels",
    "MissingValuesError",
    "NoFeaturesError",
    "OneClassError",
    "SparseInputError",
    "Units",
    "UnscaledWarning",
    "as_vector",
    "by_keyword",
    "check_X",
    "check_announced_classes",
    "check_budget",
    "check_choice",
    "check_class_weight",
    "check_classes",
    "check_count",
    "check_estimator",
    "check_features",
    "check_frame",
    "check_jobs",
    "check_known_classes",
    "check_level",
    "check_names",
    "check_regression_target",
    "check_resume",
    "check_sample_weight",
    "check_square",
    "check_squares",
    "check_symmetric",
    "check_units",
    "checked",
    "fittable",
    "guess_task",
    "has_sparse_columns",
    "inner_fit",
    "integer_from",
    "is_frame",
    "number_of_jobs",
    "number_to_drop",
    "one_of",
    "optional",
    "refuse_duplicate_names",
    "refuse_no_jobs",
    "refuse_text",
    "refuse_text_rows",
    "require_samples",
    "robust_spread",
    "taken_as_numbers",
    "task_of",
    "unchanged_on_error",
    "warn_if_unscaled",
    "warn_of_quantity",
]


def __dir__() -> list[str]:
    return sorted(__all__)


_refuse_duplicate_names = refuse_duplicate_names  # former names
_has_sparse_columns = has_sparse_columns
