"""Typesets the demo corpus: PDFs, ``corpus.jsonl`` and the planted truth.

``python corpora/demo/generate.py [OUT]`` reads ``text/*.md`` and ``concepts.toml`` beside this file and writes
``OUT/pdf/*.pdf``, ``OUT/corpus.jsonl`` and ``OUT/truth.json`` (OUT: this folder). The same sources give the same
bytes. README.md beside this file explains the markup.

The truth comes from the layout, which notes what it places where. Finished PDFs are never searched, so reading them
back is an independent check.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typeset import Placed, SourceError, Typesetter, parse

HERE: Final = Path(__file__).resolve().parent
LICENSE: Final = "AGPL-3.0-or-later; written for this project"

COUNTED: Final = frozenset({"title", "heading", "subheading", "text", "list", "table", "caption", "footnote"})
"""Kinds of blocks that establish a concept; headers, footers, contents and references do not."""


@dataclass(frozen=True)
class Concept:
    """A planted concept and the forms it takes."""

    name: str
    folded: tuple[str, ...]
    exact: tuple[str, ...] = ()

    def occurs_in(self, text: str) -> bool:
        """Whether any form stands in the text, bounded by non-word characters."""
        return any(
            form in content and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", content)
            for forms, content in ((tuple(map(str.lower, self.folded)), text.lower()), (self.exact, text))
            for form in forms
        )


def read_concepts(path: Path) -> list[Concept]:
    """Read ``concepts.toml``."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["concept"]
    return [Concept(row["name"], tuple(row["folded"]), tuple(row.get("exact", ()))) for row in rows]


def truth(concepts: list[Concept], placed: dict[str, list[Placed]]) -> list[dict[str, Any]]:
    """Pages of every concept: ``pages`` where counted blocks name it, ``uncounted`` where only others do.

    Args:
        concepts: The planted concepts.
        placed: What the layout put where, per document.

    Returns:
        The ``concepts`` of ``truth.json``, by name; page numbers are 1-based.
    """
    texts = {doc_id: _page_texts(rows) for doc_id, rows in sorted(placed.items())}
    rows = []
    for concept in sorted(concepts, key=lambda row: row.name):
        pages: dict[str, list[int]] = {}
        uncounted: dict[str, list[int]] = {}
        for doc_id, on_pages in texts.items():
            found = {key for key, text in on_pages.items() if concept.occurs_in(text)}
            if counted := sorted(page for page, ok in found if ok):
                pages[doc_id] = counted
            if other := sorted({page for page, _ in found} - set(counted)):
                uncounted[doc_id] = other
        aliases = [{"form": form, "match": "folded"} for form in concept.folded]
        aliases += [{"form": form, "match": "exact"} for form in concept.exact]
        rows.append({"name": concept.name, "aliases": aliases, "pages": pages, "uncounted": uncounted})
    return rows


def _page_texts(placed: list[Placed]) -> dict[tuple[int, bool], str]:
    """Text by page and whether it counts, one block a line: no form runs from one block into the next."""
    texts: dict[tuple[int, bool], list[str]] = defaultdict(list)
    for row in placed:
        texts[row.page, row.kind in COUNTED].append(row.text)
    return {key: "\n".join(blocks) for key, blocks in texts.items()}


def generate(out: Path) -> None:
    """Write the whole corpus to a folder.

    Raises:
        SourceError: a text source is malformed or does not fit its pages; all of them are named.
    """
    (out / "pdf").mkdir(parents=True, exist_ok=True)
    placed: dict[str, list[Placed]] = {}
    n_pages: dict[str, int] = {}
    rows: list[dict[str, str]] = []
    problems: list[str] = []
    for path in sorted((HERE / "text").glob("*.md")):
        try:
            typesetter = Typesetter(parse(path))
            pdf = typesetter.document()
        except SourceError as error:
            problems.append(str(error))
            continue
        file_name = f"pdf/{path.stem}.pdf"
        pdf.save(out / file_name, garbage=4, deflate=True, deflate_fonts=True, no_new_id=True)
        placed[path.stem], n_pages[path.stem] = typesetter.placed, len(pdf)
        meta = typesetter.source.meta
        row = {"doc_id": path.stem, "source": meta["source"], "title": meta["title"], "file_name": file_name}
        rows.append({**row, "language": meta.get("language", "en"), "license": LICENSE})
    if problems:
        raise SourceError("\n".join(problems))
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (out / "corpus.jsonl").write_text(lines, encoding="utf-8", newline="\n")
    found = truth(read_concepts(HERE / "concepts.toml"), placed)
    concepts = ",\n".join(json.dumps(row, ensure_ascii=False) for row in found)  # one a line, for a readable diff
    text = f'{{"schema": 1,\n"documents": {json.dumps(n_pages)},\n"concepts": [\n{concepts}\n]}}\n'
    (out / "truth.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    try:
        generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
    except SourceError as error:
        sys.exit(str(error))
