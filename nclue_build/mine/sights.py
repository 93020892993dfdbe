"""How surface forms stand in documents: what a language model, which sees no corpus, is shown of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.text import readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.mine.occurrences import Matcher
    from nclue_build.records.corpus import PageRow

CONTEXT_CHARACTERS: Final = 160
"""Shown before and after a form."""
CONTEXTS: Final = 5
"""Shown of a cluster, each from a document of its own."""
_RUNNING: Final = frozenset({"text", "list"})


class DocumentSight(NamedTuple):
    """A form in one document: its pages, and the first place in running text, else the first one."""

    owner: int
    pages: tuple[int, ...]
    context: str
    is_running: bool


def see_document(pages: Iterable[PageRow], allowed_roles: frozenset[str], matcher: Matcher) -> list[DocumentSight]:
    """Look for forms in a document; ``owner`` of a pattern is the form it is a spelling of."""
    owners = [pattern.owner for pattern in matcher.patterns]
    seen_on: dict[int, set[int]] = {}
    first: dict[int, tuple[str, bool]] = {}
    for page in pages:
        for block in page.blocks:
            if block.role not in allowed_roles:
                continue
            running = block.role in _RUNNING
            for reading in readings(block.text):
                for pattern, start, end in matcher.find(reading):
                    owner = owners[pattern]
                    seen_on.setdefault(owner, set()).add(page.page)
                    known = first.get(owner)
                    if known is None or (running and not known[1]):
                        first[owner] = (_context(reading, start, end), running)
    return [DocumentSight(owner, tuple(sorted(seen_on[owner])), *first[owner]) for owner in sorted(seen_on)]


def _context(reading: str, start: int, end: int) -> str:
    """A piece of a text around a place, cut at spaces."""
    begin, stop = max(0, start - CONTEXT_CHARACTERS), min(len(reading), end + CONTEXT_CHARACTERS)
    if begin:
        space = reading.find(" ", begin, start)
        begin = space + 1 if space >= 0 else start
    if stop < len(reading):
        space = reading.rfind(" ", end, stop)
        stop = space if space >= 0 else end
    return f"{'... ' if begin else ''}{reading[begin:stop]}{' ...' if stop < len(reading) else ''}"


@dataclass(frozen=True, slots=True)
class FormSight:
    """A form in the corpus.

    Args:
        form: The form.
        n_documents: Documents it stands in.
        n_pages: Pages it stands on.
        contexts: (document index, context), running text first, then by document.
    """

    form: str
    n_documents: int
    n_pages: int
    contexts: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ClusterSight:
    """A cluster in the corpus: its forms, the most frequent one first, and its documents and pages."""

    forms: tuple[FormSight, ...]
    n_documents: int
    n_pages: int

    def contexts(self, limit: int) -> list[tuple[str, str]]:
        """(form, context), forms in turn, each context from a document of its own."""
        used: set[int] = set()
        found: list[tuple[str, str]] = []
        rounds = max((len(form.contexts) for form in self.forms), default=0)
        for _ in range(rounds):
            for form in self.forms:
                free = [row for row in form.contexts if row[0] not in used]
                if free and len(found) < limit:
                    # From the middle of what is free: ids of one source stand together.
                    document, context = free[len(free) // 2]
                    used.add(document)
                    found.append((form.form, context))
        return found


def cluster_sight(forms: Sequence[str], sights: Sequence[Sequence[tuple[int, DocumentSight]]]) -> ClusterSight:
    """Put what was seen of the forms of a cluster together.

    Args:
        forms: Of the cluster.
        sights: Per form: (document index, what was seen there), by document.
    """
    rows = [
        FormSight(
            form=form,
            n_documents=len(found),
            n_pages=sum(len(sight.pages) for _, sight in found),
            contexts=tuple(
                (document, sight.context)
                for document, sight in sorted(found, key=lambda row: (not row[1].is_running, row[0]))
            ),
        )
        for form, found in zip(forms, sights, strict=True)
    ]
    pages = {(document, page) for found in sights for document, sight in found for page in sight.pages}
    return ClusterSight(
        forms=tuple(sorted(rows, key=lambda row: (-row.n_documents, -row.n_pages, row.form))),
        n_documents=len({document for document, _ in pages}),
        n_pages=len(pages),
    )
