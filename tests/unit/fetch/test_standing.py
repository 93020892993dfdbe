"""What stands at the place of a document, and what may be put there."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.fetch import attempt, standing
from nclue_build.store.partial import Partial

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.fetch.conftest import MakePdf, Place, Site


@pytest.mark.parametrize("name", ["../x.py", "../configs/other.toml", "notes", "x/..", "..", "folder/"])
def test_a_list_does_not_decide_what_else_lies_in_a_workspace(
    site: Site, place: Place, pdf: MakePdf, name: str
) -> None:
    """A program can look like a PDF: readers want its mark somewhere in the first 1024 bytes."""
    site.serve("/a.pdf", b"# %PDF-1.4\nprint(1)\n" + pdf())
    outcome = place.one(pdf_url=site.url("/a.pdf"), file_name=name)
    assert outcome.status == "failed"
    assert not site.asked
    assert not (place.root / "x.py").exists()


def test_a_link_to_what_is_not_there_stays(site: Site, place: Place, pdf: MakePdf) -> None:
    """Such as one to a disk that is not mounted now."""
    site.serve("/a.pdf", pdf())
    place.write({"doc_id": "a", "pdf_url": site.url("/a.pdf"), "file_name": "mine.pdf"})
    link = place.root / "lists" / "mine.pdf"
    link.symlink_to("elsewhere.pdf")
    (outcome,) = place.fetch().outcomes
    assert outcome.status == "failed"
    assert "a link to what is not there" in str(outcome.message)
    assert link.is_symlink()


@pytest.mark.parametrize("length", [243, 251])
def test_a_name_without_room_for_a_suffix_fails_its_document_alone(
    site: Site, place: Place, pdf: MakePdf, length: int
) -> None:
    site.serve("/a.pdf", pdf())
    url = site.url("/a.pdf")
    rows = [{"doc_id": "a", "pdf_url": url, "file_name": "x" * length + ".pdf"}, {"doc_id": "b", "pdf_url": url}]
    long, other = place.fetch(*rows).outcomes
    assert (long.status, other.status) == ("failed", "recorded")
    assert "file name too long" in str(long.message)


def test_what_cannot_be_read_fails_its_document_alone(
    site: Site, place: Place, pdf: MakePdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.serve("/b.pdf", pdf())

    def refused(path: Path) -> str:
        if path.name == "a.pdf":
            raise PermissionError(13, "Permission denied", str(path))
        return sha256_file(path)

    monkeypatch.setattr(standing, "sha256_file", refused)
    place.folder.mkdir(parents=True)
    place.file.write_bytes(pdf())
    report = place.fetch({"doc_id": "a", "pdf_url": site.url("/b.pdf")}, {"doc_id": "b", "pdf_url": site.url("/b.pdf")})
    assert [outcome.status for outcome in report.outcomes] == ["failed", "recorded"]
    assert "is there, and cannot be read: permission denied" in str(report.outcomes[0].message)
    assert place.file.read_bytes() == pdf()


def test_a_local_file_that_cannot_be_read_leaves_the_other_places(
    site: Site, place: Place, pdf: MakePdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pdf()
    place.settings = 'local_folders = ["one", "two"]'
    for folder in ("one", "two"):
        (place.root / folder).mkdir(parents=True)
        (place.root / folder / "a.pdf").write_bytes(whole)

    def refused(path: Path) -> str:
        if path.parent.name == "one":
            raise PermissionError(13, "Permission denied", str(path))
        return sha256_file(path)

    monkeypatch.setattr(attempt, "sha256_file", refused)
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256_bytes(whole))
    assert (outcome.status, outcome.place) == ("ok", "local folder two")
    place.file.unlink()
    shutil.rmtree(place.root / "two")
    outcome = place.one(pdf_url=site.url("/a.pdf"), sha256=sha256_bytes(whole))
    assert outcome.status == "gone"
    assert "local folder one: a.pdf cannot be read: permission denied" in str(outcome.message)


def test_one_file_spelled_in_two_ways_is_one_file(site: Site, place: Place, pdf: MakePdf) -> None:
    """The second would take the place of the first, which has its digest."""
    good, other = pdf(), pdf(seed="b")
    site.serve("/a.pdf", good)
    site.serve("/b.pdf", other)
    first = {"doc_id": "a", "pdf_url": site.url("/a.pdf"), "sha256": sha256_bytes(good)}
    second = {"doc_id": "b", "pdf_url": site.url("/b.pdf"), "file_name": "../corpora/main/pdf/a.pdf"}
    outcomes = place.fetch(first, second).outcomes
    assert [outcome.status for outcome in outcomes] == ["failed", "failed"]
    assert all("line 1 (a) and line 2 (b) name one file" in str(outcome.message) for outcome in outcomes)


def test_what_another_build_has_put_there_meanwhile_stays(
    site: Site, place: Place, pdf: MakePdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = pdf()
    site.serve("/a.pdf", pdf(seed="b"))
    waiting = Partial.__enter__

    def late(part: Partial) -> Partial:
        place.folder.mkdir(parents=True, exist_ok=True)
        place.file.write_bytes(good)
        return waiting(part)

    monkeypatch.setattr(Partial, "__enter__", late)
    assert place.one(pdf_url=site.url("/a.pdf")).status == "already-there"
    assert place.file.read_bytes() == good
    assert place.left() == ["a.pdf"]


def test_a_file_that_stays_though_it_is_another_document_is_said(site: Site, place: Place, pdf: MakePdf) -> None:
    place.folder.mkdir(parents=True)
    place.file.write_bytes(pdf())
    outcome = place.one(pdf_url=site.url("/gone.pdf"), sha256="0" * 64)
    assert outcome.status == "gone"
    assert "corpora/main/pdf/a.pdf is there, and is not the listed document" in str(outcome.message)
    assert place.file.read_bytes() == pdf()
