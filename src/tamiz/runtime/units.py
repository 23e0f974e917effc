"""The former place of :mod:`tamiz.validation.groups`."""

from tamiz.validation import Units as Units
from tamiz.validation import check_features as check_features
from tamiz.validation import check_units as check_units
from tamiz.validation import number_to_drop as number_to_drop
