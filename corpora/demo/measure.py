"""Compares a run on the demo corpus with the planted truth.

``python corpora/demo/measure.py [WORKSPACE]`` reads ``corpora/demo/truth.json``, ``inventory/demo`` and
``benchmarks/demo`` below the workspace (this repository). It prints an example of every outcome of the page checks,
what became of the traps that the corpus sets, every concept that P0 lacks or has other pages for with what mining says
of it, and precision and recall over (document, concept, page). Documents outside the benchmark's corpus are left out.
The exit code is 1 when a trap caught something.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _reasons(inventory: Path) -> dict[str, list[str]]:
    """Why mining dropped what, by the folded forms of a cluster."""
    dropped: dict[str, list[str]] = defaultdict(list)
    for row in _rows(inventory / "rejected.jsonl"):
        dropped[row["id"]].append(f"{row['reason']} ({row['detail']})")
    found: dict[str, list[str]] = defaultdict(list)
    for row in _rows(inventory / "clusters.jsonl"):
        for form in row["aliases"]:
            found[form.casefold()] += dropped.get(row["cluster_id"], [])
    return found


def measure(workspace: Path) -> str:
    """The comparison as text, worst news last."""
    inventory = workspace / "inventory" / "demo"
    truth = json.loads((workspace / "corpora" / "demo" / "truth.json").read_bytes())["concepts"]
    quality = _rows(inventory / "documents_quality.jsonl")
    judged = {row["doc_id"] for row in quality if row["kind"] == "document" and row["in_benchmark"]}
    pages: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in _rows(inventory / "P0" / "evidence.jsonl"):
        pages[row["condition_id"]] |= {(row["doc_id"], page) for page in row["pages"]}
    by_form = {
        form.casefold(): row["condition_id"]
        for row in _rows(inventory / "P0" / "conditions.jsonl")
        for form in (row["name"], *(alias["form"] for alias in row["aliases"]))
    }
    reasons = _reasons(inventory)
    hits = extra = missed = 0
    lines = []
    for concept in truth:
        forms = [alias["form"].casefold() for alias in concept["aliases"]]
        found = set().union(*(pages[by_form[form]] for form in forms if form in by_form))
        planted = {(doc, page) for doc, numbers in concept["pages"].items() if doc in judged for page in numbers}
        hits, extra, missed = hits + len(found & planted), extra + len(found - planted), missed + len(planted - found)
        if found != planted:
            why = sorted({reason for form in forms for reason in reasons[form]}) or ["no candidate form"]
            cause = "" if found else f" not a condition: {'; '.join(why)}"
            lines.append(f"{concept['name']}:{cause} missed {sorted(planted - found)} extra {sorted(found - planted)}")
    precision, recall = hits / max(hits + extra, 1), hits / max(hits + missed, 1)
    lines.append(f"precision {precision:.4f}  recall {recall:.4f}  over {hits + missed} planted pages")
    return "\n".join(lines)


def outcomes(workspace: Path) -> str:
    """The first judgment of every outcome of the page checks and arity, with the pages that decide it."""
    benchmark = workspace / "benchmarks" / "demo"
    names = {row["query_id"]: [one["name"] for one in row["conditions"]] for row in _rows(benchmark / "queries.jsonl")}
    counts: Counter[tuple[int, str]] = Counter()
    first: dict[tuple[int, str], dict[str, Any]] = {}
    for row in _rows(benchmark / "qrels.jsonl"):
        key = (len(names[row["query_id"]]), row["gate"])
        counts[key] += 1
        first.setdefault(key, row)
    lines = []
    for (n, outcome), row in sorted(first.items()):
        pages = "; ".join(
            f"{name} p. {', '.join(map(str, found)) or '-'}"
            for name, found in zip(names[row["query_id"]], row["pages"], strict=True)
        )
        lines.append(
            f"n = {n}  {outcome}: {counts[n, outcome]}, such as grade {row['grade']}, {row['doc_id']}: {pages}"
        )
    return "\n".join(lines)


def traps(workspace: Path) -> list[tuple[str, bool]]:
    """What became of each trap that the corpus sets, and whether it went well."""
    inventory, benchmark = workspace / "inventory" / "demo", workspace / "benchmarks" / "demo"
    groups = [set(row["doc_ids"]) for row in _rows(inventory / "duplicates.jsonl")]
    rejected = {(row["detail"], row["reason"]) for row in _rows(inventory / "rejected.jsonl")}
    forms = {
        alias["form"].casefold() for row in _rows(inventory / "P0" / "conditions.jsonl") for alias in row["aliases"]
    }
    qrels = _rows(benchmark / "qrels.jsonl")
    golds = {row["doc_id"] for row in qrels if row["gold"]}
    shared = [row for row in qrels if row["gold"] and len(set(row["witness"])) < len(row["witness"])]
    return [
        (
            "a report and its second printing are one group of near duplicates, and no other document is in one",
            groups == [{"harrow-tunnel-refurbishment", "harrow-tunnel-second-printing"}],
        ),
        (
            'the wording of the five forms is template text ("duty holder declaration" is no condition)',
            ("duty holder declaration", "template") in rejected and not any("duty holder" in form for form in forms),
        ),
        (
            'what stands in headers, contents and references alone is no condition ("dredging licence register")',
            not any("dredging licen" in form for form in forms),
        ),
        ('the acronym of two things is no alias of either ("CRS")', "crs" not in forms),
        (
            "the German report and the filler draft are gold for no query",
            golds.isdisjoint({"lenn-hochwasserbericht", "selmouth-museum-draft"}),
        ),
        ("no gold shows two conditions on one page alone", not shared),
    ]


def main(workspace: Path) -> int:
    """Print it all."""
    found = traps(workspace)
    report = [
        "page checks",
        outcomes(workspace),
        "",
        "traps",
        *(f"{'ok ' if well else 'BAD'} {what}" for what, well in found),
        "",
        "P0 against the planted truth",
        measure(workspace),
    ]
    sys.stdout.write("\n".join(report) + "\n")
    return 0 if all(well for _, well in found) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
