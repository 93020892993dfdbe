"""Asking the item judge ``model``: workers read documents, show each need in a call, and check the recorded replies."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.calls.replies import ItemReply
from nclue_build.calls.session import Ask
from nclue_build.compose.item_worker import Answered, DocumentTask, Judging, Unanswered, judge_document
from nclue_build.compose.model_judge import read_outcome
from nclue_build.compose.shown import plan_item
from nclue_build.core.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.calls.session import Calls
    from nclue_build.compose.needs import Judged, Need
    from nclue_build.compose.shown import ItemTask
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.corpus import Role
    from nclue_build.records.inventory import Condition
    from nclue_build.store.prompts import Prompt
    from nclue_build.store.stage import StageContext


class ItemCalls:
    """The item judge ``model`` of one run.

    Args:
        context: Of the stage.
        calls: Where replies come from.
        prompt: The item prompt.
        conditions: In the order of ``inventory.condition_ids``.
        inventory: All P(d, c).
        allowed_roles: Roles of the blocks that can establish a condition.
    """

    def __init__(
        self,
        context: StageContext,
        calls: Calls,
        prompt: Prompt,
        conditions: Sequence[Condition],
        inventory: Inventory,
        allowed_roles: tuple[Role, ...],
    ) -> None:
        self._context, self._calls, self._prompt = context, calls, prompt
        self._conditions, self._inventory = conditions, inventory
        self._roles = frozenset(allowed_roles)
        self._best: dict[int, list[int]] = {}

    def judge(self, needs: Sequence[Need]) -> Judged:
        """Judge every need.

        Raises:
            FrozenMiss: with all calls that have no recorded reply.
        """
        by_document: dict[int, list[ItemTask]] = {}
        wanted = sorted(set(needs), key=lambda need: (need.document, need.conditions, need.absent, str(need.pages)))
        for need, rows in zip(wanted, self._rows(wanted), strict=True):
            pages_of = {index: self._best_pages(row) for index, row in zip(need.conditions, rows, strict=True)}
            by_document.setdefault(need.document, []).append(plan_item(need, self._conditions, pages_of))
        documents = [
            DocumentTask(self._context.build.page_file(self._inventory.document_ids[document]), tuple(tasks))
            for document, tasks in by_document.items()
        ]
        progress = self._context.progress
        progress.start("compose: verify", len(documents), "documents")
        replay = self._calls.replay(self._prompt.head.id)
        judging = Judging(replay, self._prompt, self._calls.config, self._roles)
        judged: Judged = {}
        left: list[tuple[Need, Unanswered]] = []
        found = self._context.mapper.map(partial(judge_document, judging), documents)
        for task, answers in zip(documents, found, strict=True):
            for item, answer in zip(task.tasks, answers, strict=True):
                if isinstance(answer, Answered):
                    judged[item.need] = answer.quotes
                    self._calls.note_used(answer.used)
                else:
                    left.append((item.need, answer))
            progress.advance()
        return judged | self._ask(left)

    def _ask(self, left: Sequence[tuple[Need, Unanswered]]) -> Judged:
        """Judge what has no recorded reply yet."""
        judged: Judged = {}
        asks = [Ask(self._label(need), unanswered.request) for need, unanswered in left]
        for (need, unanswered), outcome in zip(left, self._calls.ask(asks, ItemReply), strict=True):
            if outcome is None:
                raise InternalError("a required call came back without an outcome")
            judged[need] = read_outcome(need, unanswered.case, outcome)
        return judged

    def _rows(self, needs: Sequence[Need]) -> Iterator[list[int]]:
        """Rows of the inventory of the conditions of each need."""
        conditions = np.array([index for need in needs for index in need.conditions], dtype=np.int64)
        documents = np.array([need.document for need in needs for _ in need.conditions], dtype=np.int64)
        found = iter(self._inventory.find(conditions, documents).tolist())
        for need in needs:
            yield list(islice(found, len(need.conditions)))

    def _best_pages(self, row: int) -> list[int]:
        """Pages of a row, those with most mentions first."""
        known = self._best.get(row)
        if known is None:
            part = slice(int(self._inventory.starts[row]), int(self._inventory.starts[row + 1]))
            pages, mentions = self._inventory.pages[part].tolist(), self._inventory.mentions[part].tolist()
            known = self._best[row] = [pages[place] for place in sorted(range(len(pages)), key=lambda i: -mentions[i])]
        return known

    def _label(self, need: Need) -> str:
        names = " + ".join(self._inventory.condition_ids[index] for index in sorted((*need.conditions, *need.absent)))
        return f"{self._inventory.document_ids[need.document]}: {names}"
