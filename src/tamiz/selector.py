"""The former place of :class:`tamiz.base.Selector`."""

from tamiz.base import Selector as Selector
