"""What is missing, and what was recorded instead: the nearest recorded request, and the fields that differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.calls.key import KEYED
from nclue_build.core.errors import Finding, FrozenMiss
from nclue_build.core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.calls.cache import CallCache
    from nclue_build.calls.scan import Place
    from nclue_build.records.calls import CallRequest, PendingCall
    from nclue_build.store.workspace import Build

_SHOWN: Final = 10
_COMMON: Final = 50
"""A line in so many recorded requests says nothing about which of them is near."""
_WIDTH: Final = 60
FOLLOWS: Final = {
    "page-facts": "then the clusters of what is found are judged, then the candidates",
    "cluster": "then come the partitions of clusters that are split, their parts, and the candidates of queries",
    "partition": "then the parts are judged like clusters",
    "item": "where too many candidates fall out, others follow under relaxed requirements",
    "paraphrase": "nothing follows",
}
"""What a round of answers leads to."""


def following(prompt_ids: Iterable[str]) -> str:
    """What a round of calls to some prompts leads to, in words."""
    return "; ".join(FOLLOWS[name] for name in sorted(set(prompt_ids)) if name in FOLLOWS)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The recorded request that is most like one that is missing."""

    key: str
    fields: tuple[str, ...]
    detail: str

    def __str__(self) -> str:
        """In words."""
        return f"nearest record {self.key[:12]} differs in {', '.join(self.fields)}{self.detail}"


class NearestRequests:
    """Finds what is near among the recorded requests of one prompt, without comparing all with all.

    Reading them also verifies them: a record whose key was damaged would else look like a missing one.
    """

    def __init__(self, cache: CallCache, prompt_id: str) -> None:
        self._recorded: list[CallRequest] = []
        self._keys: list[str] = []
        self._by_line: dict[int, list[int]] = defaultdict(list)
        self._by_text: dict[int, list[int]] = defaultdict(list)
        place: Place
        for place, record in cache.records(prompt_id):
            del place
            index = len(self._keys)
            self._keys.append(record.key)
            self._recorded.append(record.request)
            text = _text(record.request)
            self._by_text[hash(text)].append(index)
            for line in set(text.splitlines()):
                self._by_line[hash(line)].append(index)

    def find(self, request: CallRequest) -> Nearest | None:
        """The nearest recorded request, by differing fields, then by lines in common; None when there is none."""
        if not self._keys:
            return None
        text = _text(request)
        common: Counter[int] = Counter()
        for line in set(text.splitlines()):
            found = self._by_line.get(hash(line), [])
            if len(found) <= _COMMON:
                common.update(found)
        candidates = {*self._by_text.get(hash(text), [])[:_COMMON], *(index for index, _ in common.most_common(5)), 0}
        best = min(
            candidates,
            key=lambda index: (len(differing(request, self._recorded[index])), -common[index], self._keys[index]),
        )
        fields = differing(request, self._recorded[best])
        return Nearest(self._keys[best], fields, _first_difference(request, self._recorded[best]))


def differing(one: CallRequest, other: CallRequest) -> tuple[str, ...]:
    """Names of the fields in which two requests differ."""
    return tuple(name for name in KEYED if getattr(one, name) != getattr(other, name))


def _text(request: CallRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def _first_difference(asked: CallRequest, recorded: CallRequest) -> str:
    """The first line of the messages that differs."""
    ours, theirs = _text(asked).splitlines(), _text(recorded).splitlines()
    for number, (new, old) in enumerate(zip(ours, theirs, strict=False), start=1):
        if new != old:
            return f" (line {number}: asked {new[:_WIDTH]!r}, recorded {old[:_WIDTH]!r})"
    return "" if len(ours) == len(theirs) else f" ({len(ours)} lines asked, {len(theirs)} recorded)"


def frozen_miss(
    build: Build, cache: CallCache, calls: Sequence[PendingCall], batch: Path, *, unsealed: int
) -> FrozenMiss:
    """The error of calls without a recorded reply; all of them are among its findings."""
    by_prompt: dict[str, NearestRequests] = {}
    findings = []
    for call in calls:
        prompt_id = call.request.prompt_id
        if prompt_id not in by_prompt:
            by_prompt[prompt_id] = NearestRequests(cache, prompt_id)
        nearest = by_prompt[prompt_id].find(call.request) or "nothing is recorded for this prompt"
        findings.append(Finding("frozen-miss", f"{prompt_id} {call.label}: {nearest}", id=call.key))
    rounds = sorted(by_prompt)
    lines = [
        f"{counted(len(calls), 'call')} ({', '.join(rounds)}) without a recorded reply, and [calls] mode is frozen",
        *(f"{finding.id}: {finding.message}" for finding in findings[:_SHOWN]),
    ]
    if len(findings) > _SHOWN:
        lines.append(f"... and {len(findings) - _SHOWN} more: --json lists them all")
    if unsealed:
        lines.append(f"{counted(unsealed, 'segment')} of an interrupted recording: 'nclue-build calls seal' may help")
    lines.append(
        f"all of them are in {build.relative(batch)}: have them answered, then run "
        f"'nclue-build calls import FILE --answered-by NAME', then this again. This is the round of {', '.join(rounds)}"
        f": {following(rounds)}"
    )
    return FrozenMiss("\n".join(lines), findings)
