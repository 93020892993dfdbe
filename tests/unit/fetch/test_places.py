"""Where documents come from, other than their first address; and what is said and kept of them."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import nclue_build
from nclue_build.core.errors import DataError, UsageError
from nclue_build.core.ids import id_problem
from nclue_build.core.retry_after import retry_after_s
from nclue_build.fetch.places import places, sample, shown
from nclue_build.fetch.retry import MAX_WAIT_S, backoff_s
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.lock import build_lock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import WritePdf
    from tests.unit.fetch.conftest import MakePdf, Place, Site


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def rows_of(place: Place) -> dict[str, dict[str, object]]:
    text = (place.root / "inventory" / "main" / "documents.jsonl").read_text()
    return {row["doc_id"]: row for row in map(json.loads, text.splitlines())}


def test_places_come_in_order_and_need_what_they_name() -> None:
    row = CorpusRow(
        doc_id="a", source="s", pdf_url="https://x.org/d/r.pdf?v=1", archive_url="https://archive.org/r.pdf"
    )
    mirrors = ["https://m.org/", "https://m.org/{sha256}", "https://m.org/{host}/{path}", "https://m.org/f/{file}"]
    known = [place.address for place in places(row, mirrors, None)]
    assert known == [
        "https://x.org/d/r.pdf?v=1",
        "https://m.org/a.pdf",
        "https://m.org/x.org/d/r.pdf?v=1",
        "https://m.org/f/r.pdf",
        "https://archive.org/r.pdf",
    ]
    assert "https://m.org/" + "0" * 64 in [place.address for place in places(row, mirrors, "0" * 64)]
    only = CorpusRow(doc_id="a", source="s", url="https://x.org", archive_url="https://archive.org/r.pdf")
    assert [place.kind for place in places(only, mirrors, None)] == ["mirror", "archive_url"]


def test_messages_show_no_secrets() -> None:
    assert shown("https://me:word@x.org:8443/a.pdf?token=1#f") == "https://x.org:8443/a.pdf"
    assert shown("http://[") == "http://["
    assert "\n" not in shown("https://x.org/a\nb")


def test_a_sample_does_not_depend_on_the_order() -> None:
    ids = [f"d{number}" for number in range(50)]
    assert all(id_problem(doc_id) is None for doc_id in ids)
    chosen = sample(ids, 5)
    assert chosen == sample(ids[::-1], 5)
    assert set(chosen) < set(sample(ids, 6))
    assert chosen != ids[:5]


def test_waits() -> None:
    assert backoff_s(2) == 2 * backoff_s(1)
    assert backoff_s(10**3) == MAX_WAIT_S
    assert retry_after_s(None) is None
    assert retry_after_s(" 7 ") == 7
    assert retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now=20) == 40
    assert retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now=90) == 0
    assert retry_after_s("99 bottles") is None


def test_mirrors_and_archives_are_tried_next(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/wrong.pdf", pdf(seed="wrong"))
    place.settings = f'mirrors = ["{site.base}/none/", "{site.base}/{{doc_id}}.html"]'
    site.reply("/a.html", b"<html><title>Moved</title>")
    site.serve("/archive.pdf?key=1", pdf())
    outcome = place.one(
        pdf_url=site.url("/wrong.pdf"), archive_url=site.url("/archive.pdf?key=1"), sha256=sha256(pdf())
    )
    assert (outcome.status, outcome.place) == ("ok", site.url("/archive.pdf"))


def test_the_message_lists_all_that_was_tried(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/wrong.pdf", pdf(seed="wrong"))
    place.settings = f'mirrors = ["{site.base}/none/"]'
    outcome = place.one(pdf_url=site.url("/wrong.pdf"), archive_url="ftp://x.org/a.pdf", sha256=sha256(pdf()))
    assert outcome.status == "mismatch"
    message = str(outcome.message)
    assert f"pdf_url {site.base}/wrong.pdf: has SHA-256 " in message
    assert f"mirror {site.base}/none/a.pdf: gone (status 404)" in message
    assert "archive_url ftp://x.org/a.pdf: not an address that can be fetched" in message


def test_local_folders_first_with_a_digest_last_without(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf(seed="web"))
    place.settings = 'local_folders = ["../own", "nowhere"]'
    own = place.root.parent / "own"
    own.mkdir()
    (own / "a.pdf").write_bytes(pdf(seed="other"))
    (own / f"{sha256(pdf())}.pdf").write_bytes(pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf()))
    assert (outcome.status, outcome.place) == ("ok", "local folder own")
    assert site.asked == []
    place.file.unlink()
    assert place.one(pdf_url=site.url("/a.pdf")).place == site.url("/a.pdf")
    place.file.unlink()
    assert place.one(pdf_url=site.url("/gone.pdf")).place == "local folder own"
    assert place.file.read_bytes() == pdf(seed="other")


def test_a_local_file_is_checked_like_any_other(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = 'local_folders = ["own"]'
    (place.root / "own").mkdir(parents=True)
    (place.root / "own" / "a.pdf").write_bytes(b"no PDF")
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert outcome.status == "gone"
    assert "local folder own: not a PDF" in str(outcome.message)
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256(pdf())).status == "gone"
    assert (place.root / "own" / "a.pdf").read_bytes() == b"no PDF"


def test_pmc_ids(site: Site, place: Place, pdf: MakePdf) -> None:
    place.settings = (
        f'pmc_pdf_url = "{site.base}/{{id}}.{{version}}.pdf"\npmc_service_url = "{site.base}/oa?id={{id}}"\nretries = 0'
    )
    site.serve("/PMC12.1.pdf", pdf())
    site.serve("/PMC12.2.pdf", pdf(seed="2"))
    assert place.one(pdf_url="pmc:PMC12", sha256=sha256(pdf())).status == "ok"
    place.file.unlink()
    assert place.one(pdf_url="PMC:12.2", sha256=sha256(pdf(seed="2"))).status == "ok"
    place.file.unlink()
    link = f'<link format="tgz" href="ftp://x/y.tgz"/><link format="pdf" href="{site.base}/other.pdf"/>'
    site.reply("/oa?id=PMC13", f"<OA><records><record id='PMC13'>{link}</record></records></OA>".encode())
    site.serve("/other.pdf", pdf(seed="3"))
    assert place.one(pdf_url="pmc:PMC13", sha256=sha256(pdf(seed="3"))).place == site.url("/other.pdf")


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (b'<OA><error code="idIsNotOpenAccess">id is not</error></OA>', "gone", "says: idIsNotOpenAccess id is not"),
        (b'<OA><records><record><link format="tgz" href="ftp://x/y"/></record></records></OA>', "gone", "has no PDF"),
        (b"<!DOCTYPE html><p>", "gone", "did not answer with XML"),
        (b"<OA>", "gone", "did not answer with XML"),
        (b"x" * (2 << 20), "gone", "more than 1 MiB"),
    ],
)
def test_what_a_service_says_instead(site: Site, place: Place, reply: bytes, status: str, said: str) -> None:
    place.settings = f'pmc_pdf_url = "{site.base}/{{id}}"\npmc_service_url = "{site.base}/oa"\nretries = 0'
    site.reply("/oa", reply)
    outcome = place.one(pdf_url="pmc:PMC12")
    assert outcome.status == status
    assert said in str(outcome.message)


def test_record_keeps_digests_and_later_fetching_checks_by_them(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    site.serve("/b.pdf", pdf(seed="b"))
    rows = [
        {"doc_id": "b", "pdf_url": site.url("/b.pdf"), "sha256": sha256(pdf(seed="b"))},
        {"doc_id": "a", "pdf_url": site.url("/a.pdf")},
        {"doc_id": "c", "pdf_url": site.url("/c.pdf")},
    ]
    report = place.fetch(*rows, record=True)
    assert report.n_recorded == 1
    corpus = (place.root / "lists" / "corpus.jsonl").read_bytes()
    kept = rows_of(place)
    assert list(kept) == ["a", "b"]
    assert kept["a"]["sha256"] == sha256(pdf())
    assert kept["a"]["bytes"] == len(pdf())
    assert kept["a"]["file_name"] == "../corpora/main/pdf/a.pdf"
    place.file.unlink()
    site.answers.clear()
    site.serve("/a.pdf", pdf(seed="changed"))
    statuses = {outcome.doc_id: outcome.status for outcome in place.fetch(record=True).outcomes}
    assert statuses == {"a": "mismatch", "b": "already-there", "c": "gone"}
    assert rows_of(place) == kept
    assert (place.root / "lists" / "corpus.jsonl").read_bytes() == corpus
    found = [finding.code for finding in nclue_build.validate_build(place.root).findings]
    assert found == ["not-fetched", "not-fetched"]


def test_what_is_recorded_of_another_address_gives_way(site: Site, place: Place, pdf: MakePdf) -> None:
    """Else the digest of what came from the new address would never be kept, and never be compared."""
    site.serve("/a.pdf", pdf())
    site.serve("/b.pdf", pdf(seed="b"))
    place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")}, record=True)
    place.file.unlink()
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/b.pdf")}, record=True)
    assert report.n_recorded == 1
    kept = rows_of(place)["a"]
    assert (kept["sha256"], kept["pdf_url"]) == (sha256(pdf(seed="b")), site.url("/b.pdf"))
    place.file.unlink()
    assert place.fetch().outcomes[0].status == "ok"


def test_the_same_sample_each_time(site: Site, place: Place, pdf: MakePdf) -> None:
    rows = [{"doc_id": f"d{number}", "pdf_url": site.url(f"/{number}.pdf")} for number in range(12)]
    for number in range(12):
        site.serve(f"/{number}.pdf", pdf(seed=str(number)))
    first = place.fetch(*rows, sample=3)
    again = place.fetch(*rows[::-1], sample=3)
    assert [one.doc_id for one in first.outcomes] == [one.doc_id for one in again.outcomes]
    assert first.counts["recorded"] == again.counts["already-there"] == 3
    assert (first.n_listed, len(place.left())) == (12, 3)


def test_bad_rows_and_folders_are_refused_before_anything_is_fetched(site: Site, place: Place) -> None:
    with pytest.raises(DataError, match="bad-record"):
        place.fetch({"doc_id": "a", "pdf_url": site.url("/a.pdf")}, {"doc_id": "b b", "pdf_url": "x"})
    assert site.asked == []
    (place.root / "configs" / "main.toml").write_text('schema = 1\n[corpus]\npdfs = "."\n')
    with pytest.raises(UsageError, match="a folder of PDFs"):
        place.fetch()


def test_one_fetch_at_a_time(site: Site, place: Place, pdf: MakePdf) -> None:
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    with build_lock(Build(Workspace(place.root), "main")), pytest.raises(UsageError, match="already being run"):
        place.fetch()
    assert site.asked == []


def test_two_builds_may_share_a_folder(site: Site, place: Place, pdf: MakePdf) -> None:
    place.folder.mkdir(parents=True)
    with place.part.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert "another process is fetching" in str(outcome.message)
    site.serve("/a.pdf", pdf())
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"


@pytest.mark.parametrize("name", ["a.pdf.part", "a.pdf.part.json"])
@pytest.mark.parametrize("content", [b"precious", b"%PDF-1.4 mine", b"{}"])
def test_files_of_others_in_its_way_stay(site: Site, place: Place, pdf: MakePdf, name: str, content: bytes) -> None:
    place.folder.mkdir(parents=True)
    (place.folder / name).write_bytes(content)
    site.serve("/a.pdf", pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"))
    assert outcome.status == "failed"
    assert f"{name} is no file of ours" in str(outcome.message)
    assert (place.folder / name).read_bytes() == content


@pytest.mark.parametrize("name", ["a.pdf.part", "a.pdf.part.json"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_nothing_is_written_through_what_is_no_file(
    site: Site, place: Place, pdf: MakePdf, name: str, kind: str
) -> None:
    place.folder.mkdir(parents=True)
    outside = place.root / "notes.txt"
    way = place.folder / name
    if kind == "folder":
        way.mkdir()
    elif kind == "pipe":
        os.mkfifo(way)
    else:
        way.symlink_to(outside)
        if kind == "link":
            outside.write_bytes(b"precious")
    site.serve("/a.pdf", pdf())
    site.serve("/b.pdf", pdf())
    rows = [{"doc_id": one, "pdf_url": site.url(f"/{one}.pdf")} for one in "ab"]
    blocked, other = place.fetch(*rows).outcomes
    assert (blocked.status, other.status) == ("failed", "recorded")
    assert "is no file of ours" in str(blocked.message)
    assert outside.exists() == (kind == "link")
    assert not outside.exists() or outside.read_bytes() == b"precious"


def test_a_killed_fetch_is_gone_on_with(site: Site, place: Place, pdf: MakePdf) -> None:
    whole = pdf(3_000_000)
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'}, piece=100_000, pause_s=0.1)
    site.serve("/a.pdf", whole, ETag='"1"')
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf"), "sha256": sha256(whole)})
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    command = [sys.executable, "-m", "nclue_build", "-w", str(place.root), "fetch"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (place.part.exists() and place.part.stat().st_size > 500_000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    there = place.part.stat().st_size
    assert 500_000 < there < len(whole)
    assert not place.file.exists()
    (outcome,) = place.fetch().outcomes
    assert (outcome.status, outcome.n_received) == ("ok", len(whole) - there)
    assert place.file.read_bytes() == whole


def test_a_run_fetches_what_is_missing_and_reads_it(
    site: Site, place: Place, tmp_path: Path, write_pdf: WritePdf
) -> None:
    body = write_pdf(tmp_path / "made.pdf", [["Coral reefs", "This page is about coral reefs and their health."]])
    site.serve("/a.pdf", body.read_bytes())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    plan = nclue_build.plan_build(place.root, last="extract")
    assert [(one.stage, one.state) for one in plan] == [("fetch", "stale"), ("extract", "waiting")]
    with pytest.raises(DataError, match="run 'nclue-build fetch'"):
        nclue_build.run_build(place.root, last="extract", fetch=False)
    report = nclue_build.run_build(place.root, last="extract")
    assert report.stages[0].counts["pages_ok"] == 1
    row = rows_of(place)["a"]
    assert (row["file_name"], row["sha256"]) == ("../corpora/main/pdf/a.pdf", sha256(body.read_bytes()))
    assert [one.state for one in nclue_build.plan_build(place.root, last="extract")] == ["current"]
    assert not nclue_build.run_build(place.root, last="extract").stages[0].ran
    assert len(site.asked) == 1
    assert place.fetch(record=True).n_recorded == 0
    assert [one.state for one in nclue_build.plan_build(place.root, last="extract")] == ["current"]
    assert nclue_build.validate_build(place.root).findings == ()


def test_a_run_needs_every_document(site: Site, place: Place) -> None:
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf")})
    with pytest.raises(DataError, match=r"gone \(status 404\)"):
        nclue_build.run_build(place.root, last="extract")
