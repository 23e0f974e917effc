"""The former place of :func:`tamiz.validation.by_keyword`."""

from tamiz.validation.parameters import by_keyword as by_keyword
