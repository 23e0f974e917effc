"""The former place of :class:`tamiz.base.Selector`."""

import warnings

from tamiz.base import Selector as Selector

warnings.warn("Import Selector from tamiz.base.", FutureWarning, stacklevel=2)
