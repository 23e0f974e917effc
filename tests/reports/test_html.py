"""Markup that data cannot break."""

from __future__ import annotations

import json
import re

import pytest

from tamiz.reports.markup import Markup, escape, json_block, short, tag, visible


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b>", Markup("<i></i>")) == "<p>&lt;b&gt;<i></i></p>"
    assert escape(["a&b", Markup("<br>"), None, 3]) == "a&amp;b<br>3"


def test_an_attribute_cannot_be_left():
    text = tag("div", title='"><script>', class_="x", data_a="'", hidden=True, id=None, lang=False)
    inside = "&quot;&gt;&lt;script&gt;"
    assert text == f'<div title="{inside}" class="x" data-a="&#39;" hidden></div>'


def test_void_elements_have_no_end():
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_control_characters_and_half_characters_are_made_visible():
    assert visible("a\x00b\n\x7f\ud800c\x9b") == "a␀b␊␡\ufffdc\ufffd"
    visible("\udfff").encode("utf-8")


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&amp;", "\u2028", "\ud800", "é"])
def test_a_block_of_json_stays_in_its_element(text):
    block = json_block([text])
    assert not re.search("[<>&\u2028\u2029]", block)
    assert json.loads(block) == [text]


def test_json_knows_no_infinity():
    with pytest.raises(ValueError, match="JSON"):
        json_block([float("inf")])


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.126, "0.13"), (-0.001, "0"), (-2.5, "-2.5")]
)
def test_coordinates_are_short(value, text):
    assert short(value) == text
