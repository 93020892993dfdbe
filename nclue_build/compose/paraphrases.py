"""The fourth form of a query: a recorded reply of a model, never invented on a miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.calls.asking import make_request
from nclue_build.calls.replies import ParaphraseReply
from nclue_build.calls.session import Ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.calls.session import Calls
    from nclue_build.records.benchmark import Query
    from nclue_build.store.prompts import Prompt

_MAX_WORDS: Final = 80
"""Twice what the prompt allows: whatever is longer is no search request."""


def paraphrase(calls: Calls, prompt: Prompt, queries: Sequence[Query]) -> list[str | None]:
    """The recorded paraphrase of each query; None where there is none that can be used."""
    asks = [
        Ask(
            query.query_id,
            make_request(
                prompt,
                {"concepts": "\n".join(f"- {condition.name}" for condition in query.conditions)},
                calls.config,
            ),
        )
        for query in queries
    ]
    outcomes = calls.ask(asks, ParaphraseReply, required=False)
    return [
        None if outcome is None or outcome.reply is None else _usable(outcome.reply, query)
        for query, outcome in zip(queries, outcomes, strict=True)
    ]


def _usable(reply: ParaphraseReply, query: Query) -> str | None:
    """The text in one line; None where it is no search request or does not hold every concept verbatim."""
    text = " ".join(reply.paraphrase.split())
    whole = all(condition.name in text for condition in query.conditions)
    return text if whole and len(text.split()) <= _MAX_WORDS else None
