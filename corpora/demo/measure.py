"""Compares P0 of a run on the demo corpus with the planted truth.

``python corpora/demo/measure.py [WORKSPACE]`` reads ``corpora/demo/truth.json`` and ``inventory/demo`` below the
workspace (this repository) and prints precision and recall over (document, concept, page), and every concept that
P0 lacks or has other pages for, with what mining says of it. Documents outside the benchmark's corpus are left out.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
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


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    sys.stdout.write(f"{measure(root)}\n")
