"""What a process wrote before it died is there, and nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nclue_build.corpus.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["memory", "file"])
def spool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spool]:
    if request.param == "file":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    spool = Spool()
    yield spool
    spool.close()


def test_whole_lines_are_given_and_the_one_that_was_begun_is_not(spool: Spool) -> None:
    assert (spool.size(), spool.lines()) == (0, [])
    os.write(spool.descriptor, b"one\n\ntwo\nthr")
    assert (spool.size(), spool.lines()) == (12, [b"one", b"", b"two"])
    os.write(spool.descriptor, b"ee\n")
    assert spool.lines() == [b"one", b"", b"two", b"three"]


def test_after_clearing_the_next_document_starts_at_the_beginning(spool: Spool) -> None:
    os.write(spool.descriptor, b"one\n" * 1000)
    spool.clear()
    assert (spool.size(), spool.lines()) == (0, [])
    os.write(spool.descriptor, b"two\n")
    assert spool.lines() == [b"two"]
