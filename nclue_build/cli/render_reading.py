"""Reading sheets and what came of them as replies."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from nclue_build.cli.reply import Reply, table
from nclue_build.core.phrases import counted
from nclue_build.workflow.reading import PAGE, SHEET

if TYPE_CHECKING:
    from nclue_build.reading.verdicts import StratumShares
    from nclue_build.workflow.reading import Reading, Sheet


def sheet_reply(sheet: Sheet) -> Reply:
    """Reply of ``report sheet``."""
    counts = Counter((item.kind, item.stratum) for item in sheet.items)
    strata = [
        {
            "kind": kind,
            "stratum": stratum,
            "drawn": count,
            "population": next(item.population for item in sheet.items if (item.kind, item.stratum) == (kind, stratum)),
        }
        for (kind, stratum), count in counts.items()
    ]
    folder = sheet.build.relative(sheet.folder)
    result = {
        "build": sheet.build.name,
        "build_sha256": sheet.items[0].build_sha256 if sheet.items else None,
        "page": f"{folder}/{PAGE}",
        "sheet": f"{folder}/{SHEET}",
        "strata": strata,
    }
    rows: list[tuple[str, object]] = [
        (f"{row['kind']}, {row['stratum']}", f"{row['drawn']} of {row['population']}") for row in strata
    ]
    rows += [("read", f"{folder}/{PAGE}"), ("fill in", f"{folder}/{SHEET}: verdict, reader, note")]
    text = (
        f"{counted(len(sheet.items), 'item')} of build {sheet.build.name!r} in {sheet.build.workspace.root}\n"
        f"{table(rows)}\nnext: nclue-build report verdicts {folder}/{SHEET}"
    )
    return Reply(result, text)


def verdicts_reply(reading: Reading) -> Reply:
    """Reply of ``report verdicts``."""
    result = {
        "build": reading.build.name,
        "build_sha256": reading.build_sha256,
        "seed": reading.seed,
        "readers": list(reading.readers),
        "strata": [asdict(row) for row in reading.shares],
        "written": None if reading.written is None else str(reading.written),
    }
    rows: list[tuple[str, object]] = [(f"{row.kind}, {row.stratum}", _shares(row)) for row in reading.shares]
    rows += [("read by", "; ".join(reading.readers) or "nobody yet")]
    if reading.written is not None:
        rows += [("without text", reading.written)]
    text = f"build {reading.build.name!r}, {reading.build_sha256[:12]}, seed {reading.seed}\n{table(rows)}"
    return Reply(result, text)


def _shares(row: StratumShares) -> str:
    read = f"{row.read} of {row.drawn} read"
    shares = [
        f"{share.verdict} {share.count} = {100 * share.share:.1f}% ({100 * share.low:.1f}-{100 * share.high:.1f}%)"
        for share in row.shares
    ]
    return "; ".join([read, *shares])
