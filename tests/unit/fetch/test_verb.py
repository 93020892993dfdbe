"""The verb: exit codes, the envelope, and what happens when somebody stops it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from nclue_build.fetch.client import _redirected
from nclue_build.fetch.outcome import PlaceError

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

    from tests.unit.fetch.conftest import MakePdf, Place, Site

ENVIRONMENT = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


def command(place: Place, *words: str) -> list[str]:
    return [sys.executable, "-m", "nclue_build", "-w", str(place.root), *words]


def run(place: Place, *words: str) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(  # noqa: S603 - our own program
        command(place, *words, "--json"), capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def test_some_missing_is_fine_and_all_missing_is_not(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")}, {"doc_id": "b", "pdf_url": site.url("/b.pdf")})
    code, reply, said = run(place, "fetch")
    assert (code, reply["ok"]) == (0, True)
    assert {name: number for name, number in reply["result"]["counts"].items() if number} == {"recorded": 1, "gone": 1}
    assert [finding["code"] for finding in reply["findings"]] == ["fetch-gone"]
    assert [one["status"] for one in reply["result"]["documents"]] == ["recorded", "gone"]
    assert "fetching (2 documents)" in said
    place.write({"doc_id": "b", "pdf_url": site.url("/b.pdf")})
    code, reply, _ = run(place, "fetch")
    assert (code, reply["ok"]) == (1, False)
    assert reply["result"]["counts"]["gone"] == 1
    code, reply, _ = run(place, "run")
    assert (code, [finding["code"] for finding in reply["findings"]]) == (3, ["fetch-gone"])
    code, reply, _ = run(place, "extract")
    assert (code, [finding["code"] for finding in reply["findings"]]) == (3, ["not-fetched"])


def test_a_corpus_of_addresses_can_be_set_up_and_the_doctor_says_what_to_do(site: Site, place: Place) -> None:
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    new = place.root.parent / "new"
    words = ["init", str(new), "--corpus", str(place.root / "lists" / "corpus.jsonl")]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *words], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert done.returncode == 0
    assert "1 document will be downloaded by the first run" in done.stdout
    _, reply, _ = run(place, "doctor")
    (problem,) = [finding["message"] for finding in reply["findings"]]
    assert (
        problem
        == "build main: 1 document not fetched yet: run 'nclue-build -b main fetch', or 'run', which does it first"
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_fetch_says_so_and_leaves_what_came(
    site: Site, place: Place, pdf: MakePdf, number: int, code: int
) -> None:
    site.reply("/a.pdf", pdf(3_000_000), headers={"ETag": '"1"'}, piece=100_000, pause_s=0.1)
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    with subprocess.Popen(  # noqa: S603 - our own program
        command(place, "fetch"), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (place.part.exists() and place.part.stat().st_size > 200_000):
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Traceback" not in said
    assert place.part.stat().st_size > 200_000
    if code == 130:
        assert "To go on where it stopped: nclue-build" in said


def test_only_so_many_documents_at_a_time(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "concurrency = 3\nhost_concurrency = 8"
    lock, now, most = threading.Lock(), [0], [0]

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.1)
        with lock:
            now[0] -= 1
        handler.send_response_only(200)
        handler.send_header("Content-Length", str(len(pdf())))
        handler.end_headers()
        handler.wfile.write(pdf())

    rows = [{"doc_id": f"d{number}", "pdf_url": site.url(f"/{number}")} for number in range(12)]
    for number in range(12):
        site.answers[f"/{number}"] = [answer]
    assert place.fetch(*rows).counts["recorded"] == 12
    assert most[0] == 3


def test_it_also_works_where_an_event_loop_is_running(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})

    async def cell() -> str:
        return place.fetch().outcomes[0].status

    assert asyncio.run(cell()) == "recorded"


def test_a_disk_that_cannot_be_written_is_no_bad_document(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    place.folder.parent.mkdir(parents=True)
    place.folder.write_bytes(b"a file where the folder goes")
    code, reply, _ = run(place, "fetch")
    assert (code, reply["findings"][0]["code"]) == (2, "system-error")


def test_from_https_to_http_is_refused() -> None:
    def answer(start: str, target: str) -> httpx2.Response:
        return httpx2.Response(302, headers={"Location": target}, request=httpx2.Request("GET", start))

    with pytest.raises(PlaceError, match=r"leads from https to http \(http://x.org/b\)"):
        _redirected(answer("https://x.org/a", "http://x.org/b?token=1"))
    assert _redirected(answer("http://x.org/a", "https://x.org/b")) == "https://x.org/b"
    assert _redirected(answer("https://x.org/a", "//y.org/b")) == "https://y.org/b"
