"""The model calls a build used, and their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.calls.places import CallPlaces
from nclue_build.calls.verify import verify_calls
from nclue_build.store.layout import AGREEMENT, CALLS
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from nclue_build.records.config import BuildConfig
    from nclue_build.workflow.validation.reading import Reading


def check_calls(reading: Reading, config: BuildConfig) -> None:
    """``calls.jsonl``, ``agreement.jsonl``, and every byte of the records of the generation that is used."""
    build = reading.build
    used: dict[str, str] = {}
    for folder in (build.inventory, build.composed):
        path = folder / CALLS
        if path.is_file():
            rows = reading.rows(path, find_family("calls").model)
            used |= {row.key: row.rec for _, row in reading.ids(rows, path, "key", "duplicate-id")}
        path = folder / AGREEMENT
        if path.is_file():
            cases = reading.rows(path, find_family("agreement").model)
            for _ in reading.ids(cases, path, "case_id", "duplicate-id"):
                pass
    if not used and not build.frozen_outputs.is_dir():
        return
    seen = verify_calls(CallPlaces(build, config.calls.generation))
    reading.counts.update(files=seen.files, rows=seen.records)
    for key, rec in sorted(used.items()):
        if seen.recs.get(key) != rec:
            what = "is not recorded" if key not in seen.recs else "is recorded with another reply"
            seen.found.add("call-missing", f"a call that the build used {what}", id=key)
    reading.take(seen.found)
