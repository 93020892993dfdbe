"""The miner ``llm``: a call per page names the concepts it says something about; their forms become candidates.

A fact counts when its passage stands in one block of the page and holds its form. Which of the forms are shared by
enough documents, and where they occur, is counted as for the miner ``lexical``: a model proposes, pages decide.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.calls.asking import make_request, quoted_material
from nclue_build.calls.replies import PageFactsReply
from nclue_build.calls.session import Ask
from nclue_build.core.text import fold, matching_text, occurs, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.calls.replies import FactReply
    from nclue_build.calls.session import Calls
    from nclue_build.records.corpus import PageRow
    from nclue_build.store.prompts import Prompt

MIN_CHARACTERS: Final = 200
"""A page with less text says nothing about a subject, and is not asked about."""
PAGE_CHARACTERS: Final = 6000
MAX_FORM_WORDS: Final = 5


class PageShown(NamedTuple):
    """A page that is asked about: its text, and the readings of its blocks."""

    page: int
    text: str
    blocks: tuple[tuple[str, ...], ...]


def show_pages(pages: Iterable[PageRow], allowed_roles: frozenset[str]) -> list[PageShown]:
    """The pages of a document that have something to say, cut to what a prompt has room for."""
    shown = []
    for page in pages:
        blocks = tuple(
            found for block in page.blocks if block.role in allowed_roles and any(found := readings(block.text))
        )
        lines: list[str] = []
        size = 0
        for found in blocks:
            if size + len(found[0]) > PAGE_CHARACTERS:
                lines.append("[...]")
                break
            lines.append(quoted_material(found[0]))
            size += len(found[0])
        if size >= MIN_CHARACTERS:
            text = "\n".join(lines)
            shown.append(PageShown(page.page, f'<page id="p1">\n{text}\n</page>', blocks))
    return shown


@dataclass(slots=True)
class MinedForms:
    """What the pages were said to be about.

    Args:
        forms: Folded forms of the facts that count.
        pages: Pages asked about.
        facts: Facts that count.
        dropped: The other facts and the pages without a reply, by reason.
    """

    forms: set[str] = field(default_factory=set)
    pages: int = 0
    facts: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def mine_pages(calls: Calls, prompt: Prompt, documents: Sequence[tuple[str, Sequence[PageShown]]]) -> MinedForms:
    """Ask about every page.

    Args:
        calls: Where replies come from.
        prompt: The page-fact prompt.
        documents: Ids with their pages.

    Raises:
        FrozenMiss: with all calls that have no recorded reply.
    """
    pages = [(doc_id, page) for doc_id, shown in documents for page in shown]
    asks = [
        Ask(f"{doc_id} page {page.page}", make_request(prompt, {"page": page.text}, calls.config))
        for doc_id, page in pages
    ]
    mined = MinedForms(pages=len(pages))
    for (_, page), outcome in zip(pages, calls.ask(asks, PageFactsReply), strict=True):
        if outcome is None or outcome.reply is None:
            mined.dropped["pages_without_reply"] += 1
            continue
        for fact in outcome.reply.facts:
            problem = fact_problem(fact, page.blocks)
            if problem is None:
                mined.facts += 1
                mined.forms.add(fold(matching_text(fact.form)))
            else:
                mined.dropped[problem] += 1
    return mined


def fact_problem(fact: FactReply, blocks: Sequence[Sequence[str]]) -> str | None:
    """Why a fact does not count, or None."""
    form = fold(matching_text(fact.form))
    if not form or form.count(" ") >= MAX_FORM_WORDS:
        return "facts_with_a_long_form"
    pieces = [piece for piece in readings(fact.span) if piece]
    if not any(piece in reading for piece in pieces for block in blocks for reading in block):
        return "facts_not_on_page"
    if not any(occurs(form, fold(piece)) for piece in pieces):
        return "facts_without_form"
    return None
