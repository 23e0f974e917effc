"""Separator, decimal sign, header and names, guessed from the first rows."""

from __future__ import annotations

import pytest

from tamiz.data import load
from tamiz.data.errors import DataError
from tamiz.data.formats.text import guess_dialect, guess_separator
from tamiz.data.plan import Options


def guess(text, **told):
    return guess_dialect(text, True, Options(**told), "t.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_separator_is_found(separator):
    text = "\n".join(separator.join(row) for row in (["a", "b", "c"], ["1", "2.5", "x"]))
    assert guess(text).separator == separator


def test_semicolon_wins_over_decimal_commas():
    found = guess("a;b\n1,5;2,5\n3,5;4,5\n")
    assert (found.separator, found.decimal) == (";", ",")


def test_semicolon_wins_where_both_would_do():
    found = guess("1,5;2,5\n3,5;4,5\n")
    assert (found.separator, found.decimal, found.header) == (";", ",", False)


def test_comma_wins_over_blanks_in_text():
    assert guess_separator(["name,age", "Ann Lee,3", "Bo Ray Fox,4"], False) == ","


def test_separator_inside_quotes_does_not_count():
    assert guess('a,b\n"x;y;z",1\n"p;q;r",2\n').separator == ","


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n3,4\n", True),
        ("1,2\n3,4\n5,6\n", False),
        ("x,2019,2020\n3,4,5\n6,7,8\n", True),  # text above numbers settles it
        ("A11,6,1\nA12,7,2\n", False),
        ("name,city\nAnn,Rome\nBo,Oslo\n", True),
        ("yes,no\nno,no\nyes,yes\n", False),  # the names would return below
        ("size,colour,kind\nbig,red,p\nbig,red,e\nsize,blue,p\n", True),  # in one column of three
        ("big,red,p\nbig,red,e\nsmall,blue,p\nbig,blue,e\n", False),
        ("?,1\n2,3\n", False),
    ],
)
def test_header(text, header):
    assert guess(text).header is header


def test_header_can_be_given():
    assert guess("a,b\n1,2\n", header=False).names == ["x0", "x1"]
    assert guess("1,2\n3,4\n", header=True).names == ["1", "2"]


def test_table_as_r_writes_it_has_row_names():
    found = guess('"a" "b"\n"1" 3 4\n"2" 5 6\n')
    assert found.names == ["row_names", "a", "b"]


def test_empty_name_gets_one():
    assert guess(",a\n0,5\n1,6\n").names == ["unnamed_0", "a"]


def test_line_of_spreadsheets_names_the_separator():
    found = guess("sep=|\na|b\n1|2\n")
    assert (found.separator, found.skip, found.names) == ("|", 1, ["a", "b"])


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"separator": "ab"}, "one character"),
        ({"separator": '"'}, "one character"),
        ({"decimal": ","}, "not possible"),
        ({"decimal": "x"}, "use '.' or ','"),
        ({"missing": "NA"}, "give a list"),
    ],
)
def test_impossible_wishes(tmp_path, told, words):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=words):
        load(path, **told)


def test_a_separator_that_cannot_be_one_is_refused_in_the_file_too():
    with pytest.raises(DataError, match="use one character"):
        guess('sep="\na"b\n1"2\n')
