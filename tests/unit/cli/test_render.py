"""What people read of a result."""

from __future__ import annotations

import pytest

from nclue_build.cli.render import _sample_text, exported_reply
from nclue_build.cli.reply import Reply
from nclue_build.core.errors import Finding
from nclue_build.records.benchmark import Forms, Qrel, Query, QueryCondition, Quote, Strata
from nclue_build.workflow.samples import Sample


@pytest.fixture
def sample() -> Sample:
    conditions = tuple(
        QueryCondition(condition_id=f"c_{name}", name=name, raw_name=name, aliases=(name,)) for name in ("oaks", "elms")
    )
    query = Query(
        query_id="q_1", n=2, conditions=conditions, relaxation="one_weak_condition",
        forms=Forms(raw="r", clean_v2="c", natural='Find "oaks" and "elms".'),
        golds=("d1",), n_judged=1, strata=Strata(l_min=9, d_plus=1, sources=("s",)),
    )  # fmt: skip
    gold = Qrel(
        query_id="q_1", doc_id="d1", grade=2, clue_count=2, gold=True, gate="ok", pages=((3, 7), (5,)),
        witness=(3, 5), shared_pages=None, violator=None,
        evidence=(
            Quote(condition_id="c_oaks", page=7, quote="word " * 60 + "under the\noaks"),
            Quote(condition_id="c_elms", page=5, quote="Elms die."),
        ),
    )  # fmt: skip
    return Sample(query, (gold,))


def test_a_sample_shows_requirements_witness_and_the_words_around_each_concept(sample: Sample) -> None:
    shown = _sample_text(sample).splitlines()
    assert shown[0] == 'q_1  Find "oaks" and "elms".'
    assert shown[1] == "  requirements: one_weak_condition"
    assert shown[2] == "  gold d1 (witness p. 3, p. 5)"
    assert shown[3].startswith('    oaks, p. 7 (not the witness, p. 3): "...word ')
    assert shown[3].endswith('under the **oaks**"')
    assert shown[4] == '    elms, p. 5: "**Elms** die."'


def test_findings_stand_below_all_else_under_their_heading() -> None:
    reply = Reply({}, "the build", [Finding("page-failed", "p. 3")], essence="short", heading="findings")
    exported = exported_reply(reply, {"md/": "2 documents as Markdown"})
    assert exported.render(as_json=False).splitlines() == [
        "the build", "", "exported", "  md/  2 documents as Markdown", "", "findings", "  p. 3 [page-failed]",
    ]  # fmt: skip
    assert exported.render(as_json=False, quiet=True).splitlines() == ["short", "  p. 3 [page-failed]"]
    assert exported.result == {"exported": {"md/": "2 documents as Markdown"}}
