"""Words of both languages, and numbers as each writes them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import tamiz.reports
from tamiz.reports.language import LANGUAGES, find_language

EN, ES = LANGUAGES["en"], LANGUAGES["es"]
SOURCE = Path(tamiz.reports.__file__).parent
#: Families of keys that are put together from names of the library.
FAMILIES = (
    "count", "metric", "baseline", "role", "task", "reason", "warn", "aside", "score", "means",
    "test", "term", "gloss", "section", "theme", "js", "agreement", "warning", "measured", "left",
    "roc", "recall", "at", "margin", "family", "change", "tells", "halves", "roles",
)  # fmt: skip


def fields(text: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", text))


def test_both_languages_have_the_same_keys():
    assert list(EN.words) == list(ES.words)


def test_a_sentence_has_the_same_fields_in_both():
    for key, english in EN.words.items():
        spanish = ES.words[key]
        assert fields(english) == fields(spanish), key
        assert english.count("[[") == spanish.count("[[") == english.count("]]"), key
        assert re.findall(r"%\d", english) == re.findall(r"%\d", spanish), key
        assert spanish.strip(), key


def test_spanish_is_not_english():
    same = {key for key, text in EN.words.items() if text == ES.words[key]}
    assert same <= {
        "metric_error", "metric_1 − f1", "is_class", "predicted_class", "score_f1", "js_no",
    }  # fmt: skip


def test_every_key_that_is_asked_for_exists_and_none_is_left_over():
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    asked = set(re.findall(r"""lang(?:\.rich)?\(\s*["'](\w+)["'][,)\s]""", code))
    assert len(asked) > 100
    assert asked <= set(EN.words)
    quoted = set(re.findall(r"""["']([\w ]+)["']""", code))
    left = {key for key in EN.words if key not in quoted and key.partition("_")[0] not in FAMILIES}
    assert not left


def test_numbers_follow_the_language():
    assert (EN.fixed(1234.5, 1), ES.fixed(1234.5, 1)) == ("1,234.5", "1234,5")
    assert (EN.integer(16063), ES.integer(16063)) == ("16,063", "16\u202f063")
    assert (EN.in_percent(0.085), ES.in_percent(0.085)) == ("8.5%", "8,5\u00a0%")
    assert (EN.number(0.0012345), ES.number(0.0012345)) == ("0.00123", "0,00123")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-3.0, "−3"), (0.1, "0.1"), (0.12345, "0.123"), (12.345, "12.3"),
        (1e-7, "1·10⁻⁷"), (-2.5e9, "−2.5·10⁹"), (123456.7, "123,457"), (math.nan, "–"),
        (None, "–"), (math.inf, "∞"), (-math.inf, "−∞"), (1.0, "1"), (99.96, "100"),
    ],
)  # fmt: skip
def test_a_number_in_three_digits(value, text):
    assert EN.number(value) == text


def test_nothing_has_no_sign():
    assert EN.fixed(-0.0001, 1) == "0.0"
    assert EN.fixed(-0.0001, 1, signed=True) == "+0.0"


@pytest.mark.parametrize(
    ("p", "text"), [(0.04, "p = 0.040"), (0.00051, "p = 0.0005"), (1e-9, "p < 0.0001"),
                    (math.nan, "p = –")]
)  # fmt: skip
def test_pvalues(p, text):
    assert EN.pvalue(p) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0001, "< 0.001 s"), (0.5, "0.500 s"), (12.34, "12.3 s"), (200, "3 min 20 s"),
     (3725, "1 h 2 min"), (math.nan, "–")],
)  # fmt: skip
def test_times(seconds, text):
    assert EN.seconds(seconds) == text


def test_an_optional_part_needs_all_its_fields():
    full = EN("card_honest", error="2%", level="95%", between="1% to 3%")
    assert full == "Error of the whole procedure: 2%; 95% interval 1% to 3%."
    assert EN("card_honest", error="2%", level="95%") == "Error of the whole procedure: 2%."


def test_fields_are_escaped_in_markup_and_never_filled_twice():
    text = EN.rich("card_honest", error="<b>{n}</b>")
    assert "&lt;b&gt;{n}&lt;/b&gt;" in text
    assert EN("and_more", names="{n}", n=3) == "{n} and 3 more"


def test_names_stand_in_the_quotation_marks_of_the_language():
    assert EN.listed(["a", "{n}", "c"], most=2) == "“a”, “{n}” and 1 more"
    assert ES.listed(["a", "{n}", "c"], most=2) == "«a», «{n}» y 1 más"


def test_counts_have_a_singular():
    assert EN.count("feature", 1) == "1 feature"
    assert ES.count("feature", 20000) == "20\u202f000 características"


@pytest.mark.parametrize("code", ["fr", "EN", None, 3])
def test_an_unknown_language_is_refused(code):
    with pytest.raises(ValueError, match=r"lang=.*use 'en' or 'es'"):
        find_language(code)
