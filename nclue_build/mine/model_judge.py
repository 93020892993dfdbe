"""The cluster judge ``model``: a call per cluster, and for each one that is split a partition and a call per part.

A verdict is what the reply says, never what a failure might mean: a cluster whose call has no usable reply is left out
with the reason, and counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nclue_build.calls.asking import make_request, quoted_material
from nclue_build.calls.replies import ClusterReply, PartitionReply
from nclue_build.calls.session import Ask
from nclue_build.core.errors import InternalError
from nclue_build.core.ids import named_id
from nclue_build.mine.judge import MODEL, ClusterVerdict, Part
from nclue_build.mine.sights import CONTEXTS
from nclue_build.mine.spelling import is_acronym
from nclue_build.records.inventory import Rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.calls.outcomes import Outcome
    from nclue_build.calls.session import Calls
    from nclue_build.mine.judge import ClusterCase
    from nclue_build.mine.sights import ClusterSight
    from nclue_build.store.prompts import Prompt

    Look = Callable[[Sequence[ClusterCase]], list[ClusterSight]]

_PARTITION_CONTEXTS: Final = 12
_ATTEMPTS: Final = 2


class ModelJudge:
    """Asks about clusters.

    Args:
        calls: Where replies come from.
        cluster_prompt: For verdicts.
        partition_prompt: For partitions.
        look: How the forms of cases stand in the corpus.
        n_documents: Of the corpus.
    """

    name = MODEL

    def __init__(
        self, calls: Calls, cluster_prompt: Prompt, partition_prompt: Prompt, look: Look, n_documents: int
    ) -> None:
        self._calls, self._cluster, self._partition = calls, cluster_prompt, partition_prompt
        self._look, self._n_documents = look, n_documents

    def judge(self, cases: Sequence[ClusterCase]) -> list[ClusterVerdict]:
        """One verdict per case, in the order of the cases; a split one has its parts, judged.

        Raises:
            FrozenMiss: with all calls of the round that have no recorded reply.
        """
        sights = self._look(cases)
        verdicts = self._verdicts(cases, sights)
        split = [index for index, verdict in enumerate(verdicts) if verdict.decision == "SPLIT"]
        groups = self._partitions([cases[i] for i in split], [sights[i] for i in split], [verdicts[i] for i in split])
        parts: list[ClusterCase] = []
        for index, found in zip(split, groups, strict=True):
            if found is None:
                verdicts[index] = replace(verdicts[index], decision="REJECT", code="invalid_partition")
            else:
                parts += [_part(cases[index], group, sights[index]) for group in found]
        judged = iter(zip(parts, self._verdicts(parts, self._look(parts)), strict=True) if parts else ())
        for index, found in zip(split, groups, strict=True):
            if found is not None:
                own = [Part(*next(judged)) for _ in found]
                verdicts[index] = replace(verdicts[index], parts=tuple(_settled(part) for part in own))
        return verdicts

    def _verdicts(self, cases: Sequence[ClusterCase], sights: Sequence[ClusterSight]) -> list[ClusterVerdict]:
        asks = [
            Ask(
                f"{case.cluster_id}",
                make_request(
                    self._cluster,
                    {
                        "name": case.name,
                        "aliases": _listed(sight),
                        "n_documents": str(sight.n_documents),
                        "n_pages": str(sight.n_pages),
                        "n_corpus_documents": str(self._n_documents),
                        "contexts": _contexts([text for _, text in sight.contexts(CONTEXTS)]),
                    },
                    self._calls.config,
                ),
            )
            for case, sight in zip(cases, sights, strict=True)
        ]
        return [
            _verdict(case, _required(outcome))
            for case, outcome in zip(cases, self._calls.ask(asks, ClusterReply), strict=True)
        ]

    def _partitions(
        self, cases: Sequence[ClusterCase], sights: Sequence[ClusterSight], verdicts: Sequence[ClusterVerdict]
    ) -> list[tuple[tuple[str, ...], ...] | None]:
        """A partition of the aliases of each case; None where two replies gave none."""
        found: list[tuple[tuple[str, ...], ...] | None] = [None] * len(cases)
        left = [index for index, case in enumerate(cases) if len(case.aliases) > 1]
        for attempt in range(_ATTEMPTS):
            asks = [
                Ask(
                    f"{cases[index].cluster_id}" + (f", attempt {attempt}" if attempt else ""),
                    make_request(
                        self._partition,
                        {
                            "name": cases[index].name,
                            "aliases": "\n".join(f"- {alias}" for alias in cases[index].aliases),
                            "reason": verdicts[index].reason,
                            "contexts": _contexts(
                                [f"[{form}] {text}" for form, text in sights[index].contexts(_PARTITION_CONTEXTS)]
                            ),
                        },
                        self._calls.config,
                        attempt,
                    ),
                )
                for index in left
            ]
            if not asks:
                break
            for index, outcome in zip(tuple(left), self._calls.ask(asks, PartitionReply), strict=True):
                reply = _required(outcome).reply
                if reply is not None and is_partition(reply.groups, cases[index].aliases):
                    found[index] = reply.groups
                    left.remove(index)
        return found


def is_partition(groups: Sequence[Sequence[str]], aliases: Sequence[str]) -> bool:
    """Whether groups are a partition: two or more, none empty, every alias exactly once and no other."""
    given = Counter(alias for group in groups for alias in group)
    return len(groups) > 1 and all(groups) and given == Counter(aliases)


def _required(outcome: Outcome[ClusterReply] | Outcome[PartitionReply] | None) -> Outcome:  # type: ignore[type-arg]
    if outcome is None:
        raise InternalError("a required call came back without an outcome")
    return outcome


def _verdict(case: ClusterCase, outcome: Outcome[ClusterReply]) -> ClusterVerdict:
    reply = outcome.reply
    if reply is None:
        reason = f"call_{outcome.status}"
        return ClusterVerdict("NONE", reason, MODEL, outcome.answered_by, outcome.key, code=reason)
    reason = " ".join(reply.reason.split())
    verdict = ClusterVerdict(reply.verdict, reason, MODEL, outcome.answered_by, outcome.key, code="judge_rejects")
    if reply.verdict == "SPLIT" and len(case.aliases) == 1:
        return replace(verdict, decision="REJECT", code="split_of_one_form")
    if reply.rubric is None:
        return verdict
    rubric = Rubric(
        requirement=reply.rubric.requirement,
        counts=reply.rubric.counts,
        does_not_count=reply.rubric.does_not_count,
        note=reply.rubric.note,
    )
    return replace(verdict, rubric=rubric)


def _settled(part: Part) -> Part:
    """A part is not split again."""
    if part.verdict.decision != "SPLIT":
        return part
    return Part(part.case, replace(part.verdict, decision="REJECT", code="split_again"))


def _part(case: ClusterCase, aliases: Sequence[str], sight: ClusterSight) -> ClusterCase:
    """A part of a cluster as a case of its own; the counts of its forms together are those of the whole."""
    name = next(form.form for form in sight.forms if form.form in aliases)
    key = "\n".join((case.cluster_id, *sorted(aliases)))
    return replace(
        case,
        cluster_id=named_id(name, key),
        name=name,
        aliases=tuple(sorted(aliases)),
        classes=(0,) * (name.count(" ") + 1),
        defined_acronym=any(is_acronym(alias) for alias in aliases),
    )


def _listed(sight: ClusterSight) -> str:
    return "\n".join(f"- {form.form} ({form.n_documents} documents, {form.n_pages} pages)" for form in sight.forms)


def _contexts(texts: Sequence[str]) -> str:
    return "\n".join(f"<context>\n{quoted_material(text)}\n</context>" for text in texts) or "(none)"
