"""The part of the item judge ``model`` that workers do, a document at a time.

Without numpy: what a worker imports before it begins is a part of every replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.calls.asking import make_request
from nclue_build.calls.replies import ItemReply
from nclue_build.compose.model_judge import read_outcome
from nclue_build.compose.shown import show_items
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.calls.replay import Replay
    from nclue_build.compose.needs import ItemQuotes
    from nclue_build.compose.shown import ItemCase, ItemTask
    from nclue_build.records.calls import CallRequest, UsedCall
    from nclue_build.records.config import CallsSection
    from nclue_build.records.corpus import Role
    from nclue_build.store.prompts import Prompt


class DocumentTask(NamedTuple):
    """A file of pages, and what is to be shown of it."""

    path: Path
    tasks: tuple[ItemTask, ...]


class Judging(NamedTuple):
    """What a worker needs besides a document."""

    replay: Replay
    prompt: Prompt
    config: CallsSection
    allowed_roles: frozenset[Role]


class Answered(NamedTuple):
    """What a recorded reply says of a need."""

    quotes: tuple[ItemQuotes, ...]
    used: UsedCall


class Unanswered(NamedTuple):
    """A call that has no recorded reply."""

    case: ItemCase
    request: CallRequest


def judge_document(judging: Judging, task: DocumentTask) -> list[Answered | Unanswered]:
    """Show every need of a document, and check its reply where one is recorded.

    Raises:
        DataError: the pages cannot be read.
        CacheCorrupt: a record is damaged.
        CacheConflict: a call has different replies.
    """
    found: list[Answered | Unanswered] = []
    cases = show_items(read_pages(task.path), task.tasks, judging.allowed_roles)
    for item, case in zip(task.tasks, cases, strict=True):
        request = make_request(judging.prompt, case.values, judging.config)
        if (known := judging.replay.find(request, ItemReply)) is None:
            found.append(Unanswered(case, request))
        else:
            outcome, used = known
            found.append(Answered(read_outcome(item.need, case, outcome), used))
    return found
