"""A file that is written whole: the old one or the new one, never a part."""

from __future__ import annotations

import os
import stat

import pytest

from tamiz.runtime.checkpoint import write_whole


def test_bytes_and_functions_are_written_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, b"one")
    assert path.read_bytes() == b"one"
    write_whole(str(path), lambda file: file.write(b"two"))
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_failure_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise error

    with pytest.raises(error):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_kept_and_links_are_followed(tmp_path):
    path, link, plain = tmp_path / "a.txt", tmp_path / "link", tmp_path / "plain"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    plain.write_bytes(b"")
    write_whole(tmp_path / "b.txt", b"")
    assert (tmp_path / "b.txt").stat().st_mode == plain.stat().st_mode


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"")
    assert not list(tmp_path.iterdir())
