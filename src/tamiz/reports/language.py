"""Words and numbers in the language of the reader."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from tamiz.reports.markup import Markup, escape
from tamiz.validation import checked, one_of

_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")
_FIELD = re.compile(r"\{(\w+)\}")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NONE = "–"


class Language:
    """One language: its words, and how it writes numbers.

    Parameters
    ----------
    code : str
        As in the ``lang`` attribute.
    words : mapping
        Sentences by key, with ``{fields}``; a part in ``[[ ]]`` is left out where a field is not
        known.
    decimal, thousands, percent : str
        Decimal mark, mark between groups of three digits, sign of per cent with its space.
    group_from : int
        From how many digits on groups are marked.
    """

    def __init__(
        self,
        code: str,
        words: Mapping[str, str],
        decimal: str,
        thousands: str,
        percent: str,
        group_from: int,
    ):
        self.code = code
        self.words = words
        self.decimal = decimal
        self.thousands = thousands
        self.percent = percent
        self.group_from = group_from

    # ---------------------------------------------------------------------------------- words

    def __call__(self, key: str, **values: Any) -> str:
        """A sentence with its fields filled in, as plain text."""
        return self._fill(self.words[key], {k: str(v) for k, v in values.items()})

    def rich(self, key: str, **values: Any) -> Markup:
        """The same as markup: fields may be markup, everything else is escaped."""
        template = escape(self.words[key])
        return Markup(self._fill(template, {k: escape(v) for k, v in values.items()}))

    def has(self, key: str) -> bool:
        """Whether there is such a sentence."""
        return key in self.words

    def of(self, family: str, name: str) -> str:
        """The word for a name of the library, or the name itself."""
        return self.words.get(f"{family}_{name}", name)

    def count(self, what: str, number: int) -> str:
        """A number of things, singular or plural."""
        form = "one" if number == 1 else "many"
        return self(f"count_{what}_{form}", n=self.integer(number))

    def listed(self, names: Sequence[str], most: int = 5) -> str:
        """The first few names, and how many more there are."""
        shown = ", ".join(self("quoted", name=name) for name in names[:most])
        if len(names) <= most:
            return shown
        return self("and_more", names=shown, n=self.integer(len(names) - most))

    @staticmethod
    def _fill(template: str, values: Mapping[str, str]) -> str:
        def optional(match: re.Match[str]) -> str:
            known = all(name in values for name in _FIELD.findall(match[1]))
            return match[1] if known else ""

        text = _OPTIONAL.sub(optional, template)
        return _FIELD.sub(lambda match: values[match[1]], text)

    # -------------------------------------------------------------------------------- numbers

    def fixed(self, value: float | None, digits: int = 2, signed: bool = False) -> str:
        """With so many decimals; a dash for what is not known."""
        if value is None or not math.isfinite(value):
            return self._special(value)
        text = f"{value:{'+' if signed else ''}.{digits}f}"
        if float(text) == 0:  # no minus before nothing
            text = text.replace("-", "+" if signed else "")
        return self._marks(text)

    def number(self, value: float | None, digits: int = 3, trim: bool = True) -> str:
        """With so many significant digits, a power of ten where it is very large or small.

        Zeros at the end are left out, unless numbers are to stand under each other.
        """
        if value is None or not math.isfinite(value):
            return self._special(value)
        if value == int(value) and abs(value) < 1e7:
            return self.integer(int(value))
        if value != 0 and not 1e-4 <= abs(value) < 1e7:
            mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
            if "." in mantissa:
                mantissa = mantissa.rstrip("0").rstrip(".")
            return f"{self._marks(mantissa)}·10{str(int(exponent)).translate(_RAISED)}"
        before = (
            len(str(int(abs(value)))) if abs(value) >= 1 else 1 + math.floor(math.log10(abs(value)))
        )
        text = f"{value:.{max(0, digits - before)}f}"
        if trim and "." in text:
            text = text.rstrip("0").rstrip(".")
        return self._marks(text)

    def integer(self, value: float) -> str:
        """An integer."""
        return self._marks(str(round(value)))

    def in_percent(self, value: float | None, digits: int = 1, signed: bool = False) -> str:
        """A fraction in per cent."""
        if value is None or not math.isfinite(value):
            return self._special(value)
        return self.fixed(100 * value, digits, signed) + self.percent

    def pvalue(self, value: float | None) -> str:
        """A p-value with its sign of relation."""
        if value is None or not math.isfinite(value):
            return f"p = {NONE}"
        if value < 1e-4:
            return f"p < {self.fixed(1e-4, 4)}"
        return f"p = {self.fixed(value, 4 if value < 0.001 else 3)}"

    def seconds(self, value: float | None) -> str:
        """A time span."""
        if value is None or not math.isfinite(value):
            return NONE
        if value < 0.0005:
            return f"< {self.fixed(0.001, 3)} s"
        if value < 60:
            digits = 3 if value < 1 else 1
            return f"{self.fixed(value, digits)} s"
        minutes, rest = divmod(round(value), 60)
        if minutes < 60:
            return f"{minutes} min {rest} s"
        return f"{self.integer(minutes // 60)} h {minutes % 60} min"

    def _special(self, value: float | None) -> str:
        if value is None or math.isnan(value):
            return NONE
        return "∞" if value > 0 else "−∞"

    def _marks(self, text: str) -> str:
        sign = ""
        if text[0] in "+-":
            sign, text = text[0].replace("-", "−"), text[1:]
        before, _, after = text.partition(".")
        if len(before) >= self.group_from:
            head = len(before) % 3 or 3
            groups = [before[:head], *(before[k : k + 3] for k in range(head, len(before), 3))]
            before = self.thousands.join(groups)
        return sign + before + (self.decimal + after if after else "")


def _read() -> dict[str, Language]:
    """The languages of the folder ``words``, a file for each: a new one is a new file."""
    found = {}
    for path in sorted(files("tamiz.reports").joinpath("words").iterdir(), key=lambda p: p.name):
        code, _, kind = path.name.partition(".")
        if kind == "toml":
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            found[code] = Language(code, content["words"], **content["numbers"])
    return found


LANGUAGES = _read()


@checked(lang=one_of(*LANGUAGES))
def find_language(lang: Any) -> Language:
    """The language of a code."""
    return LANGUAGES[lang]
