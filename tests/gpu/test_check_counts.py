"""What is counted on a card in one command, run without one: every row agrees with the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.gpu import emulated
from tools.gpu_check import counts
from tools.gpu_check.run import Clock, done

pytestmark = pytest.mark.ours


@pytest.mark.filterwarnings("ignore:.*estimated error:UserWarning")
def test_every_row_agrees_and_has_its_time():
    with emulated() as lane:
        jobs = [job for row in counts.ROWS for job in counts.times(lane, row, small=True)]
        timed = list(done(jobs, Clock()))
        equal = list(done(counts.equalities(small=True), Clock()))
    assert all(one.holds and one.seconds > 0.0 for one in timed), timed
    assert sum(one.where != "CPU" for one in timed) == 4
    assert [one.bar for one in timed if one.bar] == ["≤ 10 ms"]  # fewer are selected here
    assert all(one.holds for one in equal) and len({one.name for one in equal}) == 14


def test_columns_are_drawn_as_the_packed_ones_are():
    codes = counts.drawn(300, 130)
    table = np.column_stack([codes.column(j) for j in range(300)])
    assert table.min() == 0 and table.max() == 2
    margins = np.array([np.bincount(column, minlength=3) for column in table.T]).T
    np.testing.assert_array_equal(codes.groups[0].planes.margins, margins)
