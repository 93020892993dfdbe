from __future__ import annotations

from dataclasses import replace

import pytest

from nclue_build.mine import words
from nclue_build.mine.judge import RULE_NAMES, ClusterCase, RulesJudge

GOOD = ClusterCase(
    cluster_id="groundwater-monitoring_00000000",
    name="groundwater monitoring",
    aliases=("groundwater monitoring",),
    classes=(words.NOUN, words.NOUN),
    defined_acronym=False,
    ambiguous_acronym=False,
    mentions=20,
    name_mentions=20,
    documents=5,
    heading_documents=1,
    nested=2,
    template_documents=0,
    front_documents=0,
    labels=0,
    verb_contexts=0,
    inside_sentence=16,
    capitalised_inside=0,
    all_capitals=0,
    ends_before_capital=0,
    starts_after_capital=0,
    heading_mentions=2,
    numbered=0,
    after_place=0,
    code=0,
    left_fixed=3,
    right_fixed=3,
    in_document_names=0,
)
SINGLE = replace(GOOD, name="groundwater", aliases=("groundwater",), classes=(words.NOUN,))
NAME = replace(GOOD, capitalised_inside=16)
BAD = {
    "calendar": replace(GOOD, classes=(words.NOUN | words.CALENDAR, words.NOUN)),
    "ambiguous_acronym": replace(SINGLE, ambiguous_acronym=True),
    "mixed_case": replace(SINGLE, name="las", all_capitals=8),
    "code": replace(GOOD, code=6),
    "label": replace(GOOD, labels=10),
    "heading_only": replace(GOOD, heading_mentions=14),
    "template": replace(GOOD, template_documents=2),
    "document_name": replace(GOOD, in_document_names=3),
    "generic": replace(GOOD, classes=(words.NOUN | words.GENERIC, words.NOUN | words.GENERIC)),
    "verb_context": replace(GOOD, classes=(words.NOUN | words.VERB_TOO, words.NOUN), verb_contexts=4),
    "no_noun_head": replace(GOOD, classes=(words.NOUN, words.NOUN | words.ADJECTIVE_FIRST)),
    "truncated": replace(GOOD, right_fixed=12),
    "piece_of_name": replace(NAME, starts_after_capital=10),
    "nested": replace(GOOD, nested=17),
    "publisher": replace(NAME, front_documents=3),
    "possessive": replace(GOOD, classes=(words.NOUN | words.POSSESSIVE, words.NOUN)),
    "name_in_passing": replace(NAME, classes=(words.NOUN | words.PROPER,) * 2, mentions=14),
    "weak_phrase": replace(
        GOOD,
        mentions=14,
        heading_documents=0,
        heading_mentions=0,
        classes=(words.NOUN | words.COMMON, words.NOUN | words.GENERIC),
    ),
    "weak_single_word": replace(SINGLE, classes=(words.NOUN | words.COMMON,)),
}


def test_every_rule_has_a_case() -> None:
    assert set(BAD) == set(RULE_NAMES)


@pytest.mark.parametrize("reason", RULE_NAMES)
def test_each_rule_rejects_with_its_own_reason(reason: str) -> None:
    (verdict,) = RulesJudge().judge([BAD[reason]])
    assert (verdict.decision, verdict.reason, verdict.judge, verdict.model) == ("REJECT", reason, "rules", None)


ACRONYM = replace(SINGLE, name="arf", mentions=25, name_mentions=25, all_capitals=25)


def test_an_acronym_nobody_defines_must_be_said_often() -> None:
    seldom = replace(ACRONYM, mentions=24, name_mentions=24, all_capitals=24)
    assert [verdict.reason for verdict in RulesJudge().judge([seldom])] == ["weak_single_word"]
    assert [verdict.decision for verdict in RulesJudge().judge([replace(seldom, defined_acronym=True)])] == ["KEEP"]


@pytest.mark.parametrize("case", [GOOD, SINGLE, NAME, ACRONYM])
def test_concepts_are_kept(case: ClusterCase) -> None:
    (verdict,) = RulesJudge().judge([case])
    assert verdict.decision == "KEEP"
    assert verdict.judge == "rules"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (replace(SINGLE, classes=(words.NOUN | words.VAGUE,)), "weak_single_word"),
        (replace(SINGLE, classes=(words.NOUN | words.FAMILIAR,)), "weak_single_word"),
        (replace(SINGLE, name_mentions=14, heading_documents=0), "weak_single_word"),
        (
            replace(SINGLE, classes=(words.NOUN | words.UNKNOWN,), capitalised_inside=16, after_place=5),
            "weak_single_word",
        ),
        (replace(GOOD, numbered=6), "label"),
        (replace(GOOD, capitalised_inside=8, ends_before_capital=10), "piece_of_name"),
        (replace(NAME, classes=(words.NOUN | words.GENERIC, words.NOUN | words.GENERIC)), "generic"),
        (replace(GOOD, name="workers and businesses", mentions=19, heading_documents=0), "weak_phrase"),
    ],
)
def test_weak_forms_are_rejected(case: ClusterCase, reason: str) -> None:
    (verdict,) = RulesJudge().judge([case])
    assert verdict.reason == reason


@pytest.mark.parametrize(
    "case",
    [
        replace(SINGLE, classes=(words.NOUN | words.FAMILIAR,), mentions=25),
        replace(SINGLE, classes=(words.NOUN | words.UNKNOWN,), capitalised_inside=16, after_place=4),
        replace(SINGLE, classes=(words.NOUN | words.VAGUE,), defined_acronym=True),
        replace(NAME, front_documents=2),
        replace(GOOD, front_documents=5),
        replace(GOOD, classes=(words.NOUN, words.NOUN | words.VAGUE)),
        replace(GOOD, numbered=5),
        replace(GOOD, code=5),
        replace(NAME, classes=(words.NOUN | words.PROPER,) * 2, mentions=15),
        replace(NAME, classes=(words.NOUN | words.PROPER, words.NOUN | words.FAMILIAR), mentions=14),
        replace(NAME, classes=(words.NOUN | words.GENERIC,) * 3, name="open data portal"),
        replace(NAME, classes=(words.NOUN | words.POSSESSIVE, words.NOUN)),
        replace(GOOD, name="oil and gas", mentions=20, heading_documents=0),
    ],
)
def test_what_just_passes_a_rule_is_kept(case: ClusterCase) -> None:
    (verdict,) = RulesJudge().judge([case])
    assert verdict.decision == "KEEP", verdict.reason


@pytest.mark.parametrize("name", ["it", "overwhelming"])
def test_words_in_capitals_are_acronyms_only_at_acronym_length(name: str) -> None:
    (verdict,) = RulesJudge().judge([replace(SINGLE, name=name, all_capitals=20)])
    assert verdict.reason == "weak_single_word"
