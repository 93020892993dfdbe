"""Downloads from a server that does all that servers do."""

from __future__ import annotations

import gzip
import hashlib
import sys
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

import nclue_build
from nclue_build.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import MakePdf, Place, Site


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_document_is_fetched_checked_and_not_fetched_again(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf()))
    assert (outcome.status, outcome.sha256, outcome.n_bytes) == ("ok", sha256(pdf()), len(pdf()))
    assert outcome.path == "corpora/main/pdf/a.pdf"
    assert place.file.read_bytes() == pdf()
    assert place.left() == ["a.pdf"]
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf())).status == "already-there"
    assert len(site.asked) == 1
    assert site.asked[0][1]["accept-encoding"] == "identity"


def test_without_a_digest_it_is_recorded(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert (outcome.status, outcome.message) == ("recorded", None)


def test_a_mismatch_never_takes_the_place_of_a_file(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf(seed="other"))
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf"), "sha256": sha256(pdf())})
    place.folder.mkdir(parents=True)
    place.file.write_bytes(pdf(seed="damaged"))
    report = place.fetch()
    assert [outcome.status for outcome in report.outcomes] == ["mismatch"]
    assert not report.ok
    (finding,) = report.findings
    assert (finding.code, finding.path, finding.line) == ("digest-differs", "lists/corpus.jsonl", 1)
    assert place.file.read_bytes() == pdf(seed="damaged")
    assert place.left() == ["a.pdf"]
    site.answers.clear()
    site.serve("/a.pdf", pdf())
    assert [outcome.status for outcome in place.fetch().outcomes] == ["ok"]
    assert place.file.read_bytes() == pdf()


def test_a_listed_file_of_ones_own_is_never_replaced(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "file_name": "a.pdf", "pdf_url": site.url("/a.pdf"), "sha256": sha256(pdf())})
    own = place.root / "lists" / "a.pdf"
    own.write_bytes(b"mine")
    assert [outcome.status for outcome in place.fetch().outcomes] == ["mismatch"]
    assert own.read_bytes() == b"mine"
    assert site.asked == []
    own.unlink()
    assert [outcome.status for outcome in place.fetch().outcomes] == ["ok"]
    assert own.read_bytes() == pdf()


def test_a_list_does_not_decide_where_files_are_written(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    outcome = place.one(file_name="../../outside.pdf", pdf_url=site.url("/a.pdf"))
    assert outcome.status == "failed"
    assert "leads out of" in str(outcome.message)
    assert not (place.root.parent / "outside.pdf").exists()


def test_names_that_no_file_can_have(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    names = {"a": "x" * 300 + ".pdf", "b": "corpus.jsonl/b.pdf", "c": "folder/c.pdf"}
    report = place.fetch(
        *({"doc_id": doc_id, "file_name": name, "pdf_url": site.url("/a.pdf")} for doc_id, name in names.items())
    )
    assert [outcome.status for outcome in report.outcomes] == ["failed", "failed", "recorded"]
    assert "file name too long" in report.findings[0].message
    assert "not a directory" in report.findings[1].message
    (place.root / "lists" / "folder" / "c.pdf").unlink()
    (place.root / "lists" / "folder" / "c.pdf").mkdir()
    assert "is in the way" in place.fetch().findings[2].message
    with pytest.raises(DataError, match="not a directory"):
        nclue_build.run_build(place.root, last="extract")


def test_the_size_listed_is_checked(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"), bytes=7)
    assert outcome.status == "mismatch"
    assert f"has {len(pdf())} bytes, not 7 as listed" in str(outcome.message)


@pytest.mark.parametrize("status", [404, 410])
def test_gone(site: Site, place: Place, status: int) -> None:
    site.reply("/a.pdf", status=status)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "gone"
    assert len(site.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 204, 304, 302])
def test_other_answers_are_final(site: Site, place: Place, status: int) -> None:
    site.reply("/a.pdf", status=status)
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    (outcome,) = report.outcomes
    assert outcome.status == "failed"
    assert [finding.code for finding in report.findings] == ["fetch-failed"]
    assert f"status {status}" in str(outcome.message)
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"<!DOCTYPE html><html><title>Log in\n</title>", "text/html", "a web page, not a PDF: 'Log in'"),
        (b"\n<html><body>no title", "application/pdf", "a web page, not a PDF"),
        (b"just text", "text/plain; charset=x", "not a PDF, but text/plain"),
        (b"PK\x03\x04" * 1000, "application/pdf", "not a PDF"),
        (b"", "application/pdf", "empty"),
    ],
)  # fmt: skip
def test_not_a_pdf(site: Site, place: Place, body: bytes, kind: str, said: str) -> None:
    site.reply("/a.pdf", body, headers={"Content-Type": kind})
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    (outcome,) = report.outcomes
    assert outcome.status == "not-pdf"
    assert [finding.code for finding in report.findings] == ["fetch-not-pdf"]
    assert str(outcome.message).endswith(said)
    assert place.left() == []


@pytest.mark.parametrize("length", [None, ""])
def test_too_large_announced_or_not(site: Site, place: Place, pdf: MakePdf, length: str | None) -> None:
    place.settings = "max_document_mb = 1"
    site.reply("/a.pdf", pdf(3 << 20), headers={} if length is None else {"Content-Length": length})
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    (outcome,) = report.outcomes
    assert outcome.status == "too-large"
    assert [finding.code for finding in report.findings] == ["fetch-too-large"]
    assert outcome.n_received <= (1 << 20 if length == "" else 0)
    assert place.left() == []


def test_a_broken_download_goes_on_where_it_stopped(site: Site, place: Place, pdf: MakePdf) -> None:
    whole = pdf(300_000)
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'}, sent=200_000)
    site.serve("/a.pdf", whole, ETag='"1"')
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(whole))
    assert outcome.status == "ok"
    assert place.file.read_bytes() == whole
    asked = site.asked[1][1]
    assert asked["range"].startswith("bytes=")
    assert asked["if-range"] == '"1"'
    assert outcome.n_received == len(whole)


def test_a_later_run_goes_on_as_well(site: Site, place: Place, pdf: MakePdf) -> None:
    whole = pdf(300_000)
    place.settings = "retries = 0"
    modified = formatdate(0, usegmt=True)
    site.reply("/a.pdf", whole, headers={"Last-Modified": modified}, sent=200_000)
    site.serve("/a.pdf", whole, Last_Modified=modified)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    there = place.part.stat().st_size
    assert 0 < there <= 200_000
    assert place.left() == ["a.pdf.part", "a.pdf.part.json"]
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert (outcome.status, outcome.n_received) == ("recorded", len(whole) - there)
    assert site.asked[1][1]["range"] == f"bytes={there}-"
    assert place.file.read_bytes() == whole
    assert place.left() == ["a.pdf"]


def test_content_that_changed_in_between_is_fetched_anew(site: Site, place: Place, pdf: MakePdf) -> None:
    site.reply("/a.pdf", pdf(300_000), headers={"ETag": '"1"'}, sent=200_000)
    site.serve("/a.pdf", pdf(300_000, "new"), ETag='"2"')
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"
    assert place.file.read_bytes() == pdf(300_000, "new")


def test_two_states_put_together_are_noticed_by_the_digest(site: Site, place: Place, pdf: MakePdf) -> None:
    new = pdf(300_000, "new")
    site.reply("/a.pdf", pdf(300_000), sent=200_000)  # no validator: the server cannot be asked
    site.serve("/a.pdf", new)
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(new))
    assert outcome.status == "ok"
    assert place.file.read_bytes() == new
    assert ["range" in headers for _, headers in site.asked] == [False, True, False]


def test_without_validator_and_digest_it_starts_again(site: Site, place: Place, pdf: MakePdf) -> None:
    site.reply("/a.pdf", pdf(300_000), headers={"ETag": 'W/"1"'}, sent=200_000)
    site.serve("/a.pdf", pdf(300_000))
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"
    assert ["range" in headers for _, headers in site.asked] == [False, False]


def test_a_server_that_ignores_ranges_starts_it_again(site: Site, place: Place, pdf: MakePdf) -> None:
    whole = pdf(300_000)
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'}, sent=200_000)
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'})
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(whole)).status == "ok"
    assert "range" in site.asked[1][1]
    assert place.file.read_bytes() == whole


@pytest.mark.parametrize("content_range", ["bytes 5-9/300000", "bytes */5", "items 1-2/3", ""])
def test_another_range_than_was_asked_for_starts_it_again(
    site: Site, place: Place, pdf: MakePdf, content_range: str
) -> None:
    whole = pdf(300_000)
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'}, sent=200_000)
    site.reply("/a.pdf", whole, 206, {"ETag": '"1"', "Content-Range": content_range})
    site.serve("/a.pdf", whole, ETag='"1"')
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(whole)).status == "ok"
    assert place.file.read_bytes() == whole


def test_a_range_that_is_refused_starts_it_again(site: Site, place: Place, pdf: MakePdf) -> None:
    site.reply("/a.pdf", pdf(300_000), headers={"ETag": '"1"'}, sent=200_000)
    site.reply("/a.pdf", status=416, headers={"Content-Range": "bytes */10"})
    site.serve("/a.pdf", pdf(), ETag='"2"')
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"
    assert place.file.read_bytes() == pdf()


def test_a_part_that_nobody_asked_for_is_no_document(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "retries = 1"
    site.reply("/a.pdf", pdf(), 206, {"Content-Range": "bytes 100-5200/6000"})
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    assert place.left() == []


def test_a_part_of_another_address_is_not_gone_on_with(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "retries = 0"
    site.reply("/a.pdf", pdf(300_000), headers={"ETag": '"1"'}, sent=200_000)
    place.one(pdf_url=site.url("/a.pdf"))
    site.serve("/b.pdf", pdf(300_000, "b"), ETag='"1"')
    assert place.one(pdf_url=site.url("/b.pdf")).status == "recorded"
    assert place.file.read_bytes() == pdf(300_000, "b")


def test_a_server_that_always_breaks_off_is_worked_through(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "retries = 1"
    whole = pdf(1_000_000)
    step = 150_000
    for start in range(0, len(whole), step):
        headers = {"ETag": '"1"', "Content-Length": str(len(whole) - start)}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(whole) - 1}/{len(whole)}"
        site.reply("/a.pdf", whole[start:], 206 if start else 200, headers, sent=step)
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(whole)).status == "ok"


def test_a_length_that_is_too_long_is_broken_off(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "retries = 1"
    site.reply("/a.pdf", pdf(), headers={"Content-Length": "9000"}, sent=len(pdf()))
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert outcome.status == "failed"
    assert not place.file.exists()
    assert len(site.asked) == 2


def test_a_length_that_is_too_short_is_a_mismatch_or_pointed_out(site: Site, place: Place, pdf: MakePdf) -> None:
    site.reply("/a.pdf", pdf(), headers={"Content-Length": "3000", "Connection": "close"})
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf())).status == "mismatch"
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    assert [outcome.status for outcome in report.outcomes] == ["recorded"]
    assert [finding.code for finding in report.findings] == ["fetch-cut-short"]
    assert report.ok


def test_a_length_that_is_no_number(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "retries = 0"
    site.reply("/a.pdf", pdf(), headers={"Content-Length": "many"})
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"


def test_a_stalling_server_ends_an_attempt(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "timeout_s = 1\nretries = 0"
    site.reply("/a.pdf", pdf(), piece=2000, pause_s=2)
    began = time.monotonic()
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert "no answer within timeout_s = 1" in str(outcome.message)
    assert time.monotonic() - began < 3


def test_a_dripping_server_ends_with_the_time_of_a_document(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "document_timeout_s = 1"
    site.reply("/a.pdf", pdf(), piece=20, pause_s=0.05)
    began = time.monotonic()
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert outcome.status == "failed"
    assert "not there within document_timeout_s = 1" in str(outcome.message)
    assert time.monotonic() - began < 3


def test_dripping_headers_end_with_it_too(site: Site, place: Place) -> None:
    place.settings = "document_timeout_s = 1"
    site.reply("/a.pdf", headers={"X-Long": "x"})

    def drip(handler: object) -> None:
        for _ in range(100):
            handler.wfile.write(b"H")  # type: ignore[attr-defined]
            time.sleep(0.05)

    site.answers["/a.pdf"] = [drip]
    began = time.monotonic()
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    assert time.monotonic() - began < 3


def test_compressed_answers_are_unpacked_and_bounded(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "max_document_mb = 1\nretries = 1"
    headers = {"Content-Encoding": "gzip", "ETag": '"1"'}
    site.reply("/a.pdf", gzip.compress(pdf()), headers=headers)
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf())).status == "ok"
    place.file.unlink()
    site.answers.clear()
    site.reply("/a.pdf", gzip.compress(pdf(50 << 20)), headers=headers)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "too-large"
    site.answers.clear()
    site.reply("/a.pdf", b"not gzip" + gzip.compress(pdf()), headers=headers)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    assert not place.file.exists()


def test_chunked_answers(site: Site, place: Place, pdf: MakePdf) -> None:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (pdf()[:7], pdf()[7:])) + b"0\r\n\r\n"
    headers = {"Content-Length": "", "Transfer-Encoding": "chunked"}
    site.reply("/a.pdf", chunks, headers=headers)
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf())).status == "ok"
    place.file.unlink()
    place.settings = "retries = 1"
    site.answers.clear()
    site.reply("/a.pdf", chunks, headers=headers, sent=len(chunks) - 5)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    assert not place.file.exists()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("wait", ["0", "", "garbage", "-3", "Thu, 01 Jan 1970 00:00:00 GMT", "1.5"])
def test_a_busy_server_is_asked_again(site: Site, place: Place, pdf: MakePdf, status: int, wait: str) -> None:
    site.reply("/a.pdf", b"busy", status, {"Retry-After": wait} if wait else {})
    site.serve("/a.pdf", pdf())
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"
    assert len(site.asked) == 2


@pytest.mark.parametrize("wait", ["86400", "9" * 400, "tomorrow"])
def test_a_server_that_wants_to_be_left_alone_for_long_is(site: Site, place: Place, wait: str) -> None:
    if wait == "tomorrow":
        wait = formatdate(time.time() + 90_000, usegmt=True)
    site.reply("/a.pdf", b"", 503, {"Retry-After": wait})
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert outcome.status == "failed"
    assert "asks to be left alone" in str(outcome.message)
    assert len(site.asked) == 1


@pytest.mark.parametrize("redirected", [False, True])
def test_a_port_that_does_not_exist_fails_its_document_alone(site: Site, place: Place, *, redirected: bool) -> None:
    nowhere = "http://127.0.0.1:99999/a.pdf"
    if redirected:
        site.reply("/a.pdf", b"", 302, {"Location": nowhere})
    outcome = place.one(pdf_url=site.url("/a.pdf") if redirected else nowhere)
    assert outcome.status == "failed"
    assert "no port is above 65535" in str(outcome.message)


def test_retries_are_bounded(site: Site, place: Place) -> None:
    place.settings = "retries = 2"
    site.reply("/a.pdf", b"", 503)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "failed"
    assert len(site.asked) == 3


def test_a_reset_in_the_middle_is_tried_again(site: Site, place: Place, pdf: MakePdf) -> None:
    site.reply("/a.pdf", pdf(), sent=0)
    site.serve("/a.pdf", pdf())
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://me:secret@127.0.0.1:1"),
        ("HTTP_PROXY", "ftp://me:secret@127.0.0.1"),
        ("HTTP_PROXY", "http://me:secret@[::1"),
        ("SSL_CERT_FILE", "/secret/none.pem"),
    ],
)
def test_an_environment_without_a_connection_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UsageError, match=f"no connection can be set up .*{name}") as caught:
        place.one(pdf_url="http://127.0.0.1:9/a.pdf")
    assert "secret" not in str(caught.value)


def test_nobody_there(place: Place) -> None:
    place.settings = "retries = 1"
    assert place.one(pdf_url="http://127.0.0.1:9/a.pdf").status == "failed"


def test_a_chain_of_redirects_is_followed_so_far(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = "max_redirects = 3"
    for number, status in enumerate((301, 302, 307)):
        site.reply(f"/{number}", b"moved", status, {"Location": f"{number + 1}"})
    site.serve("/3", pdf())
    assert place.one(pdf_url=site.url("/0")).status == "recorded"
    place.file.unlink()
    place.settings = "max_redirects = 2"
    outcome = place.one(pdf_url=site.url("/0"))
    assert "more than max_redirects = 2" in str(outcome.message)


def test_a_loop_ends(site: Site, place: Place) -> None:
    site.reply("/a", status=308, headers={"Location": "/b"})
    site.reply("/b", status=303, headers={"Location": "/a"})
    assert place.one(pdf_url=site.url("/a")).status == "failed"
    assert len(site.asked) == 6


def test_another_host_may_be_named(site: Site, place: Place, pdf: MakePdf) -> None:
    other = site.base.replace("127.0.0.1", "localhost")
    site.reply("/a", status=302, headers={"Location": f"{other}/b.pdf"})
    site.serve("/b.pdf", pdf())
    assert place.one(pdf_url=site.url("/a")).status == "recorded"
    assert site.asked[1][1]["host"].startswith("localhost")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a.pdf", "javascript:1", "http://[", "//"])
def test_redirects_to_other_kinds_of_addresses_are_refused(site: Site, place: Place, target: str) -> None:
    place.settings = "retries = 0"
    site.reply("/a", status=302, headers={"Location": target})
    assert place.one(pdf_url=site.url("/a")).status == "failed"


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/a",
        "/a.pdf",
        "a.pdf",
        "http://",
        "http://[",
        "http://a:b/",
        "\0:",
        "pmc:x",
    ],
)
def test_other_kinds_of_addresses_are_refused(place: Place, address: str) -> None:
    place.settings = "retries = 0"
    assert place.one(pdf_url=address).status == "failed"
