"""Witness, shared pages and violator of single pairs."""

from __future__ import annotations

import subprocess
import sys

from nclue_build.gate.explain import HallViolator, Verdict, judge_pages, judge_presence, shared_pages, violator, witness
from nclue_build.gate.outcome import Outcome


def test_witness_takes_the_smallest_pages_in_order_of_the_conditions() -> None:
    assert witness([(3, 5), (1, 3), (3, 9)]) == (3, 1, 9)


def test_witness_gives_a_page_up_when_another_condition_has_no_other() -> None:
    assert witness([(1, 2), (1, 2, 3), (1,)]) == (2, 3, 1)
    assert witness([(1, 2, 3), (1, 2), (1, 2)]) == (3, 1, 2)


def test_witness_needs_a_page_for_everyone() -> None:
    assert witness([(1,), ()]) is None
    assert witness([(1, 2), (1, 2), (1, 2)]) is None


def test_violator_prefers_fewer_conditions_then_earlier_ones() -> None:
    assert violator([(4, 5), (4, 5), (4, 5), (7,), (7,)]) == HallViolator((3, 4), (7,))
    assert violator([(2,), (2,), (2,)]) == HallViolator((0, 1), (2,))
    assert violator([(1,), ()]) == HallViolator((1,), ())
    assert violator([(1,), (2,)]) is None


def test_shared_pages_are_ascending() -> None:
    assert shared_pages([(9, 2, 4), (4, 9), (4, 7, 9)]) == (4, 9)


def test_a_shared_page_wins_over_a_missing_assignment() -> None:
    assert judge_pages([(1,), (1,)]) == Verdict(2, Outcome.SINGLE_PAGE, 1, shared_pages=(1,))


def test_verdicts_carry_what_their_outcome_needs_and_nothing_else() -> None:
    assert judge_pages([(1, 2), (2,)]) == Verdict(2, Outcome.SINGLE_PAGE, 1, shared_pages=(2,))
    assert judge_pages([(1,), (2,)]) == Verdict(2, Outcome.OK, 2, witness=(1, 2))
    assert judge_pages([(1,), ()]) == Verdict(1, Outcome.INCOMPLETE, 1)
    assert judge_pages([(1,), (1,), (2,)]) == Verdict(3, Outcome.NO_ASSIGNMENT, 2, violator=HallViolator((0, 1), (1,)))


def test_document_level_pairs_have_no_witness() -> None:
    assert judge_presence([True, True]) == Verdict(2, Outcome.DOCUMENT_LEVEL, 2)
    assert judge_presence([True, False, True]) == Verdict(2, Outcome.INCOMPLETE, 2)


def test_networkx_is_not_loaded_by_importing_the_gate() -> None:
    code = "import sys, nclue_build.gate.check, nclue_build.gate.explain; sys.exit('networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own interpreter
