"""What an item call shows: the pages of one document where mined forms occur, and the conditions asked about.

A prompt has room for a few pages. Per condition these are its preferred page, and then those with most mentions; of
long pages the blocks with a form come first, and gaps are marked. The text is normalised, a line a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.calls.asking import quoted_material
from nclue_build.compose.quotes import alias_occurs
from nclue_build.core.text import fold, matching_text, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.compose.needs import Need
    from nclue_build.records.corpus import PageRow, Role
    from nclue_build.records.inventory import Alias, Condition

PAGES_PER_CONDITION: Final = 3
PAGE_CHARACTERS: Final = 4000
BLOCK_CHARACTERS: Final = 1500
GAP: Final = "[...]"
_FORMS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A block of a shown page: where it stands, and its readings."""

    page: int
    role: Role
    readings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One condition of an item call.

    Args:
        condition: Index.
        id: In the prompt: c1, c2, ...
        aliases: Of the condition.
        preferred: Page its evidence should stand on, if there is one.
        is_present: Whether the inventory has it in the document.
    """

    condition: int
    id: str
    aliases: tuple[Alias, ...]
    preferred: int | None
    is_present: bool


@dataclass(frozen=True, slots=True)
class ItemCase:
    """An item call before it is asked: its questions, the values of its prompt, and what evidence is looked up in."""

    questions: tuple[Question, ...]
    values: dict[str, str]
    blocks: tuple[ShownBlock, ...]


@dataclass(frozen=True, slots=True)
class ItemTask:
    """A need, with all a worker needs to show it.

    Args:
        need: The need.
        questions: Of all its conditions, in the order of the candidate.
        described: The conditions as the prompt has them.
        pages: Pages to show, ascending.
    """

    need: Need
    questions: tuple[Question, ...]
    described: str
    pages: tuple[int, ...]


def plan_item(need: Need, conditions: Sequence[Condition], pages_of: Mapping[int, Sequence[int]]) -> ItemTask:
    """Decide what an item call shows.

    Args:
        need: The document and its conditions.
        conditions: All, by index.
        pages_of: Pages of P(d, c), those with most mentions first, by condition of the need.
    """
    preferred = dict(zip(need.conditions, need.pages, strict=True))
    order = sorted((*need.conditions, *need.absent))
    questions = tuple(
        Question(index, f"c{number}", conditions[index].aliases, preferred.get(index), index in preferred)
        for number, index in enumerate(order, start=1)
    )
    pages: set[int] = set()
    for index in need.conditions:
        first = [page for page in (preferred[index],) if page is not None]
        pages.update(list(dict.fromkeys((*first, *pages_of[index])))[:PAGES_PER_CONDITION])
    described = "\n".join(_described(question, conditions[question.condition]) for question in questions)
    return ItemTask(need, questions, described, tuple(sorted(pages)))


def _described(question: Question, condition: Condition) -> str:
    forms = "; ".join(alias.form for alias in condition.aliases[:_FORMS_SHOWN])
    lines = [f"{question.id}: {condition.name}", f"   surface forms: {forms}"]
    if condition.rubric is not None:
        lines += [
            f"   requirement: {condition.rubric.requirement}",
            f"   counts: {condition.rubric.counts}",
            f"   does not count: {condition.rubric.does_not_count}",
        ]
    return "\n".join(lines)


def show_items(pages: Iterable[PageRow], tasks: Sequence[ItemTask], allowed_roles: frozenset[Role]) -> list[ItemCase]:
    """Render the item calls of one document.

    Args:
        pages: Its page rows; only the needed ones are looked at.
        tasks: What to show.
        allowed_roles: Roles of the blocks that can establish a condition.
    """
    needed = {page for task in tasks for page in task.pages}
    blocks = {
        row.page: [
            ShownBlock(row.page, block.role, found)
            for block in row.blocks
            if block.role in allowed_roles and any(found := readings(block.text))
        ]
        for row in pages
        if row.page in needed
    }
    texts = {page: _PageText(found) for page, found in blocks.items()}
    nothing = _PageText([])
    cases = []
    for task in tasks:
        aliases = [alias for question in task.questions for alias in question.aliases]
        shown = [(number, texts.get(page, nothing).show(aliases)) for number, page in enumerate(task.pages, start=1)]
        text = "\n".join(f'<page id="p{number}">\n{body}\n</page>' for number, body in shown)
        kept = tuple(block for page in task.pages for block in blocks.get(page, []))
        cases.append(ItemCase(task.questions, {"conditions": task.described, "pages": text}, kept))
    return cases


class _PageText:
    """A page as prompts have it: all of it, or its blocks with a form and what else there is room for."""

    def __init__(self, blocks: Sequence[ShownBlock]) -> None:
        self._blocks = blocks
        sizes = [len(block.readings[0]) for block in blocks]
        # What has room is the same whatever is asked about.
        has_room = sum(sizes) <= PAGE_CHARACTERS and max(sizes, default=0) <= BLOCK_CHARACTERS
        self._whole = "\n".join(quoted_material(block.readings[0]) for block in blocks) if has_room else None

    def show(self, aliases: Sequence[Alias]) -> str:
        """The text for a call about conditions with these aliases."""
        return self._cut_text(aliases) if self._whole is None else self._whole

    def _cut_text(self, aliases: Sequence[Alias]) -> str:
        texts = [_cut(block.readings[0], aliases) for block in self._blocks]
        chosen = set(range(len(texts)))
        if sum(map(len, texts)) > PAGE_CHARACTERS:
            with_form = [index for index, block in enumerate(self._blocks) if _has_form(block, aliases)]
            chosen, size = set(), 0
            for index in (*with_form, *range(len(texts))):
                if index not in chosen and size + len(texts[index]) <= PAGE_CHARACTERS:
                    chosen.add(index)
                    size += len(texts[index])
        lines: list[str] = []
        for index, text in enumerate(texts):
            if index in chosen:
                lines.append(quoted_material(text))
            elif not lines or lines[-1] != GAP:
                lines.append(GAP)
        return "\n".join(lines)


def _has_form(block: ShownBlock, aliases: Sequence[Alias]) -> bool:
    folded = tuple(fold(reading) for reading in block.readings)
    return any(alias_occurs(alias, block.readings, folded) for alias in aliases)


def _cut(text: str, aliases: Sequence[Alias]) -> str:
    """A long block, from a little before its first form on."""
    if len(text) <= BLOCK_CHARACTERS:
        return text
    folded = fold(text)
    places = [folded.find(fold(matching_text(alias.form))) for alias in aliases]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, min(first - BLOCK_CHARACTERS // 3, len(text) - BLOCK_CHARACTERS))
    if start:
        start = text.find(" ", start) + 1
    end = min(len(text), start + BLOCK_CHARACTERS)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + 1)
    return f"{GAP + ' ' if start else ''}{text[start:end]}{' ' + GAP if end < len(text) else ''}"
