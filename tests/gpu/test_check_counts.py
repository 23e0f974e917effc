"""What runs on a card in one command, run without one: every row agrees with the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.gpu import emulated
from tools.gpu_check import counts

pytestmark = pytest.mark.ours


@pytest.mark.filterwarnings("ignore:.*estimated error:UserWarning")
def test_every_row_agrees_and_has_its_time():
    with emulated():
        rows = list(counts.rows(small=True))
    names = [name for name, *_ in rows]
    assert (
        len(names) == len(set(names)) and sum(name.startswith(("J4", "J5")) for name in names) == 4
    )
    assert all(same is True for *_, same in rows), names
    assert all(seconds > 0.0 for _, seconds, _, _ in rows)


def test_columns_are_drawn_as_the_packed_ones_are():
    codes = counts.drawn(300, 130)
    table = np.column_stack([codes.column(j) for j in range(300)])
    assert table.min() == 0 and table.max() == 2
    margins = np.array([np.bincount(column, minlength=3) for column in table.T]).T
    np.testing.assert_array_equal(codes.groups[0].planes.margins, margins)


def test_a_row_that_differs_is_an_exit_code(capsys):
    assert counts.show([("good", 1.0, 2.0, True)]) == 0
    assert counts.show([("good", 1.0, 2.0, True), ("bad", 1.0, None, False)]) == 1
    assert "DIFFERS" in capsys.readouterr().out
