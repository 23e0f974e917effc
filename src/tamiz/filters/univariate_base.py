"""The former place of the base classes of univariate filters."""

import warnings

from tamiz.filters.univariate.base import Scored as Scored
from tamiz.filters.univariate.base import UnivariateFilter as UnivariateFilter

warnings.warn(
    "Import Scored and UnivariateFilter from tamiz.filters.univariate.base.",
    FutureWarning,
    stacklevel=2,
)
