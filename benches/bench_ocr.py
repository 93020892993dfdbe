"""Recognising pages whose text is known: pages of the demonstration corpus, drawn, scanned in, and recognised.

python benches/bench_ocr.py [PAGES [DEGREES]]

DEGREES is how far the scans lie askew.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from nclue_build.core.text import matching_text
from nclue_build.corpus.stage import Extract
from nclue_build.corpus.words import words_of

REPOSITORY = Path(__file__).parent.parent
SCAN_DPI = 200
Rows = dict[int, dict[str, Any]]


def draw(n_pages: int, degrees: float, folder: Path) -> None:
    """Pages of the corpus, evenly spread: as they are in ``text.pdf``, as pictures, turned, in ``scan.pdf``."""
    pymupdf: Any = importlib.import_module("pymupdf")
    text, scan = pymupdf.open(), pymupdf.open()
    sources = [pymupdf.open(path) for path in sorted((REPOSITORY / "corpora" / "demo").rglob("*.pdf"))]
    pages = [(source, number) for source in sources for number in range(len(source))]
    for source, number in pages[:: max(len(pages) // n_pages, 1)][:n_pages]:
        text.insert_pdf(source, from_page=number, to_page=number)
        zoom = SCAN_DPI / 72
        picture = source[number].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom).prerotate(degrees))
        page = scan.new_page(width=picture.width / zoom, height=picture.height / zoom)
        page.insert_image(page.rect, pixmap=picture)
    for name, document in (("text", text), ("scan", scan)):
        (folder / "pdfs").mkdir(exist_ok=True)
        document.save(str(folder / "pdfs" / f"{name}.pdf"), deflate=True)


def extract(folder: Path, ocr: str) -> tuple[Rows, Rows, float]:
    """Page rows of both documents, through the command line as a user has it, and seconds of processors."""
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "workspace.toml").write_text("schema = 1\n")
    (folder / "configs" / "main.toml").write_text(
        f'schema = 1\n[corpus]\npdfs = "pdfs"\n[extract]\nocr = "{ocr}"\nduplicates = "keep"\n'
    )
    command = [sys.executable, "-m", "nclue_build", "-w", str(folder), "-q", Extract.name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = {}
    for path in (folder / "inventory" / "main" / "pages").iterdir():
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        found[path.name.split("_")[0]] = {row["page"]: row for row in rows}
    return found["text"], found["scan"], busy


def words(row: dict[str, Any]) -> Counter[Any]:
    """The words of a page."""
    return Counter(words_of(matching_text("\n".join(block["text"] for block in row["blocks"]))))


def neighbours(row: dict[str, Any]) -> Counter[Any]:
    """Words of a page and the word behind each, as they are read: what is read across columns has others."""
    return Counter(pairwise(words_of(matching_text("\n".join(block["text"] for block in row["blocks"])))))


def heading_words(row: dict[str, Any]) -> Counter[Any]:
    """The words of a page's headings."""
    titles = [block["text"] for block in row["blocks"] if block["role"] == "title"]
    return Counter(words_of(matching_text("\n".join(titles))))


def main() -> None:
    """Print how much of the text is found again."""
    n_pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    degrees = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0  # noqa: PLR2004 - the second argument
    with tempfile.TemporaryDirectory() as name:
        draw(n_pages, degrees, Path(name))
        *_, idle = extract(Path(name), "none")
        began = time.monotonic()
        text, scan, busy = extract(Path(name), "missing")
        seconds = time.monotonic() - began
    for what, counted in (("words", words), ("neighbours", neighbours), ("words of headings", heading_words)):
        there = [counted(row) for row in text.values()]
        found = [counted(scan[page]) for page in text]
        both = sum((a & b).total() for a, b in zip(there, found, strict=True))
        n_there, n_found = sum(one.total() for one in there), sum(one.total() for one in found)
        print(f"{what}: recall {both / n_there:.2%} of {n_there}, precision {both / n_found:.2%} of {n_found}")
    print(
        f"{len(text)} pages in {seconds:.0f} s; {(busy - idle) / len(scan):.1f} s of processors for a page recognised"
    )


if __name__ == "__main__":
    main()
