"""Who judged: what verdicts, quotes and qrels.meta.json say of it, against the configuration.

Rules are no language model. Whoever reads ``judge``, ``model`` and ``call_key`` must be able to rely on them, above all
where they say how much a judgment cost to come by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.base import Level
    from nclue_build.records.benchmark import QrelsMeta
    from nclue_build.records.inventory import Condition
    from nclue_build.rederive.qrels_check import PlacedQuote

_RULES: Final = "rules"
_NOBODY: Final = "none"


def judge_problem(judge: str, model: str | None, call_key: str | None, configured: str) -> str | None:
    """Say what is wrong with a verdict's judge, or None.

    Args:
        judge: As stored.
        model: As stored; a language model has a name, rules have none.
        call_key: As stored; so has its call a key.
        configured: ``judge.kind`` of the configuration. Rules may decide what needs no model, never the reverse.
    """
    if judge not in {_RULES, configured}:
        return f"judge {judge!r}: the configuration says {configured!r}"
    if judge == _RULES and (model, call_key) != (None, None):
        return f"judge 'rules' with model {model!r} and call_key {call_key!r}: rules have neither"
    if judge != _RULES and (not model or call_key is None):
        return f"judge {judge!r} with model {model!r} and call_key {call_key!r}: it needs both"
    return None


def check_verdicts(conditions: Iterable[tuple[int, Condition]], configured: str, path: str, out: Findings) -> None:
    """Check the verdict of every condition."""
    for line, condition in conditions:
        verdict = condition.verdict
        problem = judge_problem(verdict.judge, verdict.model, verdict.call_key, configured)
        if problem is not None:
            out.add("judge-differs", problem, path=path, line=line, id=condition.condition_id)


def check_item_judge(
    meta: QrelsMeta,
    quotes: Sequence[PlacedQuote],
    level: Level,
    configured: str,
    paths: tuple[str, str],
    out: Findings,
) -> None:
    """Check who judged the golds: nobody where there are no pages and no quotes, else the configured judge.

    Args:
        meta: qrels.meta.json.
        quotes: Every quote of the qrels.
        level: ``page`` or ``document``.
        configured: ``judge.kind`` of the configuration.
        paths: Of qrels.meta.json and of qrels.jsonl, as shown.
        out: Takes what differs.
    """
    expected = _NOBODY if level == "document" and not quotes else configured
    meta_path, qrels_path = paths
    if meta.item_judge != expected:
        message = f"item_judge: stored {meta.item_judge!r}, by the configuration {expected!r}"
        out.add("judge-differs", message, path=meta_path)
    if (meta.item_model is None) != (expected in {_RULES, _NOBODY}):
        message = f"item_model: stored {meta.item_model!r}, judged by {expected!r}"
        out.add("judge-differs", message, path=meta_path)
    for line, query_id, doc_id, quote in quotes:
        if quote.call_key is not None and expected == _RULES:
            message = f"document {doc_id}, {quote.condition_id}: a quote of the rules has a call_key"
            out.add("judge-differs", message, path=qrels_path, line=line, id=query_id)
