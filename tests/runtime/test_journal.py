"""Journals: what was committed comes back, what was cut or foreign is refused."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import time
import zlib
from pathlib import Path

import pytest

from tamiz.runtime.checkpoint import Checkpoint, Journal
from tamiz.validation import DamagedFileError

RECORDS = [{"s": [1, 2], "v": [0.1, None]}, "ñ", [1.0000000000000002], {}]


def test_records_and_facts_come_back(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {"C": "1"}, facts={"seed": 12345678901234567890}) as journal:
        journal.append(RECORDS[:2])
        journal.append(RECORDS[2:])
    with Journal(path, {"C": "1"}, resume=True, facts={"seed": 0}) as journal:
        assert journal.records == RECORDS
        assert journal.facts == {"seed": 12345678901234567890}
        journal.append(["more"])
    with Journal(path, {"C": "1"}, resume=True) as journal:
        assert journal.records == [*RECORDS, "more"]
    with pytest.raises(ValueError, match="is closed"):
        journal.append(["late"])


def test_what_was_in_flight_is_dropped(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {}) as journal:
        journal.append(RECORDS)
    with open(path, "ab") as file:
        file.write(b'0123abcd {"half')
    with Journal(path, {}, resume=True) as journal:
        assert journal.records == RECORDS
        journal.append(["more"])
    with Journal(path, {}, resume=True) as journal:
        assert journal.records == [*RECORDS, "more"]


def test_every_cut_is_recognised(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {"C": "1"}) as journal:
        journal.append(RECORDS)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"damaged|no journal"):
            Journal(path, {"C": "1"}, resume=True)
        assert path.read_bytes() == whole[:length]


def test_every_changed_bit_is_recognised(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {"C": "1"}, facts={"seed": 7}) as journal:
        journal.append(RECORDS)
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"damaged|no journal|version"):
            Journal(path, {"C": "1"}, resume=True)


def test_lines_that_changed_places_are_recognised(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {"C": "1"}) as journal:
        journal.append([1, 2])
    first, about, one, two = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + about + two + one)
    with pytest.raises(DamagedFileError, match="line 3 is not what was written"):
        Journal(path, {"C": "1"}, resume=True)


def test_a_journal_of_the_first_version_is_read_and_continued(tmp_path):
    path = tmp_path / "run.journal"
    record = '{"s":[1]}'
    about = '{"identity": {"C": "1"}, "facts": {"seed": 7}}'
    lines = f"{about}\n{zlib.crc32(record.encode()):08x} {record}\n"
    path.write_text(f"tamiz journal 1 {37 + len(lines):020d}\n{lines}", encoding="utf-8")
    with Journal(path, {"C": "1"}, resume=True) as journal:
        assert journal.records == [{"s": [1]}] and journal.facts == {"seed": 7}
        journal.append(["more"])
    with Journal(path, {"C": "1"}, resume=True) as journal:
        assert journal.records == [{"s": [1]}, "more"]


def test_foreign_files_and_other_runs_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(FileExistsError, match="resume=True"):
        Journal(path, {})
    with pytest.raises(ValueError, match="no journal of tamiz"):
        Journal(path, {}, resume=True)
    assert path.read_text(encoding="utf-8") == "a,b\n1,2\n"
    Journal(tmp_path / "j", {"C": "1"}).close()
    with pytest.raises(ValueError, match="C was 1, and is 2"):
        Journal(tmp_path / "j", {"C": "2"}, resume=True)
    old = (tmp_path / "j").read_bytes().replace(b"tamiz journal 2", b"tamiz journal 7")
    (tmp_path / "j").write_bytes(old)
    with pytest.raises(ValueError, match="version 7"):
        Journal(tmp_path / "j", {"C": "1"}, resume=True)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Journal(tmp_path / "no" / "j", {})
    with pytest.raises(OSError, match="Is a directory"):
        Journal(tmp_path, {}, resume=True)  # a folder


def test_one_run_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    with Journal(tmp_path / "j", {}) as journal:
        journal.append(["mine"])
        with pytest.raises(ValueError, match="in use by another run"):
            Journal(tmp_path / "j", {}, resume=True)
    with Journal(tmp_path / "j", {}, resume=True) as journal:
        assert journal.records == ["mine"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_is_full_at_the_end_gets_a_sentence(tmp_path, full_disk):
    path = tmp_path / "run.journal"
    journal = Journal(path, {})
    journal.append(RECORDS)
    full_disk("fsync")
    with pytest.raises(OSError, match=r"run\.journal.*No space left.*\.$"):
        journal.close()
    journal.close()  # it is closed, and another run may have it


def test_a_full_disk_gets_a_sentence(tmp_path):
    path = tmp_path / "run.journal"
    with Journal(path, {}) as journal:
        journal.append(RECORDS)
        own = journal._file
        journal._file = os.open("/dev/full", os.O_RDWR)
        with pytest.raises(OSError, match="No space left"):
            journal.append(["more"])
        os.close(journal._file)
        journal._file = own
    with Journal(path, {}, resume=True) as journal:
        assert journal.records == RECORDS


@pytest.mark.ours
def test_a_kill_at_any_instant_loses_what_was_in_flight_only(tmp_path):
    path = tmp_path / "run.journal"
    code = f"""
        from tamiz.runtime.checkpoint import Journal
        with Journal({str(path)!r}, {{}}) as journal:
            for k in range(10**9):
                journal.append([[k] * 300])
                print(k, flush=True)
    """
    rng = random.Random(0)
    for _ in range(3):
        path.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(0.03 * rng.random())
        process.kill()
        said = process.communicate()[0].split()
        with Journal(path, {}, resume=True) as journal:
            assert journal.records == [[k] * 300 for k in range(len(journal.records))]
            assert len(journal.records) > int(said[-1] if said else 0)


@pytest.mark.parametrize("path", ["/dev/full", "/dev/zero", "/dev/null"])
@pytest.mark.parametrize("keeper", [Journal, Checkpoint])
def test_a_device_is_refused_and_not_read(keeper, path):
    if not Path(path).exists():
        pytest.skip("this system has no such device")
    with pytest.raises(ValueError, match="a device or a pipe"):
        keeper(path, {}, resume=True)


def test_after_an_append_that_failed_the_next_one_can_be_read(tmp_path):
    class Refuses:
        def __iter__(self):
            yield "first"
            raise OSError("no more")

    path = tmp_path / "journal"
    with Journal(path, {}) as journal:
        journal.append(["one"])
        with pytest.raises(OSError, match="no more"):
            journal.append(Refuses())
        journal.append(["two"])
    with Journal(path, {}, resume=True) as journal:
        assert journal.records == ["one", "two"]
