from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.mine.candidates import Vocabulary
from nclue_build.mine.conditions import Kept, Limits, assemble, build_patterns
from nclue_build.mine.judge import ClusterCase, ClusterVerdict
from nclue_build.mine.occurrences import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.corpus import PageRow

ROLES = frozenset({"text", "title"})
NO_SPELLINGS = Vocabulary({}, np.zeros(1, dtype=np.uint32), {}, {})
LIMITS = Limits(min_documents=2, max_documents=3, min_strong_permille=300, max_conditions=10)


def kept(name: str, *aliases: str, name_case: bool = False) -> Kept:
    case = ClusterCase(
        cluster_id=f"{name.replace(' ', '-')}_x",
        name=name,
        aliases=aliases or (name,),
        classes=tuple(2 for _ in name.split()),
        defined_acronym=False,
        ambiguous_acronym=False,
        mentions=10,
        name_mentions=10,
        documents=2,
        heading_documents=0,
        nested=0,
        template_documents=0,
        front_documents=0,
        labels=0,
        verb_contexts=0,
        inside_sentence=10,
        capitalised_inside=9 if name_case else 0,
        all_capitals=0,
        ends_before_capital=0,
        starts_after_capital=0,
        heading_mentions=0,
        numbered=0,
        after_place=0,
        code=0,
        left_fixed=0,
        right_fixed=0,
        in_document_names=0,
    )
    return Kept(case, ClusterVerdict("KEEP", "no_rule_against", "rules"), 1000)


@pytest.fixture
def pages(make_page_row: Callable[..., PageRow]) -> Callable[..., list[PageRow]]:
    """Pages of one text block each."""

    def make(*texts: str) -> list[PageRow]:
        return [make_page_row(("text", text), page=number) for number, text in enumerate(texts, start=1)]

    return make


def mine(items: list[Kept], documents: list[list[PageRow]]) -> tuple[dict[str, tuple[int, ...] | None], dict[str, str]]:
    patterns = build_patterns(items, NO_SPELLINGS)
    occurrences = [Matcher(patterns).scan(document, ROLES) for document in documents]
    ids = [f"d{index}" for index in range(len(documents))]
    found, inventory, dropped = assemble(items, patterns, occurrences, ids, LIMITS)
    rows = {f"{row.condition_id.rsplit('_', 1)[0]}@{row.doc_id}": row.pages for row in inventory.rows()}
    assert {row.condition_id for row in found} == set(inventory.condition_ids)
    return rows, {row.id: row.reason for row in dropped}


def test_variants_and_acronyms_count_and_pages_are_exact(pages: Callable[..., list[PageRow]]) -> None:
    rows, dropped = mine(
        [kept("health center", "health center", "FQHC")],
        [
            pages("Health centers, health center and FQHCs", "nothing", "the health-center"),
            pages("no fqhc, but one health centre"),
        ],
    )
    assert rows == {"health-center@d0": (1, 3), "health-center@d1": (1,)}
    assert dropped == {}


def test_a_capital_that_carries_the_meaning_is_matched_with_it(pages: Callable[..., list[PageRow]]) -> None:
    rows, _ = mine(
        [kept("treasury", name_case=True)],
        [pages("Treasury and Treasury and TREASURY"), pages("Treasury", "a treasury of songs")],
    )
    assert rows == {"treasury@d0": (1,), "treasury@d1": (1,)}


def test_what_leaves_the_window_or_is_seldom_strong_is_dropped_with_its_reason(
    pages: Callable[..., list[PageRow]],
) -> None:
    once = pages("rare thing; common thing; weak thing")
    _, dropped = mine(
        [kept("rare thing"), kept("common thing"), kept("weak thing")],
        [once, pages("common thing, weak thing"), pages("common thing"), pages("common thing")],
    )
    assert dropped == {
        "rare-thing_x": "too_few_documents",
        "common-thing_x": "too_many_documents",
        "weak-thing_x": "seldom_strong",
    }


def test_an_alias_belongs_to_one_condition_only() -> None:
    patterns = build_patterns([kept("flood map", "flood map"), kept("flood maps", "flood maps")], NO_SPELLINGS)
    keys = [(pattern.form, pattern.match) for pattern in patterns]
    assert len(keys) == len(set(keys))


def test_spellings_that_only_differ_in_case_are_one_alias() -> None:
    patterns = build_patterns([kept("Javascript", "Javascript", "javascript")], NO_SPELLINGS)
    assert [(one.form, one.match) for one in patterns] == [("javascript", "folded"), ("javascripts", "folded")]


def test_misread_words_are_looked_for_one_at_a_time_in_every_spelling() -> None:
    spellings = Vocabulary(
        {}, np.zeros(1, dtype=np.uint32), {}, {"groundwater": ("groundwatcr",), "levels": ("levcls",)}
    )
    forms = {one.form for one in build_patterns([kept("groundwater level", "groundwater level")], spellings)}
    assert {"groundwatcr level", "groundwatcr levels", "groundwater levcls", "groundwater level"} <= forms
    assert "groundwatcr levcls" not in forms
