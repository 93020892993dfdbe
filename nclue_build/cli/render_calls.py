"""Results of ``nclue-build calls`` as replies."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nclue_build.cli.reply import Reply, table
from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK
from nclue_build.core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.calls.client.probe import Probe
    from nclue_build.calls.imports import Imported
    from nclue_build.calls.seal import Sealed
    from nclue_build.calls.verify import Verified
    from nclue_build.store.workspace import Build
    from nclue_build.workflow.calls import CallsStatus, Confusion, Explanation, Exported
    from nclue_build.workflow.estimating import Estimate

_DIFFERING_SHOWN = 10
_VERDICTS = {"cluster": ("KEEP", "SPLIT", "REJECT", "NONE"), "item": ("QUOTED", "REFUSED", "NONE")}
"""What a model may say of a case, by its kind."""
_TEXT_SHOWN = 2000


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def status_reply(status: CallsStatus) -> Reply:
    """Reply of ``calls status``."""
    result = {
        "build": status.build.name,
        "generation": status.generation,
        "generations": list(status.generations),
        "records": dict(status.records),
        "statuses": dict(status.statuses),
        "answered_by": dict(status.answered_by),
        "used": dict(status.used),
        "missing_records": list(status.missing_records),
        "orphaned": list(status.orphaned),
        "pending": dict(status.pending),
        "optional": dict(status.optional),
        "unsealed_segments": status.unsealed,
        "follows": status.follows,
    }
    rows: list[tuple[str, object]] = [
        ("generation", f"{status.generation} of {', '.join(map(str, status.generations)) or 'none'}"),
        ("recorded", _listed(status.records) or "none"),
        ("outcomes", _listed(status.statuses)),
        ("answered by", _listed(status.answered_by)),
        ("used", _listed(status.used)),
        ("used, and gone", len(status.missing_records) or ""),
        ("orphaned", len(status.orphaned) or ""),
        ("missing", _listed(status.pending) or "none known: run the build, or 'nclue-build calls export FILE'"),
        ("after them", status.follows),
        ("optional", _listed(status.optional)),
        ("unsealed", counted(status.unsealed, "segment") if status.unsealed else ""),
    ]
    text = f"calls of build {status.build.name!r} in {status.build.workspace.root}\n{table(rows)}"
    return Reply(result, text, status.findings, EXIT_FINDINGS if status.findings else EXIT_OK)


def estimate_reply(found: Estimate) -> Reply:
    """Reply of ``calls estimate``."""
    return Reply(asdict(found), table(estimate_rows(found)))


def estimate_rows(found: Estimate) -> list[tuple[str, object]]:
    """What missing calls come to, as rows of a table."""
    if found.known == "all":
        return [("calls", "none: every call that was asked for is recorded")]
    if not found.calls and found.refused is not None:
        return [("calls", f"not known, and the build cannot run: {found.refused}")]
    if not found.calls:
        unknown = f"not known: {found.stage or 'a stage'} has to run to find out, and it may ask for any number"
        return [("calls", unknown), ("", "'nclue-build calls export FILE' runs that far, and asks nobody")]
    cost = f"at most about {found.max_cost} {found.currency}, at the price from {found.price_since} on"
    rows: list[tuple[str, object]] = [
        ("calls", _listed(found.calls)),
        ("input", f"about {found.input_tokens} tokens (4 characters each)"),
        ("output", f"at most {found.max_output_tokens} tokens"),
        ("cost", cost if found.max_cost is not None else "unknown: the model has no price ([calls] prices)"),
        ("", f"this round only; {found.follows or 'nothing follows'}: how many depends on the answers"),
        ("", "as the last run or export listed them"),
    ]
    if found.refused is not None:
        rows[-1] = ("", f"as they were listed; now the build cannot run: {found.refused}")
    elif found.known == "outdated":
        rows[-1] = ("", f"listed before something changed ({'; '.join(found.changed)}): others may be asked for")
    return rows


def export_reply(exported: Exported) -> Reply:
    """Reply of ``calls export``."""
    total = sum(exported.calls.values())
    result = {"file": str(exported.path), "calls": dict(exported.calls), "n_calls": total, "follows": exported.follows}
    if not total:
        return Reply(result, f"nothing is missing; {exported.path} is empty")
    lines = [
        f"{counted(total, 'call')} in {exported.path} ({_listed(exported.calls)})",
        f"this round: {', '.join(exported.calls)}; {exported.follows}",
        "next: have them answered, then: nclue-build calls import FILE --answered-by NAME",
    ]
    return Reply(result, "\n".join(lines))


def import_reply(done: Imported) -> Reply:
    """Reply of ``calls import``: refused lines are findings, and exit code 1."""
    recorded = dict(sorted(done.recorded.items()))
    result = {
        "recorded": recorded,
        "known": done.known,
        "rejected": dict(sorted(done.reasons.items())),
        "n_rejected": done.rejected.total,
        "left": done.left,
    }
    rows: list[tuple[str, object]] = [
        ("recorded", _listed(recorded) or "none"),
        ("known already", done.known or ""),
        ("refused", _listed(dict(sorted(done.reasons.items())))),
        ("still missing", done.left),
    ]
    code = EXIT_FINDINGS if done.rejected.total else EXIT_OK
    return Reply(result, table(rows), done.rejected.kept, code)


def verify_reply(build: Build, seen: Verified) -> Reply:
    """Reply of ``calls verify``; a torn last line alone is tolerated."""
    result = {
        "build": build.name,
        "counts": dict(seen.counts),
        "answered_by": dict(seen.answered_by),
        "n_findings": seen.found.total,
        "findings_by_code": seen.found.by_code,
    }
    wrong = seen.found.total - seen.found.by_code.get("call-torn", 0)
    rows: list[tuple[str, object]] = [
        ("files", seen.files),
        ("records", seen.records),
        ("outcomes", _listed(dict(sorted(seen.statuses.items())))),
        ("verdict", "every byte is as it was written" if not wrong else counted(wrong, "finding")),
    ]
    return Reply(result, table(rows), seen.found.kept, EXIT_FINDINGS if wrong else EXIT_OK)


def why_reply(found: Explanation) -> Reply:
    """Reply of ``calls why KEY``."""
    rows: list[tuple[str, object]] = [
        ("call", found.key),
        ("state", found.state),
        ("record", found.place),
        ("outcome", found.status),
        ("answered by", found.answered_by),
        *((name, value) for name, value in found.request.items() if name not in {"system", "messages"}),
        ("nearest", found.nearest),
        ("about" if found.state == "missing" else "used in", ", ".join(found.used_in)),
    ]
    messages = found.request["messages"]
    asked = "\n".join(str(row["content"]) for row in messages) if isinstance(messages, list) else ""
    parts = [table(rows), "asked\n" + _short(asked)]
    if found.text is not None:
        parts.append("answered\n" + _short(found.text))
    return Reply(asdict(found) | {"used_in": list(found.used_in)}, "\n\n".join(parts))


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_SHOWN else text[:_TEXT_SHOWN] + " [...]"


def agree_reply(confusion: Confusion) -> Reply:
    """Reply of ``calls agree``: a confusion table of clusters, and one of items; rows the rules, columns the model."""
    parts = [_confusion_table(confusion, kind) for kind in _VERDICTS if any(kind == key[0] for key in confusion.counts)]
    result = {
        "n_cases": confusion.counts.total(),
        "n_same": sum(number for (_, one, other), number in confusion.counts.items() if one == other),
        "counts": [
            {"kind": kind, "rules": one, "model": other, "n": number}
            for (kind, one, other), number in sorted(confusion.counts.items())
        ],
        "differing": [row.model_dump(mode="json") for row in confusion.differing],
    }
    return Reply(result, "\n\n".join(parts))


def _confusion_table(confusion: Confusion, kind: str) -> str:
    counts = {key[1:]: number for key, number in confusion.counts.items() if key[0] == kind}
    models = [name for name in _VERDICTS[kind] if any(name == model for _, model in counts)]
    rules = sorted({one for one, _ in counts})
    same = sum(number for (one, other), number in counts.items() if one == other)
    lines = ["  " + "".join(f"{name:>9}" for name in ("rules", *models))]
    lines += ["  " + f"{name:>9}" + "".join(f"{counts.get((name, model), 0):>9}" for model in models) for name in rules]
    lines.append(f"  same verdict on {same} of {counted(sum(counts.values()), kind)}")
    differing = [row for row in confusion.differing if row.kind == kind]
    lines += [
        f"  {row.case_id}: rules {row.rules} ({row.rules_reason}), model {row.model} ({row.model_reason})"
        for row in differing[:_DIFFERING_SHOWN]
    ]
    if len(differing) > _DIFFERING_SHOWN:
        lines.append(f"  ... and {len(differing) - _DIFFERING_SHOWN} more: --json lists them all")
    return "\n".join(lines)


def prune_reply(keys: Sequence[str], *, applied: bool) -> Reply:
    """Reply of ``calls prune``."""
    what = "removed" if applied else "not used by the build; --apply removes them"
    return Reply({"keys": list(keys), "applied": applied}, f"{counted(len(keys), 'recorded call')} {what}")


def probe_reply(probe: Probe) -> Reply:
    """Reply of ``calls probe``: exit code 1 where a build could not work with the service."""
    rows: list[tuple[str, object]] = [("model", probe.model), ("service", probe.host), ("calls", probe.calls)]
    rows += [(one.name, f"{'ok' if one.ok else 'NOT OK'}: {one.what}") for one in probe.found]
    ok = all(one.ok for one in probe.found)
    return Reply(asdict(probe) | {"ok": ok}, table(rows), exit_code=EXIT_OK if ok else EXIT_FINDINGS)


def seal_reply(done: Sealed) -> Reply:
    """Reply of ``calls seal``."""
    result = {
        "added": done.added,
        "known": done.known,
        "files": done.files,
        "segments_left": done.segments_left,
        "n_torn": len(done.torn),
    }
    rows: list[tuple[str, object]] = [
        ("sealed", f"{counted(done.added, 'record')} into {counted(done.files, 'file')}"),
        ("known already", done.known or ""),
        ("still recording", counted(done.segments_left, "process") if done.segments_left else ""),
    ]
    return Reply(result, table(rows), done.torn)
