"""The program that checks a card, tried with NumPy in its place and small sizes."""

import json
import signal
import time
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from tamiz.gpu import emulated
from tools.gpu_check import Equality, Job, Timing, functions, machines, results
from tools.gpu_check.__main__ import PAGE, main, write_page
from tools.gpu_check.run import Clock, done

EMULATED = ["--emulated", "--quick"]


def report(*found, complete=True, card="card"):
    return results.report_of(found, card, complete)


def timing(row="J1", what="work", where="card", seconds=1.0, note="gap 1e-4", **more):
    return Timing(row, what, where, seconds, seconds, note, "≤ 1 s", **more)


# ------------------------------------------------------------------------------- the whole program


def test_rows_are_timed_with_their_certificates(capsys, tmp_path):
    file = tmp_path / "found.json"
    asked = ["--no-equality", "--cpu", "--cells", "--only", "J6", "J3", "J2b", "--results", file]
    assert main([*EMULATED, *map(str, asked)]) == 0
    printed, shown = capsys.readouterr()
    assert shown.count("ok: ") == 7 and "10 of 10 cells, largest gap" in shown
    assert "# Benchmarks on a GPU" in printed and "NumPy in the place of a card" in printed
    assert printed.count("| J2b |") == 2 and "10 of 10 cells, largest gap" in printed
    assert printed.count("| J3 |") == 3 and printed.count("| J6 |") == 2
    assert "0 places differ" in printed and "fails" not in printed and "matrix kept" in printed
    assert printed.count("J2b C = ") == 10 and "10 gaps, largest" in printed
    # the card first, in the order of the page, then the CPU
    order = [line.split()[1] for line in shown.splitlines()]
    assert order == ["J2b", "J3", "J3", "J6", "J2b", "J3", "J6"]
    kept = results.read(file)
    assert len(kept.timings) == 7 and not kept.complete
    gaps = dict(next(one for one in kept.timings if one.row == "J2b").gaps)
    assert len(gaps) == 10 and {len(each) for each in gaps.values()} == {10}
    assert 0.0 <= max(map(max, gaps.values())) <= 1e-3


def test_the_cpu_is_left_out_where_it_would_take_too_long(capsys):
    assert main([*EMULATED, "--no-equality", "--cpu", "1e-9", "--only", "J3"]) == 0
    assert "CPU: not run: about" in capsys.readouterr().err


def test_a_machine_whose_matrix_does_not_fit_computes_its_rows():
    with emulated(memory=4e6) as lane:
        jobs, beside = machines.times(lane, "J3c", machines.Wanted(quick=True))
        found = list(done(jobs + beside, Clock()))
    assert all(one.holds for one in found) and len(found) == 2
    assert "rows computed" in found[0].certificate and "2,000 × 50" in found[0].workload


def test_several_classes_are_a_row(capsys):
    assert main([*EMULATED, "--no-equality", "--only", "J7"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("10 classes") == 2
    batch = next(line for line in printed.splitlines() if "as one batch" in line)
    assert "by decomposition" in batch and "fails" not in batch


# ------------------------------------------------------------------------------- what goes wrong


def test_what_fails_is_reported_and_the_rest_goes_on(capsys):
    def broken():
        yield timing("J1")
        raise RuntimeError("cublas is away\nand more")

    jobs = [
        Job("J1", "work", broken, "card"),
        Job("J2", "work", lambda: iter([timing("J2")]), "card"),
    ]
    saved = []
    found = list(done(jobs, Clock(), lambda: saved.append(1)))
    assert [one.row for one in found] == ["J1", "J1", "J2"] and len(saved) == 2
    assert found[1].certificate == "failed: RuntimeError: cublas is away"
    assert [one.holds for one in found] == [True, False, True]
    assert "NOT CERTIFIED: J1" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timers on this system")
def test_what_takes_too_long_is_stopped_and_what_is_late_is_not_begun():
    def endless():
        yield timing("J1")
        while True:
            time.sleep(0.01)

    jobs = [
        Job("J1", "work", endless, "card"),
        Job("J2", "work", lambda: iter([timing("J2")]), "card"),
    ]
    found = list(done(jobs, Clock(row_seconds=0.2)))
    assert [one.row for one in found] == ["J1", "J1", "J2"]
    assert found[1].certificate.startswith("stopped after") and found[1].holds
    late = list(done(jobs, Clock(seconds=0.2)))
    assert [one.row for one in late] == ["J1", "J1", "J2"]
    assert late[2].certificate == "not run: the time of the call was over"


def test_a_call_without_time_ends_with_its_results_written(tmp_path, capsys):
    file = tmp_path / "found.json"
    arguments = ["--no-equality", "--seconds", "0", "--only", "J1", "J4", "--results", str(file)]
    assert main([*EMULATED, *arguments]) == 0
    assert [one.was_run for one in results.read(file).timings] == [False, False]
    assert capsys.readouterr().err.count("no time: ") == 2


def test_rows_of_counts_are_certified_by_their_bits(capsys):
    assert main([*EMULATED, "--no-equality", "--only", "J4", "J5"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("the bits of the CPU") == 4
    assert printed.index("| J5 |") < printed.index("| J4 |")


# ------------------------------------------------------------------------------------- the page


def test_a_difference_is_shown_and_a_number_that_is_none_is_one():
    equal, apart = Equality("this", 0.0, 0.0), Equality("that", nan, 1e-6)
    late = timing(note="gap 1e-1 | more", holds=False, gaps=(("C = 1", (1e-5, 1e-1)),))
    text = "\n".join(results.page(report(equal, apart, late)))
    assert "1 of 2 comparisons with the CPU hold" in text
    assert "| that | nan **too far** |" in text
    assert "gap 1e-1 \\| more **fails** | 5.0e-02, 9.5e-02, 1.0e-01 |" in text


def test_files_of_several_calls_make_one_page(tmp_path, capsys):
    gaps = (("C = 1", (1e-5, 2e-4)), ("C = 10", (1e-4,)))
    first = report(
        timing("J3", seconds=5.0),
        timing("J1", seconds=9.0, gaps=gaps),
        timing("J2", seconds=nan, note="stopped after 3 s"),
        timing("J6", seconds=4.0),
        timing(results.SAME, "tune", "", nan, "not run: late"),
        Equality("SVC: objective", nan, 1e-6),
    )
    second = report(
        timing("J1", seconds=2.0, gaps=gaps),
        timing("J2", "work, all", seconds=7.0),
        timing("J6", seconds=nan, note="stopped after 3 s"),
        timing("J4", where="CPU"),
        Equality("tune: errors", 0.0, 0.0),
        Equality("SVC: objective", 1e-9, 1e-6),
        card="another card",
    )
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for one, file in zip((first, second), files, strict=True):
        results.write(one, file)
        again = results.read(file)
        assert repr(again) == repr(one)
    page = tmp_path / "page.md"
    assert write_page(files, page) == 0
    assert "is written" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| J")]
    assert [(row[1].strip(), float(row[4])) for row in rows] == [
        ("J1", 2.0),
        ("J2", 7.0),
        ("J3", 5.0),
        ("J4", 1.0),
        ("J6", 4.0),
    ]
    assert "2 of 2 comparisons" in text and "stopped" not in text and "not run" not in text
    assert text.startswith("---\norphan: true\n---\n") and "another card" in text
    assert write_page(files[:1], page) == 1  # a number that is none


def test_the_page_is_for_cards_and_for_files_of_results(tmp_path, capsys):
    small, other = tmp_path / "small.json", tmp_path / "other.json"
    results.write(report(timing(), complete=False), small)
    other.write_text("{}", encoding="utf-8")
    assert main(["--page", str(small)]) == 2 and main(["--page", str(other)]) == 2
    shown = capsys.readouterr().err
    assert "small.json: made with --emulated or --quick" in shown
    assert "other.json holds no results of gpu_check" in shown
    assert PAGE.parent.name == "docs"


def test_numbers_that_are_none_are_written_as_json(tmp_path):
    file = tmp_path / "found.json"
    results.write(report(timing(seconds=nan), Equality("this", inf, 0.0)), file)
    with file.open(encoding="utf-8") as text:
        assert json.load(text)["timings"][0]["seconds"] is None
    assert results.read(file).equalities[0].found == inf


# --------------------------------------------------------------------------------------- equality


def test_equalities_hold():
    with emulated():
        found = list(done(machines.equalities(300), Clock()))
    assert not [one for one in found if not one.holds]
    assert len({one.name for one in found}) == len(found) > 30


def test_calls_of_the_library_are_those_of_numpy():
    with emulated() as lane:
        found = list(done(functions.jobs(lane), Clock()))
    assert not [one for one in found if not one.holds]
    assert len({one.name for one in found}) == len(found) == len(functions.CALLS)


def test_a_large_matrix_is_read_and_written_where_it_should_be():
    with emulated() as lane:
        jobs = [job for job in functions.jobs(lane, 50) if "2³¹" in job.what]
        found = list(done(jobs, Clock()))
    assert len(found) == 5 and all(one.holds for one in found)
    assert functions.SIDE**2 > 2**31


def test_another_type_or_order_of_the_library_is_seen():
    with emulated() as lane:
        other = SimpleNamespace(
            xp=lane.xp,
            to_device=lane.to_device,
            to_host=lambda a: np.flip(lane.to_host(a)).astype(np.complex128),
        )
        found = list(done(functions.jobs(other), Clock()))
    assert not any(one.holds for one in found)
    assert "float64 (40,) expected, not complex128 (40,)" in found[0].name
