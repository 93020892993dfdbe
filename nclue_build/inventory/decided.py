"""Decisions as the versions of an inventory keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.records.repair import Decision
from nclue_build.store.jsonl import read_jsonl
from nclue_build.store.layout import DECISIONS, PAIR_DECISIONS

if TYPE_CHECKING:
    from nclue_build.records.repair import Scope
    from nclue_build.store.workspace import Build


class Scoped(NamedTuple):
    """A decision, how far it reaches, and the version that applied it first."""

    decision: Decision
    scope: Scope
    version: int


def decisions_so_far(build: Build) -> list[Scoped]:
    """Every decision that a version of the inventory applied, in the order of the versions.

    Raises:
        DataError: a file has bad rows.
    """
    found: list[Scoped] = []
    for number in build.versions():
        for name, scope in ((DECISIONS, "inventory"), (PAIR_DECISIONS, "pair")):
            path = build.version(number) / name
            if path.is_file():
                found += [Scoped(row, scope, number) for row in read_jsonl(path, Decision)]  # type: ignore[arg-type]
    return found
