"""Recognising pages whose text is known: pages of the demonstration corpus, drawn, scanned in, and recognised.

python benches/bench_ocr.py [PAGES]
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
from pathlib import Path
from typing import Any

from nclue_build.core.text import matching_text
from nclue_build.corpus.stage import Extract
from nclue_build.corpus.words import words_of

REPOSITORY = Path(__file__).parent.parent
SCAN_DPI = 200
Rows = dict[int, dict[str, Any]]


def draw(n_pages: int, folder: Path) -> None:
    """Pages of the corpus, evenly spread: as they are in ``text.pdf``, as pictures in ``scan.pdf``."""
    pymupdf: Any = importlib.import_module("pymupdf")
    text, scan = pymupdf.open(), pymupdf.open()
    sources = [pymupdf.open(path) for path in sorted((REPOSITORY / "corpora" / "demo").rglob("*.pdf"))]
    pages = [(source, number) for source in sources for number in range(len(source))]
    for source, number in pages[:: max(len(pages) // n_pages, 1)][:n_pages]:
        text.insert_pdf(source, from_page=number, to_page=number)
        page = source[number]
        scan.new_page(width=page.rect.width, height=page.rect.height).insert_image(
            page.rect, pixmap=page.get_pixmap(dpi=SCAN_DPI)
        )
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


def words(row: dict[str, Any], *, titles: bool = False) -> Counter[str]:
    """The words of a page, or of its headings."""
    blocks = [block["text"] for block in row["blocks"] if not titles or block["role"] == "title"]
    return Counter(words_of(matching_text("\n".join(blocks))))


def main() -> None:
    """Print how much of the text is found again."""
    n_pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as name:
        draw(n_pages, Path(name))
        *_, idle = extract(Path(name), "none")
        began = time.monotonic()
        text, scan, busy = extract(Path(name), "missing")
        seconds = time.monotonic() - began
    for what, titles in (("words", False), ("words of headings", True)):
        there = [words(row, titles=titles) for row in text.values()]
        found = [words(scan[page], titles=titles) for page in text]
        both = sum((a & b).total() for a, b in zip(there, found, strict=True))
        n_there, n_found = sum(one.total() for one in there), sum(one.total() for one in found)
        print(f"{what}: recall {both / n_there:.2%} of {n_there}, precision {both / n_found:.2%} of {n_found}")
    print(
        f"{len(text)} pages in {seconds:.0f} s; {(busy - idle) / len(scan):.1f} s of processors for a page recognised"
    )


if __name__ == "__main__":
    main()
