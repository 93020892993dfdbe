"""Replies: the schemas that prompts ask for, and the strict way from text to one of them."""

from __future__ import annotations

import json
import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from nclue_build.calls.strict_json import read_object
from nclue_build.records.base import Record

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _not_blank(value: str) -> str:
    if not value.strip():
        message = "is blank"
        raise ValueError(message)
    if _CONTROL.search(value):
        message = "has a control character"
        raise ValueError(message)
    return value


Line = Annotated[str, Field(max_length=2000), AfterValidator(_not_blank)]


class RubricReply(Record):
    """What people who check the judge are asked."""

    requirement: Line
    counts: Line
    does_not_count: Line
    note: Line | None


class ClusterReply(Record):
    """``cluster/1``: whether surface forms name one concept."""

    verdict: Literal["KEEP", "SPLIT", "REJECT"]
    reason: Line
    rubric: RubricReply | None

    @model_validator(mode="after")
    def _has_a_rubric(self) -> ClusterReply:
        if (self.verdict == "KEEP") != (self.rubric is not None):
            message = "a rubric goes with KEEP, and with nothing else"
            raise ValueError(message)
        return self


class PartitionReply(Record):
    """``partition/1``: the surface forms in groups; whether it is a partition is for the caller to check."""

    groups: tuple[tuple[str, ...], ...]
    reason: Line


class ConditionReply(Record):
    """One condition of an item."""

    id: Line
    present: bool
    evidence: Line | None

    @model_validator(mode="after")
    def _has_evidence(self) -> ConditionReply:
        if self.present != (self.evidence is not None):
            message = "evidence goes with present = true, and with nothing else"
            raise ValueError(message)
        return self


class ItemReply(Record):
    """``item/1``: which conditions the shown pages establish."""

    conditions: tuple[ConditionReply, ...]


class FactReply(Record):
    """A fact that a page states."""

    fact: Line
    form: Line
    span: Line


class PageFactsReply(Record):
    """``page-facts/1``: what a page states."""

    facts: tuple[FactReply, ...]


class ParaphraseReply(Record):
    """``paraphrase/1``: a query in other words."""

    paraphrase: Line


class PairEvidence(Record):
    """A quote and the page it stands on."""

    page: Line
    quote: Line


class PairReply(Record):
    """``pair/1``: whether pages establish one condition."""

    present: bool
    evidence: tuple[PairEvidence, ...]
    reason: Line

    @model_validator(mode="after")
    def _has_evidence(self) -> PairReply:
        if self.present != bool(self.evidence):
            message = "evidence goes with present = true, and with nothing else"
            raise ValueError(message)
        return self


Reply = ClusterReply | PartitionReply | ItemReply | PageFactsReply | ParaphraseReply | PairReply

SCHEMAS: Final[dict[str, type[Reply]]] = {
    "cluster/1": ClusterReply,
    "partition/1": PartitionReply,
    "item/1": ItemReply,
    "page-facts/1": PageFactsReply,
    "paraphrase/1": ParaphraseReply,
    "pair/1": PairReply,
}
"""By the id a prompt file names. What one accepts never changes: another rule is another id."""

_FENCE: Final = re.compile(r"^[ \t]*```[A-Za-z]*[ \t]*$", re.MULTILINE)
_THOUGHT: Final = re.compile(r"</?think", re.IGNORECASE)


class InvalidReplyError(ValueError):
    """A text that is not a reply of the schema; says why."""


def parse_reply(text: str, schema: str) -> Reply:
    """Read a reply: the raw text, else what one pair of fences holds, else the first balanced object.

    Raises:
        InvalidReplyError: none of these is JSON of the schema. Extra keys, missing ones, repeated ones, other types
            and cut texts are all refused; nothing is mended.
    """
    if _THOUGHT.search(text):
        raise InvalidReplyError("thinking in the text")
    value = _find_object(text)
    try:
        return SCHEMAS[schema].model_validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidReplyError(
            f"{where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
        ) from None


def _find_object(text: str) -> dict[str, object]:
    problem = "no JSON object"
    for find in (_whole, _fenced, _first_object):
        piece = find(text)
        if piece is None:
            continue
        try:
            return read_object(piece)
        except ValueError as error:
            if not isinstance(error, json.JSONDecodeError):
                # JSON, but not what it should be: another reading of the same text would only hide it.
                raise InvalidReplyError(str(error)) from None
            problem = f"no JSON object: {error.msg.lower()}"
    raise InvalidReplyError(problem)


def _whole(text: str) -> str | None:
    """The text itself, unless it begins with a number that JSON does not have: then it is prose before an object."""
    return None if text.lstrip().startswith(("Infinity", "-Infinity", "NaN")) else text


def _fenced(text: str) -> str | None:
    """What stands between two fences, where there are exactly two."""
    marks = list(_FENCE.finditer(text))
    return text[marks[0].end() : marks[1].start()] if len(marks) == 2 else None  # noqa: PLR2004 - one pair


def _first_object(text: str) -> str | None:
    """From the first opening brace to the one that closes it; None where it is in a list, or never closed."""
    start = text.find("{")
    if start < 0 or text[:start].rstrip().endswith("["):
        return None
    depth, in_string, escaped = 0, False, False
    for index in range(start, len(text)):
        char = text[index]
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return text[start : index + 1]
    return None
