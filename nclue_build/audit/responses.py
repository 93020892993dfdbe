"""Responses against the packet they answer: nothing an evaluator's program did is trusted."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from nclue_build.core.findings import Findings, shown
from nclue_build.inventory.page_text import MIN_WORDS, is_short, quote_stands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.records.audit import Answer, Packet, Response


def check_response(
    response: Response, packet: Packet, page_text: Callable[[str, int], Sequence[str]], path: str, found: Findings
) -> None:
    """Check that every condition is answered once, from pages of its pool, with verbatim quotes.

    Args:
        response: Of one evaluator.
        packet: What was asked.
        page_text: Gives the readings of a page of an item's document.
        path: Of the response, as shown.
        found: Takes what is wrong.
    """
    asked = {(item.item_id, one.condition_id): one for item in packet.items for one in item.conditions}
    seen: set[tuple[str, str]] = set()
    for answer in response.answers:
        key = (answer.item_id, answer.condition_id)
        problems = [] if key in asked else ["was not asked"]
        if key in seen:
            problems.append("is answered twice")
        seen.add(key)
        if key in asked:
            problems += problems_of(answer, asked[key].pages, partial(page_text, answer.item_id))
        for problem in problems:
            found.add(
                "bad-response", f"{answer.item_id}, {answer.condition_id}: {problem}", path=path, id=answer.item_id
            )
    for item_id, condition_id in sorted(asked.keys() - seen):
        found.add("bad-response", f"{item_id}, {condition_id}: is not answered", path=path, id=item_id)
    said = Counter(row.item_id for row in response.clarity)
    for item in packet.items if said else ():
        if said.pop(item.item_id, 0) != 1:
            message = f"{item.item_id}: say once whether its query is clear, or of no item"
            found.add("bad-response", message, path=path, id=item.item_id)
    for item_id in sorted(said):
        found.add("bad-response", f"{item_id}: was not asked (clarity)", path=path, id=item_id)


def problems_of(answer: Answer, pool: Sequence[int], text: Callable[[int], Sequence[str]]) -> list[str]:
    """What is wrong with an answer.

    Args:
        answer: It.
        pool: Pages that were shown.
        text: Gives the readings of a page.
    """
    found: list[str] = []
    if outside := sorted(set(answer.pages) - set(pool)):
        found.append(f"page {outside[0]} is not in its pool")
    if not answer.present:
        return [*found, "a no has neither pages nor quotes"] if answer.pages or answer.quotes else found
    if not answer.pages:
        found.append("a yes needs a page")
    if {quote.page for quote in answer.quotes} != set(answer.pages):
        found.append("every selected page needs a quote, and every quote a selected page")
    for quote in answer.quotes:
        if is_short(quote.quote):
            found.append(f"a quote of fewer than {MIN_WORDS} words says nothing: {shown(repr(quote.quote))}")
        if quote.page in pool and not quote_stands(quote.quote, text(quote.page)):
            found.append(f"not on page {quote.page}: {shown(repr(quote.quote))}")
    return found


def collapse(responses: Sequence[Response]) -> tuple[list[Response], list[str]]:
    """Keep one of several identical streams: the same answers, pages and quotes throughout are one opinion.

    Streams of nothing but no have neither pages nor quotes that could show a copy: they are all kept.

    Returns:
        Those kept, by evaluator; and the evaluators left out.
    """
    seen: set[tuple[Answer, ...]] = set()
    kept: list[Response] = []
    left_out: list[str] = []
    for response in sorted(responses, key=lambda one: one.evaluator):
        stream = tuple(sorted(response.answers, key=lambda one: (one.item_id, one.condition_id)))
        if stream in seen and any(answer.present for answer in stream):
            left_out.append(response.evaluator)
        else:
            seen.add(stream)
            kept.append(response)
    return kept, left_out
