"""Reading sheets of a build: drawn, written, and read back when somebody has filled them in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file, sha256_json
from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.core.progress import NullProgress
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.inventory.files import read_version
from nclue_build.reading.context import show_place
from nclue_build.reading.page import render_page
from nclue_build.reading.sample import Drawn, Material, Sizes, draw
from nclue_build.reading.verdicts import count_shares
from nclue_build.records.benchmark import Qrel, Query
from nclue_build.records.inventory import Cluster
from nclue_build.records.reading import SheetItem, SheetPlace
from nclue_build.store.atomic import write_text
from nclue_build.store.jsonl import read_jsonl, read_numbered, run_first, write_jsonl
from nclue_build.store.layout import CLUSTERS, CONDITIONS, EVIDENCE, QRELS, QUERIES
from nclue_build.store.pages import read_pages
from nclue_build.store.workspace import find_build

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.reading.sample import Place
    from nclue_build.reading.verdicts import StratumShares
    from nclue_build.records.corpus import Role
    from nclue_build.records.inventory import Condition
    from nclue_build.store.workspace import Build, Workspace

SHEET: Final = "sheet.jsonl"
PAGE: Final = "sheet.md"
_IGNORE_ALL: Final = "# Text of the documents: local, never committed and never part of a release.\n*\n"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet that was written.

    Args:
        build: The build.
        folder: Where it lies.
        items: What it holds.
    """

    build: Build
    folder: Path
    items: tuple[SheetItem, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the readers of a sheet said.

    Args:
        build: The build.
        seed: Of the sheet.
        build_sha256: Digest of the build.
        readers: Everybody who gave a verdict, sorted.
        shares: Per kind and stratum.
        written: The copy without page text, where one was asked for.
    """

    build: Build
    seed: int
    build_sha256: str
    readers: tuple[str, ...]
    shares: tuple[StratumShares, ...]
    written: Path | None


def build_digest(build: Build) -> str:
    """Digest over what a sheet is drawn from: clusters, P0, queries and judgments.

    Raises:
        UsageError: the build is not whole.
    """
    files = {
        f"inventory/{CLUSTERS}": build.inventory / CLUSTERS,
        f"P0/{CONDITIONS}": build.version(0) / CONDITIONS,
        f"P0/{EVIDENCE}": build.version(0) / EVIDENCE,
        QUERIES: build.benchmark / QUERIES,
        QRELS: build.benchmark / QRELS,
    }
    for path in files.values():
        if not path.is_file():
            raise UsageError(f"there is no {build.relative(path)} to read: run 'nclue-build run' first")
    return sha256_json({name: sha256_file(path) for name, path in files.items()})


def draw_sheet(
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    seed: int = 11,
    sizes: Sizes | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Sheet:
    """Draw a sample of a build and write it beside the text it is to be read against.

    It lies in ``reading/<build>/seed-<seed>``: ``sheet.md`` to read, ``sheet.jsonl`` to write verdicts into. The folder
    tells git to ignore all of it.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        seed: Of the draw.
        sizes: Items of each kind.
        fresh: Draw again although there is a sheet with verdicts.
        progress: Listener for progress.

    Raises:
        UsageError: the build is not whole, or the sheet there has verdicts already.
        DataError: a file of the build is missing or broken.
    """
    chosen = find_build(workspace, build)
    listener = progress or NullProgress()
    folder = chosen.workspace.root / "reading" / chosen.name / f"seed-{seed}"
    with chosen.workspace.relative_paths():
        if (
            not fresh
            and (folder / SHEET).exists()
            and any(row.verdict for row in read_jsonl(folder / SHEET, SheetItem))
        ):
            raise UsageError(
                f"{chosen.relative(folder / SHEET)} has verdicts already: take another --seed, "
                "or draw it anew with --fresh, which loses them"
            )
        digest = build_digest(chosen)
        stored = read_version(chosen.version(0), [row.doc_id for row in benchmark_documents(chosen.quality)])
        ordered = sorted(stored.conditions, key=lambda row: row.condition_id)
        material = Material(
            conditions=ordered,
            inventory=stored.inventory,
            clusters=list(read_jsonl(chosen.inventory / CLUSTERS, Cluster, advice=run_first("mine"))),
            queries=list(read_jsonl(chosen.benchmark / QUERIES, Query, advice=run_first("compose"))),
            golds={
                (row.query_id, row.doc_id): row
                for row in read_jsonl(chosen.benchmark / QRELS, Qrel, advice=run_first("compose"))
                if row.gold
            },
        )
        drawn = draw(material, sizes or Sizes(), seed)
        listener.note("reading the pages of the sheet")
        shown = _show(
            chosen, drawn, {row.condition_id: row for row in ordered}, frozenset(stored.version.allowed_roles)
        )
        items = tuple(_item(row, seed, digest, shown) for row in drawn)
        write_text(folder / ".gitignore", _IGNORE_ALL)
        write_text(folder / PAGE, "\n".join(render_page(items)) + "\n")
        write_jsonl(folder / SHEET, items)
    return Sheet(chosen, folder, items)


def _show(
    build: Build, drawn: list[Drawn], conditions: dict[str, Condition], roles: frozenset[Role]
) -> dict[Place, SheetPlace]:
    """Every place with its text, each document read once."""
    wanted: dict[str, dict[int, list[Place]]] = {}
    for place in {place for row in drawn for place in row.places}:
        wanted.setdefault(place.document, {}).setdefault(place.page, []).append(place)
    shown = {}
    for document in sorted(wanted):
        for page in read_pages(build.page_file(document)):
            for place in wanted[document].get(page.page, ()):
                aliases = conditions[place.condition].aliases
                shown[place] = show_place(page, place.condition, aliases, roles, document)
    return shown


def _item(row: Drawn, seed: int, digest: str, shown: dict[Place, SheetPlace]) -> SheetItem:
    return SheetItem(
        item_id=f"{row.kind}/{row.key}",
        kind=row.kind,
        stratum=row.stratum,
        population=row.population,
        build_sha256=digest,
        seed=seed,
        name=row.name,
        forms=row.forms,
        places=tuple(shown[place] for place in row.places if place in shown),
    )


def read_verdicts(
    file: Path, workspace: Workspace | Path | None = None, build: str | None = None, *, without_text: Path | None = None
) -> Reading:
    """Read a sheet back, check that it belongs to the build, and count the verdicts.

    Args:
        file: A ``sheet.jsonl``, filled in; with or without the page text.
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        without_text: Also write the rows there, without the text of the pages: that may be published.

    Raises:
        UsageError: no such workspace or build, or the file holds no items.
        DataError: bad rows, an item twice, or a sheet of another build.
    """
    chosen = find_build(workspace, build)
    digest = build_digest(chosen)
    found = Findings()
    items: dict[str, SheetItem] = {}
    seeds = set()
    for line, item in read_numbered(file, SheetItem, found=found, by_hand=True):
        if item.item_id in items:
            found.add("duplicate-id", "the item stands twice", path=str(file), line=line, id=item.item_id)
        items[item.item_id] = item
        seeds.add(item.seed)
        if item.build_sha256 != digest:
            raise DataError.from_findings(
                [
                    Finding(
                        "digest-differs",
                        f"the sheet was drawn from another state of the build ({item.build_sha256[:12]}, "
                        f"this is {digest[:12]}): draw a new one with 'nclue-build report sheet'",
                        str(file),
                        line,
                        item.item_id,
                    )
                ]
            )
    found.raise_any()
    if not items:
        raise UsageError(f"{file} holds no items: name a sheet.jsonl that 'nclue-build report sheet' wrote")
    if without_text is not None:
        write_jsonl(without_text, map(_without_text, items.values()))
    return Reading(
        chosen,
        min(seeds),
        digest,
        tuple(sorted({item.reader for item in items.values() if item.reader})),
        tuple(count_shares(items.values())),
        without_text,
    )


def _without_text(item: SheetItem) -> SheetItem:
    places = tuple(place.model_copy(update={"text": None}) for place in item.places)
    return item.model_copy(update={"places": places})
