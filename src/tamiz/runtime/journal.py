"""The former place of :mod:`tamiz.runtime.checkpoint`."""

from tamiz.runtime.checkpoint import Journal as Journal
