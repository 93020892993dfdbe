from __future__ import annotations

import errno
import os
import resource
import time
from typing import TYPE_CHECKING

import pytest

from nclue_build.store.atomic import NO_ROOM, atomic_writer, remove_leftovers, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_a_new_file_appears_whole_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    with atomic_writer(path) as stream:
        stream.write(b"one\n")
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, kind: type[BaseException]) -> None:
    path = tmp_path / "c.txt"
    write_text(path, "old")

    def fail() -> None:
        with atomic_writer(path) as stream:
            stream.write(b"half")
            raise kind

    with pytest.raises(kind):
        fail()
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.txt"]
    assert path.read_text(encoding="utf-8") == "old"


def test_line_ends_stay_as_given(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "é\r\nb\n")
    assert (tmp_path / "a").read_bytes() == "é\r\nb\n".encode()


def test_very_long_names_work(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 240)
    write_text(path, "a")
    assert path.exists()


@pytest.fixture
def small_files_only() -> Iterator[None]:
    """No file may grow beyond a kilobyte: the nearest thing to a full disk that needs no rights."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files_only")
def test_a_file_that_does_not_fit_is_named_and_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    write_text(path, "old")
    with pytest.raises(OSError, match="File too large") as caught:
        write_text(path, "x" * 5000)
    assert caught.value.filename == str(path)
    assert caught.value.errno in NO_ROOM
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.txt"]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_folder_that_takes_no_file_is_no_riddle(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file") as caught:
        write_text(tmp_path / "file" / "c.txt", "x")
    assert caught.value.errno in {errno.EEXIST, errno.ENOTDIR}


def test_errors_of_other_files_keep_their_names(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_writer(tmp_path / "c.txt"):
        (tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")


def test_leftovers_go_and_nothing_else(tmp_path: Path) -> None:
    leftovers = [tmp_path / "a" / ".c.txt.abcdefgh.nclue-tmp", tmp_path / ".d.jsonl.12345678.nclue-tmp"]
    others = [tmp_path / ".c.txt.abcdefgh.tmp", tmp_path / "a" / "c.nclue-tmp", tmp_path / "a" / "c.txt"]
    for path in (*leftovers, *others):
        write_text(path, "x")
    os.utime(leftovers[0], (time.time() - 100, time.time() - 100))
    remove_leftovers(tmp_path, older_than_s=50)
    assert [path.exists() for path in (*leftovers, *others)] == [False, True, True, True, True]
    remove_leftovers(tmp_path)
    assert [path.exists() for path in (*leftovers, *others)] == [False, False, True, True, True]
    remove_leftovers(tmp_path / "nowhere")
