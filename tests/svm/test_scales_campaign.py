"""The first attempts of the campaign of offsets and scales; all of it is a tool."""

from collections import Counter

import pytest

from tools.attack.scales import MACHINES, Scales, attempt, outcomes

pytestmark = pytest.mark.ours


@pytest.mark.filterwarnings("ignore")
def test_machines_are_right_or_say_so_in_any_offset_and_scale():
    found = list(outcomes(range(Scales.short)))
    assert len(found) == Scales.short <= Scales.count
    assert not [line for line in found if line[1].startswith("failed")]
    assert Counter(outcome for _, outcome in found)["right"] > 0.7 * len(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(MACHINES))
def test_every_machine_is_right_in_usual_units(name):
    for k in MACHINES[name].problems:
        assert attempt(name, k, 1.0, 1.0) in ("right", "warned")
