"""The page on GPUs: its code runs, with NumPy in the place of the card and smaller tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamiz.gpu import emulated

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"


@pytest.mark.filterwarnings("ignore:.*estimated error:UserWarning")
def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    large = "rows, columns = 4_000, 1_000_000"
    assert len(code) == 3 and large in code[1] and "8_000" in code[1]
    code[1] = code[1].replace(large, "rows, columns = 200, 400").replace("8_000", "100")
    code[1] = code[1].replace("MRMR(200", "MRMR(5")
    names: dict[str, object] = {}
    with emulated():
        for block in code:
            exec(compile(block, str(PAGE), "exec"), names)
    machine, tuning = names["machine"], names["tuning"]
    assert machine.device_ == "cuda, float64"
    assert machine.duality_gap_ / machine.objective_ <= 1e-3
    assert 0.0 < tuning.largest_gap <= 1e-3
