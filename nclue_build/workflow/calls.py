"""The calls of a build: how they stand, out to be answered, and back in."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nclue_build.calls.imports import import_answers
from nclue_build.calls.misses import NearestRequests, following
from nclue_build.calls.pending import batch_lines, read_pending, still_missing
from nclue_build.calls.places import CallPlaces, generations
from nclue_build.calls.seal import seal, sealing_lock
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import DataError, FrozenMiss, UsageError
from nclue_build.records.calls import Agreement, UsedCall
from nclue_build.store.atomic import write_bytes
from nclue_build.store.config_file import load_config
from nclue_build.store.jsonl import read_jsonl
from nclue_build.store.layout import AGREEMENT, CALLS
from nclue_build.store.workspace import find_build
from nclue_build.workflow.call_mode import asks_a_model, composing_asks, mining_asks
from nclue_build.workflow.runner import run_build

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from nclue_build.calls.imports import Imported
    from nclue_build.calls.seal import Sealed
    from nclue_build.calls.verify import Verified
    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.workspace import Build, Workspace


@dataclass(frozen=True, slots=True)
class CallsStatus:
    """How the recorded calls of a build stand.

    Args:
        build: The build.
        generation: The one that is used.
        generations: Those there are.
        records: Recorded calls by prompt.
        statuses: Of these, by outcome.
        answered_by: Of these, by who answered.
        used: Used by the build, by prompt.
        missing_records: Keys that the build used and that are no longer recorded as it used them.
        orphaned: Keys that are recorded and not used.
        pending: Calls that are waited for, by prompt.
        optional: Calls the build can do without, by prompt.
        unsealed: Segments in the inbox.
        follows: What the next round leads to.
        findings: What is wrong with the records.
    """

    build: Build
    generation: int
    generations: tuple[int, ...]
    records: Mapping[str, int]
    statuses: Mapping[str, int]
    answered_by: Mapping[str, int]
    used: Mapping[str, int]
    missing_records: tuple[str, ...]
    orphaned: tuple[str, ...]
    pending: Mapping[str, int]
    optional: Mapping[str, int]
    unsealed: int
    follows: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written to be answered."""

    path: Path
    calls: Mapping[str, int]
    follows: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything there is to know about one call."""

    key: str
    state: str
    place: str | None
    request: Mapping[str, object]
    status: str | None = None
    answered_by: str | None = None
    text: str | None = None
    used_in: tuple[str, ...] = ()
    nearest: str | None = None


@dataclass(slots=True)
class Confusion:
    """What rules and model say of the same cases: counts by (kind, rules, model), and the cases they differ on."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    differing: list[Agreement] = field(default_factory=list)


def _open(workspace: Workspace | Path | None, build: str | None) -> tuple[Build, BuildConfig, CallPlaces]:
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
    return chosen, config, CallPlaces(chosen, config.calls.generation)


def used_calls(build: Build) -> list[UsedCall]:
    """Every call that the stages of a build used, by key; each once."""
    rows: dict[str, UsedCall] = {}
    for folder in (build.inventory, build.composed):
        if (folder / CALLS).is_file():
            rows |= {row.key: row for row in read_jsonl(folder / CALLS, UsedCall)}
    return [rows[key] for key in sorted(rows)]


def _by_prompt(prompt_ids: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(prompt_ids).items()))


def calls_status(workspace: Workspace | Path | None = None, build: str | None = None) -> CallsStatus:
    """Say how the recorded calls of a build stand: recorded, used, orphaned, missing."""
    chosen, config, places = _open(workspace, build)
    with chosen.workspace.relative_paths():
        seen = verify_calls(places)
        used = used_calls(chosen)
        pending, optional = (still_missing(chosen, seen.recs, required=required) for required in (True, False))
    known = {row.key for row in used}
    return CallsStatus(
        build=chosen,
        generation=config.calls.generation,
        generations=tuple(generations(chosen)),
        records=dict(sorted(seen.prompts.items())),
        statuses=dict(sorted(seen.statuses.items())),
        answered_by=dict(sorted(seen.answered_by.items())),
        used=_by_prompt(row.prompt_id for row in used),
        missing_records=tuple(row.key for row in used if seen.recs.get(row.key) != row.rec),
        orphaned=tuple(sorted(seen.recs.keys() - known)),
        pending=_by_prompt(call.request.prompt_id for call in pending),
        optional=_by_prompt(call.request.prompt_id for call in optional),
        unsealed=len(places.segments()),
        follows=following(call.request.prompt_id for call in pending),
        findings=tuple(chosen.workspace.relative_finding(row) for row in seen.found.kept),
    )


def export_calls(
    workspace: Workspace | Path | None,
    build: str | None,
    path: Path,
    *,
    optional: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Run the build as far as its replies go, and write what is missing there as a batch file.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As there.
        path: The file to write.
        optional: Write the calls that the build can do without instead (paraphrases).
        progress: Listener for progress.

    Raises:
        UsageError: the mode is not ``frozen``, or nothing is asked of a model.
    """
    chosen, config, places = _open(workspace, build)
    if config.calls.mode != "frozen":
        raise UsageError(f'[calls] mode = "{config.calls.mode}" asks by itself: calls are exported in mode "frozen"')
    with contextlib.suppress(FrozenMiss):  # what is missing is what is exported
        run_build(chosen.workspace, chosen.name, last="compose", progress=progress)
    with chosen.workspace.relative_paths():
        pending = still_missing(places.build, verify_calls(places).recs, required=not optional)
    write_bytes(path, batch_lines(pending))
    return Exported(
        path,
        _by_prompt(call.request.prompt_id for call in pending),
        following(call.request.prompt_id for call in pending),
    )


def import_calls(
    workspace: Workspace | Path | None, build: str | None, path: Path, answered_by: str, *, keep_failures: bool = False
) -> Imported:
    """Record the answers of a file (:func:`nclue_build.calls.imports.import_answers`)."""
    chosen, config, places = _open(workspace, build)
    with chosen.workspace.relative_paths():
        return import_answers(
            places, path, answered_by, keep_failures=keep_failures, secret_variables=(config.calls.key_env,)
        )


def verify_recorded(workspace: Workspace | Path | None = None, build: str | None = None) -> tuple[Build, Verified]:
    """Hash every recorded call of a build again, and check that what it used is there as it used it."""
    chosen, _, places = _open(workspace, build)
    with chosen.workspace.relative_paths():
        seen = verify_calls(places)
        for row in used_calls(chosen):
            if seen.recs.get(row.key) != row.rec:
                what = "is not recorded" if row.key not in seen.recs else "is recorded with another reply"
                seen.found.add("call-missing", f"a {row.prompt_id} call that the build used {what}", id=row.key)
    seen.found.kept = [chosen.workspace.relative_finding(row) for row in seen.found.kept]
    return chosen, seen


def seal_calls(workspace: Workspace | Path | None = None, build: str | None = None) -> Sealed:
    """Fold what was recorded into the frozen outputs."""
    chosen, _, places = _open(workspace, build)
    with chosen.workspace.relative_paths():
        return seal(places)


def compare_judges(workspace: Workspace | Path | None = None, build: str | None = None) -> Confusion:
    """Verdicts of the rules against those of the model on the same clusters and items.

    Raises:
        UsageError: no model has judged.
    """
    chosen = find_build(workspace, build)
    paths = [path for folder in (chosen.inventory, chosen.composed) if (path := folder / AGREEMENT).is_file()]
    if not paths:
        missing = chosen.relative(chosen.inventory / AGREEMENT)
        raise UsageError(f"{missing} is not there: no model has judged this build yet")
    confusion = Confusion()
    for path in paths:
        for row in read_jsonl(path, Agreement):
            confusion.counts[row.kind, row.rules, row.model] += 1
            if row.rules != row.model:
                confusion.differing.append(row)
    return confusion


def prune_calls(
    workspace: Workspace | Path | None = None, build: str | None = None, *, apply: bool = False
) -> tuple[str, ...]:
    """Find the recorded calls that the build does not use, and remove them if told so.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As there.
        apply: Remove them.

    Returns:
        Their keys.

    Raises:
        UsageError: the build has not run to its end with these records, or asks no model: what it uses is not known.
        CacheCorrupt: a record is damaged.
    """
    chosen, config, places = _open(workspace, build)
    asking = ((chosen.inventory, mining_asks(config)), (chosen.composed, composing_asks(config)))
    if not asks_a_model(config):
        raise UsageError("this build asks no model: whether its recorded calls are of use to another is not known")
    missing = [folder for folder, asks in asking if asks and not (folder / CALLS).is_file()]
    if missing:
        raise UsageError(f"what this build uses is not known: no {chosen.relative(missing[0] / CALLS)}. Run it first")
    with chosen.workspace.relative_paths(), sealing_lock(places) if apply else contextlib.nullcontext():
        used = {row.key.encode("ascii") for row in used_calls(chosen)}
        found = verify_calls(places).found
        if [row for row in found.kept if row.code != "call-torn"]:
            raise DataError.from_findings(found.kept, total=found.total)
        removed: list[str] = []
        for path in places.shards():
            lines = path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if line[8:72] in used]
            removed += [line[8:72].decode("ascii") for line in lines if line[8:72] not in used]
            if apply and len(kept) < len(lines):
                if kept:
                    write_bytes(path, b"".join(kept))
                else:
                    path.unlink()
    return tuple(sorted(removed))


def explain_call(workspace: Workspace | Path | None, build: str | None, key: str) -> Explanation:
    """Everything there is to know about a call, given by its key or the beginning of it.

    Raises:
        UsageError: no call or several calls of the build begin like that.
    """
    from nclue_build.calls.cache import CallCache  # noqa: PLC0415 - only here
    from nclue_build.calls.response import read_response  # noqa: PLC0415 - only here

    chosen, _, places = _open(workspace, build)
    with chosen.workspace.relative_paths():
        cache = CallCache(places)
        prompt_ids = sorted({path.parent.name for path in places.shards()})
        recorded = [
            (place, record)
            for prompt_id in prompt_ids
            for place, record in cache.records(prompt_id)
            if record.key.startswith(key)
        ]
        waiting = {
            call.key: call
            for required in (False, True)
            for call in read_pending(chosen, required=required)
            if call.key.startswith(key)
        }
        names = {record.key for _, record in recorded} | waiting.keys()
        if len(names) != 1:
            raise UsageError(f"{len(names)} calls of this build begin with {key!r}: give more of the key")
        if recorded:
            place, record = recorded[0]
            return Explanation(
                key=record.key,
                state="recorded",
                place=f"{chosen.relative(place.path)}:{place.line}",
                request=record.request.model_dump(mode="json"),
                status=record.status,
                answered_by=record.answered_by,
                text=read_response(record.response, record.request).text,
                used_in=tuple(_uses(chosen, record.key)),
            )
        (call,) = waiting.values()
        nearest = NearestRequests(cache, call.request.prompt_id).find(call.request)
        return Explanation(
            key=call.key,
            state="missing",
            place=None,
            request=call.request.model_dump(mode="json"),
            used_in=(call.label,),
            nearest=None if nearest is None else str(nearest),
        )


def _uses(build: Build, key: str) -> Iterable[str]:
    """Files and lines of a build that name a call."""
    wanted = f'"call_key":"{key}"'.encode("ascii")
    for folder in (build.inventory, build.version(0), build.benchmark):
        for path in sorted(folder.glob("*.jsonl")):
            with path.open("rb") as stream:
                for number, line in enumerate(stream, start=1):
                    if wanted in line:
                        yield f"{build.relative(path)}:{number}"
