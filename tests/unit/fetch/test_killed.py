"""A fetch that is killed in the middle of a document goes on where it stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_bytes
from nclue_build.store.atomic import TEMPORARY_SUFFIX

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import MakePdf, Place, Site


def test_a_killed_fetch_goes_on(site: Site, place: Place, pdf: MakePdf) -> None:
    whole = pdf(600_000)
    row = {"doc_id": "a", "pdf_url": site.url("/a.pdf"), "sha256": sha256_bytes(whole)}
    site.reply("/a.pdf", whole, headers={"ETag": '"1"'}, piece=20_000, pause_s=0.3)
    site.serve("/a.pdf", whole, ETag='"1"')
    place.write(row)
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", "-w", place.root, "fetch"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 120
        while (not place.part.exists() or place.part.stat().st_size < 60_000) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    there = place.part.stat().st_size
    assert 60_000 <= there < len(whole)
    assert place.left() == ["a.pdf.part", "a.pdf.part.json"]
    (outcome,) = place.fetch().outcomes
    assert (outcome.status, outcome.n_received) == ("ok", len(whole) - there)
    assert site.asked[1][1]["range"] == f"bytes={there}-"
    assert place.file.read_bytes() == whole
    assert place.left() == ["a.pdf"]


def test_what_a_kill_leaves_beside_a_whole_file_goes(site: Site, place: Place, pdf: MakePdf) -> None:
    """Killed between giving the file its place and forgetting where its bytes came from."""
    whole = pdf()
    site.serve("/a.pdf", whole)
    assert place.one(pdf_url=site.url("/a.pdf"), sha256=sha256_bytes(whole)).status == "ok"
    origin = place.folder / "a.pdf.part.json"
    origin.write_text('{"address_sha256": "' + "0" * 64 + '", "validator": null}')
    notes = place.folder / "b.pdf.part.json"
    notes.write_text("somebody's own")
    (outcome,) = place.fetch().outcomes
    assert outcome.status == "already-there"
    assert place.left() == ["a.pdf", "b.pdf.part.json"]
    origin.write_text("somebody's own")
    assert place.fetch().outcomes[0].status == "already-there"
    assert place.left() == ["a.pdf", "a.pdf.part.json", "b.pdf.part.json"]


def test_temporary_files_of_a_killed_fetch_go(site: Site, place: Place, pdf: MakePdf) -> None:
    """Unless another build may be writing them right now."""
    site.serve("/a.pdf", pdf())
    place.folder.mkdir(parents=True)
    for name, age_s in (("old", 90_000), ("new", 0)):
        path = place.folder / f".a.pdf.part.json.{name}{TEMPORARY_SUFFIX}"
        path.write_text("{}")
        os.utime(path, (time.time() - age_s,) * 2)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "recorded"
    assert place.left() == [f".a.pdf.part.json.new{TEMPORARY_SUFFIX}", "a.pdf"]
