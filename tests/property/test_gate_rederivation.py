"""The two paths behind the gate agree: fast and slow, on page sets and on texts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.text import fold, matching_text, readings
from nclue_build.gate.explain import judge_pages, judge_presence
from nclue_build.records.corpus import Block
from nclue_build.records.inventory import Alias, Condition, Verdict
from nclue_build.rederive.matching import judge_query
from nclue_build.rederive.windows import FormTable, is_matchable, scan_page

PAGE_SETS = st.integers(2, 8).flatmap(
    lambda n: st.lists(st.frozensets(st.integers(1, 9), max_size=4).map(sorted), min_size=n, max_size=n)
)
IDS = [f"c{number}" for number in range(8)]


@given(PAGE_SETS)
def test_both_paths_judge_page_sets_alike(sets: list[list[int]]) -> None:
    ids = IDS[: len(sets)]
    evidence = {key: {"d": tuple(pages)} if pages else {} for key, pages in zip(ids, sets, strict=True)}
    slow = judge_query(ids, evidence, "page").get("d")
    fast = judge_pages([tuple(pages) for pages in sets])
    if slow is None:
        assert fast.clue_count == 0
        return
    assert (slow.clue_count, slow.gate, slow.gold, slow.grade) == (
        fast.clue_count,
        fast.outcome.label,
        fast.gold,
        fast.grade,
    )
    assert (slow.witness, slow.shared_pages) == (fast.witness, fast.shared_pages)
    violator = fast.violator and (tuple(ids[index] for index in fast.violator.conditions), fast.violator.pages)
    assert slow.violator == violator


@given(st.lists(st.booleans(), min_size=2, max_size=8))
def test_both_paths_judge_documents_without_pages_alike(present: list[bool]) -> None:
    ids = IDS[: len(present)]
    evidence = {key: {"d": ()} if there else {} for key, there in zip(ids, present, strict=True)}
    slow = judge_query(ids, evidence, "document").get("d")
    fast = judge_presence(present)
    assert (slow is None) == (fast.clue_count == 0)
    if slow is not None:
        assert (slow.clue_count, slow.gate, slow.gold, slow.grade) == (
            fast.clue_count,
            fast.outcome.label,
            fast.gold,
            fast.grade,
        )


LETTERS = ["a", "b", "ab", "A", "AB", "a\u00df", "\u0130", "\u00e9", "e\u0301", "_", "1", "\ufb01", "\u00b2"]
BETWEEN = [" ", "  ", "-", "-\n", "\u00ad\n", "\n", ".", "\u2019", "(", ",", "+"]
PIECES = st.sampled_from(LETTERS + BETWEEN)
TEXT = st.lists(PIECES, max_size=25).map("".join)
FORM = st.lists(PIECES, min_size=1, max_size=5).map(lambda pieces: matching_text("".join(pieces)))


@st.composite
def conditions(draw: st.DrawFn) -> list[Condition]:
    found = []
    for number in range(draw(st.integers(1, 3))):
        aliases = tuple(
            alias
            for form in draw(st.lists(FORM.filter(bool), min_size=1, max_size=3))
            if is_matchable(
                alias := Alias(
                    form=form,
                    match=draw(st.sampled_from(["exact", "folded"])),
                    document_frequency=0,
                    page_frequency=0,
                )
            )
        )
        if aliases:
            verdict = Verdict(judge="test", reason="test")
            found.append(
                Condition(
                    condition_id=f"c{number}",
                    name="n",
                    aliases=aliases,
                    document_frequency=0,
                    page_frequency=0,
                    verdict=verdict,
                )
            )
    return found


def regex_starts(alias: Alias, reading: str) -> set[int]:
    """One regular expression per alias; a look-ahead finds overlapping occurrences too."""
    text = reading if alias.match == "exact" else fold(reading)
    form = alias.form if alias.match == "exact" else fold(alias.form)
    return {match.start() for match in re.finditer(rf"(?<!\w)(?={re.escape(form)}(?!\w))", text)}


@given(conditions(), st.lists(st.tuples(st.sampled_from(["title", "text", "header"]), TEXT), max_size=4))
def test_windows_find_what_one_regular_expression_per_alias_finds(
    found: list[Condition], texts: list[tuple[str, str]]
) -> None:
    blocks = [Block.model_validate({"role": role, "text": text}) for role, text in texts]
    by_condition, aliases = scan_page(blocks, frozenset({"title", "text"}), FormTable(found))
    allowed = [block for block in blocks if block.role != "header"]
    for position, condition in enumerate(found):
        counts = [
            max(
                len(set().union(*(regex_starts(alias, reading) for alias in condition.aliases)))
                for reading in readings(block.text)
            )
            for block in allowed
        ]
        heading = any(count and block.role == "title" for count, block in zip(counts, allowed, strict=True))
        evidence = by_condition.get(position)
        assert (evidence.mentions if evidence else 0) == sum(counts)
        assert (evidence.in_heading if evidence else False) == heading
        for number, alias in enumerate(condition.aliases):
            occurs = any(regex_starts(alias, reading) for block in allowed for reading in readings(block.text))
            assert ((position, number) in aliases) == occurs
