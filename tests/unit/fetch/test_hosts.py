"""Manners towards hosts, with real requests to servers on the loopback."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from typing import TYPE_CHECKING

import pytest

from nclue_build.fetch.hosts import Deadline, Hosts
from nclue_build.fetch.outcome import PlaceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler

    from tests.unit.fetch.conftest import MakePdf, Place, Site


class Counter:
    """How many requests are answered at the same time, and when each began."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None], lasting_s: float) -> None:
        self._answer, self._lasting_s, self._lock = answer, lasting_s, threading.Lock()
        self.now = self.most = 0
        self.began: list[float] = []

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.began.append(time.monotonic())
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self._lasting_s)
        with self._lock:
            self.now -= 1
        self._answer(handler)


def counted(site: Site, pdf: MakePdf, lasting_s: float, n_documents: int) -> Counter:
    site.serve("/0.pdf", pdf())
    counter = Counter(site.answers["/0.pdf"].pop(), lasting_s)
    for number in range(n_documents):
        site.answers[f"/{number}.pdf"].append(counter)
    return counter


def documents(site: Site, n_documents: int) -> list[dict[str, str]]:
    return [{"doc_id": f"d{number}", "pdf_url": site.url(f"/{number}.pdf")} for number in range(n_documents)]


@pytest.mark.parametrize("at_a_time", [1, 3])
def test_a_host_answers_so_many_requests_at_a_time(site: Site, place: Place, pdf: MakePdf, at_a_time: int) -> None:
    place.settings = f"concurrency = 8\nhost_concurrency = {at_a_time}"
    counter = counted(site, pdf, 0.1, 8)
    report = place.fetch(*documents(site, 8))
    assert [outcome.status for outcome in report.outcomes] == ["recorded"] * 8
    assert [outcome.doc_id for outcome in report.outcomes] == [f"d{number}" for number in range(8)]
    assert counter.most == at_a_time


def test_between_requests_to_a_host_is_a_pause(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "concurrency = 8\nhost_concurrency = 8\nhost_pause_ms = 150"
    counter = counted(site, pdf, 0.0, 4)
    assert place.fetch(*documents(site, 4)).ok
    assert counter.began[-1] - counter.began[0] >= 3 * 0.15 - 0.05


def test_waiting_for_a_turn_does_not_count_as_time_of_a_document(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "concurrency = 4\nhost_concurrency = 1\ndocument_timeout_s = 1"
    counted(site, pdf, 0.6, 4)
    assert [outcome.status for outcome in place.fetch(*documents(site, 4)).outcomes] == ["recorded"] * 4


def test_whoever_asks_to_be_left_alone_is_by_all_documents(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "concurrency = 1\nretries = 0"
    site.reply("/0.pdf", status=429, headers={"Retry-After": "1"})
    counter = counted(site, pdf, 0.0, 2)
    began = time.monotonic()
    report = place.fetch(*documents(site, 2))
    assert [outcome.status for outcome in report.outcomes] == ["failed", "recorded"]
    assert counter.began[0] - began >= 0.95


def test_who_asks_for_long_is_not_asked_again(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "concurrency = 1"
    site.reply("/0.pdf", status=503, headers={"Retry-After": "3600"})
    counted(site, pdf, 0.0, 2)
    report = place.fetch(*documents(site, 2))
    assert [outcome.status for outcome in report.outcomes] == ["failed", "failed"]
    assert "not asked; the server asks to be left alone for 3600 s" in str(report.outcomes[1].message)
    assert [path for path, _ in site.asked] == ["/0.pdf"]


def test_one_host_does_not_wait_for_another() -> None:
    async def both() -> float:
        hosts = Hosts(1, 0.0)
        hosts.leave_alone("slow", 0.4)
        began = time.monotonic()
        async with Deadline(5) as deadline, hosts.turn("quick", deadline):
            return time.monotonic() - began

    assert asyncio.run(both()) < 0.2


def test_a_deadline_ends_what_is_no_waiting() -> None:
    async def late() -> None:
        hosts = Hosts(1, 0.0)
        hosts.leave_alone("slow", 0.3)
        async with Deadline(0.1) as deadline, hosts.turn("slow", deadline):
            await asyncio.sleep(5)

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(late())
    assert 0.35 <= time.monotonic() - began < 3


def test_a_host_is_free_again_after_an_error() -> None:
    async def twice() -> None:
        hosts = Hosts(1, 0.0)
        for _ in range(2):
            with pytest.raises(PlaceError):
                async with Deadline(1) as deadline, hosts.turn("one", deadline):
                    raise PlaceError("failed", "broken")

    asyncio.run(twice())


def test_two_rows_that_name_one_file_are_both_named(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    rows = [{"doc_id": name, "file_name": "same.pdf", "pdf_url": site.url("/a.pdf")} for name in ("a", "b")]
    report = place.fetch(*rows, {"doc_id": "c", "pdf_url": site.url("/a.pdf")})
    assert [outcome.status for outcome in report.outcomes] == ["failed", "failed", "recorded"]
    for outcome in report.outcomes[:2]:
        assert "line 1 (a) and line 2 (b) name one file, lists/same.pdf" in str(outcome.message)
        assert "another process" not in str(outcome.message)
    assert len(site.asked) == 1
    assert hashlib.sha256(pdf()).hexdigest() == report.outcomes[2].sha256
