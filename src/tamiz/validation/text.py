"""The former place of :mod:`tamiz.validation.frames`."""

from tamiz.validation.frames import is_frame as is_frame
from tamiz.validation.frames import refuse_text as refuse_text
from tamiz.validation.frames import refuse_text_rows as refuse_text_rows
