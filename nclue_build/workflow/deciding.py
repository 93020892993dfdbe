"""The last step of an audit: from the answers of both rounds to decisions for a repair."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.audit.conclusion import Adjudicated, Asked, conclude
from nclue_build.audit.policy import by_place
from nclue_build.audit.responses import problems_of
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import UsageError
from nclue_build.core.findings import Findings
from nclue_build.inventory.decided import decisions_so_far
from nclue_build.records.audit import Answer, Override, Packet
from nclue_build.store.jsonl import read_numbered, write_jsonl
from nclue_build.workflow.audit_files import ADJUDICATION, KEY, OVERRIDES, Files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.audit.conclusion import Conclusion, Fact, Verdict
    from nclue_build.records.repair import Decision
    from nclue_build.store.workspace import Workspace


class Decided(NamedTuple):
    """Decisions, and what is to be said of them.

    Args:
        decisions: As they were written.
        facts: Conditions in documents that they are about; where there are fewer, some are decided in several pairs.
        ties: Open conditions that stay what the inventory says, because the votes are even.
        denied: Positive decisions of which the evaluators of another pair, asked once, both said no.
        overrides: Rows of overrides.jsonl.
        in_both_rounds: Adjudicators who had answered the first round as well.
    """

    decisions: tuple[Decision, ...]
    facts: int
    ties: int
    denied: tuple[str, ...]
    overrides: int
    in_both_rounds: tuple[str, ...]


def decide_audit(
    folder: Path, out: Path, workspace: Workspace | Path | None = None, build: str | None = None
) -> Decided:
    """Turn the answers of both rounds into ``decisions.jsonl``.

    Raises:
        UsageError: pairs are queued, and nobody has answered the adjudication packet.
        DataError: a response is not whole, files are of different stages of the audit, an override does not fit what
            was asked and shown, or verdicts on one condition in one document say the opposite: nothing is written.
    """
    files = Files.find(folder, workspace, build)
    audit = files.first_round()
    queue = files.queue(audit)
    second = Adjudicated(Packet(items=()), (), ())
    if queue.queued:
        packet = files.adjudicated(queue)
        kept, _, found = files.responses(ADJUDICATION, packet)
        found.raise_any()
        if not kept:
            raise UsageError(f"{len(queue.queued)} pairs are queued, and {folder / ADJUDICATION} holds no responses")
        second = Adjudicated(packet, [by_place(row) for row in kept], tuple(row.evaluator for row in kept))
    asked = Asked.of(audit, second.packet)
    overrides = _overrides(files, asked)
    tag = sha256_file(folder / KEY)[:8]
    concluded = conclude(audit, queue, second, overrides, tag)
    _refuse_conflicts(files, asked, concluded)
    write_jsonl(out, concluded.decisions)
    return Decided(
        decisions=concluded.decisions,
        facts=len({(row.condition_id, row.doc_id) for row in concluded.decisions}),
        ties=len(concluded.ties),
        denied=concluded.denied,
        overrides=len(overrides),
        in_both_rounds=tuple(sorted({*second.names} & {*audit.evaluators})),
    )


def _overrides(files: Files, asked: Asked) -> dict[Fact, Override]:
    """``overrides.jsonl`` by what its rows are about, with quotes from pages that somebody was shown."""
    path, found = files.folder / OVERRIDES, Findings()
    kept: dict[Fact, tuple[int, Override]] = {}
    material = files.material
    for line, row in read_numbered(path, Override, found=found, by_hand=True) if path.exists() else ():
        fact = asked.facts.get((row.item_id, row.condition_id))
        if fact is None:
            problems = ["was not asked"]
        else:
            first, other = kept.setdefault(fact, (line, row))
            pages = tuple(sorted({quote.page for quote in row.quotes}))
            answer = Answer(
                item_id=row.item_id, condition_id=row.condition_id, present=row.present, pages=pages, quotes=row.quotes
            )
            problems = problems_of(answer, asked.displayed(fact), partial(_text, material.texts(fact[1])))
            if other is not row:
                problems.append(f"line {first} ({other.item_id}) decides that condition of that document: keep one")
        for problem in problems:
            message = f"{row.item_id}, {row.condition_id}: {problem}"
            found.add("bad-response", message, path=str(path), line=line, id=row.item_id)
    found.raise_any()
    return {fact: row for fact, (_, row) in kept.items()}


def _text(texts: Mapping[int, Sequence[str]], page: int) -> Sequence[str]:
    return texts.get(page, ())


def _refuse_conflicts(files: Files, asked: Asked, concluded: Conclusion) -> None:
    """Name all verdicts of one fact where they say the opposite, of this audit or of an earlier one."""
    found, path = Findings(), files.folder / OVERRIDES
    for verdicts in concluded.conflicts:
        condition_id, doc_id = asked.facts[verdicts[0].place]
        items = " or ".join(verdict.place[0] for verdict in verdicts)
        message = (
            f"{condition_id} in {doc_id}: {'; '.join(map(_said, verdicts))}. Look at their pages, and say which "
            f"holds in a row for {items}: it then holds in every pair that asks"
        )
        found.add("decision-conflict", message, path=str(path), id=verdicts[0].place[0])
    applied = {(one.decision.condition_id, one.decision.doc_id): one for one in decisions_so_far(files.build)}
    for row in concluded.decisions:
        before = applied.get((row.condition_id, row.doc_id))
        if before is not None and before.decision.present != row.present:
            message = (
                f"{row.condition_id} in {row.doc_id}: {row.decision_id} says {_word(present=row.present)}, "
                f"{before.decision.decision_id} (applied by P{before.version}) says "
                f"{_word(present=before.decision.present)}. Keep that by a row that says so, or take the repair back "
                "(docs/repair.md)"
            )
            found.add("decision-conflict", message, path=str(path), id=row.decision_id)
    found.raise_any()


def _said(verdict: Verdict) -> str:
    pages = sorted({quote.page for quote in verdict.quotes}) if verdict.present else verdict.shown
    where = ("quotes from page" if verdict.present else "shown page") + ("s" if len(pages) > 1 else "")
    return (
        f"{verdict.place[0]} says {_word(present=verdict.present)} ({verdict.basis}: {verdict.reason}; {where} "
        f"{', '.join(map(str, pages))})"
    )


def _word(*, present: bool) -> str:
    return "present" if present else "absent"
