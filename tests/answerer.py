"""A TEST ANSWERER: answers a batch file by fixed rules that read nothing. It is no model and no person.

Its answers only have the right shape, so that the way of calls from export to replay can be tested from end to end. No
figure about quality may come from it.

python tests/answerer.py BATCH ANSWERS
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

NAME = "test-answerer (fixed rules, no model)"
_FORM = re.compile(r"^- (.+) \(\d+ documents, \d+ pages\)$", re.MULTILINE)
_CONDITION = re.compile(r"^(c\d+): .*\n   surface forms: (.*)$", re.MULTILINE)
_PAGE = re.compile(r'<page id="p\d+">\n(.*?)\n</page>', re.DOTALL)


def answer_cluster(text: str) -> dict[str, Any]:
    """KEEP, except for a name that starts with X; SPLIT where there are forms with and without an s at the end."""
    forms = _FORM.findall(text)
    name = text.split("\n", 1)[0].removeprefix("Name: ")
    if len(forms) > 1 and {form.endswith("s") for form in forms} == {True, False}:
        return {"verdict": "SPLIT", "reason": "test", "rubric": None}
    if name.lower().startswith("x"):
        return {"verdict": "REJECT", "reason": "test", "rubric": None}
    rubric = {
        "requirement": f"The page must discuss {name}.",
        "counts": "test",
        "does_not_count": "test",
        "note": None,
    }
    return {"verdict": "KEEP", "reason": "test", "rubric": rubric}


def answer_partition(text: str) -> dict[str, Any]:
    """Forms with and without an s at the end."""
    listed = text.split("Surface forms:\n", 1)[1].split("\n\n", 1)[0]
    forms = [line.removeprefix("- ") for line in listed.splitlines()]
    groups = [[form for form in forms if form.endswith("s") == plural] for plural in (False, True)]
    return {"groups": [group for group in groups if group], "reason": "test"}


def answer_item(text: str) -> dict[str, Any]:
    """The first line of a page that holds a form, cut to 300 characters around it."""
    lines = [line for page in _PAGE.findall(text) for line in page.splitlines()]
    rows = []
    for key, listed in _CONDITION.findall(text.split("Pages of the document:", 1)[0]):
        places = [
            (line, found)
            for form in listed.split("; ")
            for line in lines
            if (found := re.search(rf"\b{re.escape(form)}\b", line, re.IGNORECASE)) and len(line) >= 40
        ]
        if places:
            line, found = places[0]
            start = line.rfind(" ", 0, max(0, found.start() - 100)) + 1
            end = line.find(" ", min(len(line), start + 250))
            rows.append({"id": key, "present": True, "evidence": line[start : end if end > 0 else len(line)].strip()})
        else:
            rows.append({"id": key, "present": False, "evidence": None})
    return {"conditions": rows}


def answer_page(text: str) -> dict[str, Any]:
    """Every capitalised phrase of two to four words, in its sentence."""
    (page,) = _PAGE.findall(text) or [""]
    facts = []
    for found in re.finditer(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+){1,3}\b", page):
        start, end = max(page.rfind("\n", 0, found.start()) + 1, found.start() - 100), found.end() + 100
        span = page[start:end].split("\n", 1)[0]
        facts.append({"fact": "test", "form": found[0], "span": span})
    return {"facts": facts[:10]}


def answer_paraphrase(text: str) -> dict[str, Any]:
    """The concepts in a row."""
    concepts = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]
    return {"paraphrase": f"Which report deals with {', as well as with '.join(concepts)}?"}


ANSWERS = (
    ("Do these surface forms name one concept", answer_cluster),
    ("Divide the surface forms", answer_partition),
    ("Which conditions do these pages establish", answer_item),
    ("List the concepts this page", answer_page),
    ("Write the search request", answer_paraphrase),
)


def message(text: str) -> dict[str, Any]:
    """A message of the Messages API with one text."""
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }


def answer(row: dict[str, Any]) -> dict[str, Any]:
    """The result line of a request line."""
    text = row["params"]["messages"][-1]["content"]
    reply = next(function for mark, function in ANSWERS if mark in text)(text)
    result = {"type": "succeeded", "message": message(json.dumps(reply, ensure_ascii=False))}
    return {"custom_id": row["custom_id"], "result": result}


def main() -> None:
    """Answer a batch file, in shuffled order."""
    batch, answers = map(Path, sys.argv[1:3])
    rows = [answer(json.loads(line)) for line in batch.read_text(encoding="utf-8").split("\n") if line]
    random.Random(7).shuffle(rows)  # noqa: S311 - any order will do
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
