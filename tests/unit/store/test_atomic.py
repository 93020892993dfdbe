from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.store.atomic import atomic_writer, write_text

if TYPE_CHECKING:
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
