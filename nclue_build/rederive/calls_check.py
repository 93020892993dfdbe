"""Who judged: every verdict and quote of a model against the lists of calls that mining and composing used.

Nothing is judged again here. A verdict must name a call of the list that had a reply, made with the right prompt, and
whoever answered it; what a model did not judge names no call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from nclue_build.core.findings import Findings
    from nclue_build.records.benchmark import Qrel, QrelsMeta
    from nclue_build.records.calls import UsedCall
    from nclue_build.records.inventory import Condition
    from nclue_build.rederive.qrels_check import DecidedPlace

MODEL: Final = "model"
CLUSTER: Final = "cluster"
ITEM: Final = "item"


def check_verdict_calls(
    conditions: Iterable[tuple[int, Condition]], used: Mapping[str, UsedCall], path: str, out: Findings
) -> None:
    """Check who is said to have kept each condition.

    Args:
        conditions: With their lines.
        used: The calls that mining used, by key.
        path: Of conditions.jsonl, as shown.
        out: Takes what differs.
    """
    for line, condition in conditions:
        verdict = condition.verdict
        if verdict.judge != MODEL or verdict.call_key is None:
            continue  # whether that may be is checked with the judge
        problem = _call_problem(used.get(verdict.call_key), CLUSTER, verdict.model)
        if problem is not None:
            out.add("used-calls-differ", problem, path=path, line=line, id=condition.condition_id)


def check_quote_calls(
    qrels: Iterable[tuple[int, Qrel]],
    meta: QrelsMeta,
    used: Mapping[str, UsedCall],
    paths: tuple[str, str],
    out: Findings,
    *,
    people: Collection[DecidedPlace] = (),
) -> None:
    """Check who is said to have quoted, and what the metadata say of it.

    Args:
        qrels: With their lines.
        meta: Of the qrels.
        used: The calls that composing used, by key.
        paths: Of qrels.jsonl and qrels.meta.json, as shown.
        out: Takes what differs.
        people: Quotes of decisions: no model chose them.
    """
    if meta.item_judge != MODEL:
        return
    for line, qrel in qrels:
        for quote in qrel.evidence:
            problem: str | None
            if (quote.condition_id, qrel.doc_id, quote.page, quote.quote) in people:
                continue
            if quote.call_key is None:
                problem = "judged by a model, and names no call"
            else:
                problem = _call_problem(used.get(quote.call_key), ITEM, None)
            if problem is not None:
                message = f"document {qrel.doc_id}, {quote.condition_id}: {problem}"
                out.add("used-calls-differ", message, path=paths[0], line=line, id=qrel.query_id)
    names = sorted({row.answered_by for row in used.values() if row.prompt_id == ITEM})
    expected = ", ".join(names) or None
    if meta.item_model != expected:
        message = f"item_model: stored {meta.item_model!r}, the used calls were answered by {expected!r}"
        out.add("used-calls-differ", message, path=paths[1])


def _call_problem(call: UsedCall | None, prompt_id: str, model: str | None) -> str | None:
    if call is None:
        return "its call is not in the list of used calls"
    if call.status != "ok":
        return f"its call had no reply ({call.status})"
    if call.prompt_id != prompt_id:
        return f"its call was to prompt {call.prompt_id!r}, not {prompt_id!r}"
    if model is not None and model != call.answered_by:
        return f"names {model!r}, its call was answered by {call.answered_by!r}"
    return None
