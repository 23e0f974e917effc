"""The program that checks a card, tried with NumPy in its place and small sizes."""

import pytest

from tamiz.gpu import emulated
from tools.gpu_check import Equality, Timing, machines
from tools.gpu_check.__main__ import PAGE, counts, main, page


def test_rows_are_timed_with_their_certificates(capsys):
    assert (
        main(["--emulated", "--quick", "--no-equality", "--cpu", "--only", "J2b", "J3", "J6"]) == 0
    )
    printed, shown = capsys.readouterr()
    assert shown.count("ok: ") == 7 and "10 of 10 cells, largest gap" in shown
    assert "# Benchmarks on a GPU" in printed and "NumPy in the place of a card" in printed
    assert printed.count("| J2b |") == 2 and "10 of 10 cells, largest gap" in printed
    assert printed.count("| J3 |") == 3 and printed.count("| J6 |") == 2
    assert "0 places differ" in printed and "fails" not in printed


def test_a_difference_is_shown_and_a_number_that_is_none_is_one():
    equal, apart = Equality("this", 0.0, 0.0), Equality("that", float("nan"), 1e-6)
    late = Timing("J1", "work", "card", 1.0, 2.0, "gap 1e-1", "≤ 1 s", False)
    with emulated() as lane:
        text = "\n".join(page(lane, [equal, apart], [late]))
    assert "1 of 2 comparisons with the CPU hold" in text
    assert "| that | nan **too far** |" in text and "gap 1e-1 **fails**" in text


def test_rows_that_are_counts_are_certified_by_their_bits():
    given = [("J4 all pairs", 0.5, 2.0, True), ("J5 ranking", 1.0, None, False)]
    with emulated() as lane:
        found = list(counts(lane, given))
    assert [(one.row, one.workload, one.seconds) for one in found] == [
        ("J4", "all pairs", 0.5),
        ("J4", "all pairs", 2.0),
        ("J5", "ranking", 1.0),
    ]
    assert [one.holds for one in found] == [True, True, False]


def test_the_page_is_for_cards(capsys):
    for option in ("--emulated", "--quick"):
        with pytest.raises(SystemExit):
            main(["--page", option])
    assert "--page is for a card" in capsys.readouterr().err
    assert PAGE.parent.name == "docs"


def test_equalities_hold():
    with emulated():
        found = list(machines.equalities(300))
    assert not [one for one in found if not one.holds]
    assert len({one.name for one in found}) == len(found) > 30
