"""An attacker with a pencil: one small random change to one file of a good build, and what gate and validate say of it.

Every digest that another file records is made right again after a change, so that what finds it is a comparison, never
a checksum. Receipts, which hold digests of everything, are not there at all.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.defects.conftest import Row, TinyBuild

ROWS = (
    "inventory/tiny/documents.jsonl", "inventory/tiny/documents_quality.jsonl", "inventory/tiny/duplicates.jsonl",
    "inventory/tiny/pages/alpha.jsonl", "inventory/tiny/pages/gamma.jsonl", "inventory/tiny/surface_forms.jsonl",
    "inventory/tiny/clusters.jsonl", "inventory/tiny/rejected.jsonl", "inventory/tiny/P0/conditions.jsonl",
    "inventory/tiny/P0/evidence.jsonl", "benchmarks/tiny/queries.jsonl", "benchmarks/tiny/qrels.jsonl",
    "benchmarks/tiny/rejected.jsonl", "benchmarks/tiny/beir/corpus.jsonl", "benchmarks/tiny/beir/queries.jsonl",
    "benchmarks/tiny/beir/qrels/test.jsonl", "benchmarks/tiny/beir/qrels/gold.jsonl",
)  # fmt: skip
FILES = (
    "inventory/tiny/P0/version.json", "benchmarks/tiny/qrels.meta.json", "benchmarks/tiny/composition.json",
    "benchmarks/tiny/forms_qa.json", "benchmarks/tiny/gate.json",
)  # fmt: skip
LINES = (
    "benchmarks/tiny/qrels.trec", "benchmarks/tiny/qrels.gold.trec", "benchmarks/tiny/qrels.conditions.trec",
    "benchmarks/tiny/qrels.pages.trec", "benchmarks/tiny/n2/qrels.trec", "benchmarks/tiny/n2/qrels.gold.trec",
    "benchmarks/tiny/n3/qrels.trec", "benchmarks/tiny/n3/qrels.gold.trec", "benchmarks/tiny/beir/qrels/test.tsv",
    "benchmarks/tiny/beir/qrels/gold.tsv", "benchmarks/tiny/beir/README.md",
)  # fmt: skip
SEALED = {"inventory/tiny/P0/conditions.jsonl", "inventory/tiny/P0/evidence.jsonl", "benchmarks/tiny/qrels.jsonl"}
LETTERS = "aeinrstAB01 .-"


@dataclass
class Series:
    """What became of a series of changes; fields are named as docs/gate.md names them."""

    n: int = 0
    by_gate: int = 0
    by_validate: int = 0
    missed: Counter[str] = field(default_factory=Counter)

    @property
    def found(self) -> int:
        return self.n - self.missed.total()


def run_series(tiny: TinyBuild, seed: int, n: int) -> Series:
    """Make ``n`` changes, each to the untouched build."""
    series = Series()
    generator = random.Random(seed)  # noqa: S311 - no secret
    root = tiny.build.workspace.root
    kept = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    while series.n < n:
        name = generator.choice(ROWS + FILES + LINES)
        where = change_file(root / name, name, generator)
        if where is None or (root / name).read_bytes() == kept[root / name]:
            continue
        if name in SEALED:
            tiny.seal()
        series.n += 1
        validated, gated = bool(tiny.validate().n_findings), bool(tiny.gate_codes())
        series.by_validate += validated
        series.by_gate += gated
        if not (validated or gated):
            series.missed[where] += 1
        for path, data in kept.items():
            if path.read_bytes() != data:
                path.write_bytes(data)
    return series


def change_file(path: Path, name: str, generator: random.Random) -> str | None:
    """Change one thing; gives its name, None where there is nothing to change."""
    shown = name.replace("/tiny/", "/<build>/").replace("pages/alpha", "pages/<doc_id>")
    shown = shown.replace("pages/gamma", "pages/<doc_id>")
    if name in FILES:
        value: Row = json.loads(path.read_bytes())
        label = change_value(value, generator)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")
        return label and f"{shown} {label}"
    lines = path.read_text("utf-8").splitlines()
    if not lines:
        return None
    if generator.random() < 0.25:
        change_list(lines, generator)
        label = "(rows)"
    elif name in LINES:
        index = generator.randrange(len(lines))
        lines[index] = change_text(lines[index], generator)
        label = "(text)"
    else:
        index = generator.randrange(len(lines))
        row: Row = json.loads(lines[index])
        label = change_value(row, generator) or ""
        lines[index] = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return f"{shown} {label}" if label else None


def in_short(label: str) -> str:
    """A name without the names that are data, such as the reasons for which something was dropped."""
    return re.sub(r"^((steps\.)?(enumerated|dropped|blocked|sampled|verified|selected))\..*", r"\1", label)


def places(value: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every value inside another one: its name without positions, what it stands in, and its key there."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        inner_name = f"{name}.{key}" if isinstance(value, dict) else name
        yield inner_name.removeprefix("."), value, key
        if isinstance(inner, dict | list):
            yield from places(inner, inner_name)


def change_value(value: Row, generator: random.Random) -> str | None:
    """Change one value somewhere inside; gives its name."""
    found = list(places(value))
    names = sorted({name for name, *_ in found})
    name = generator.choice(names)  # every field equally often, however many values it has
    _, holder, key = generator.choice([place for place in found if place[0] == name])
    holder[key] = changed(holder[key], generator)
    return in_short(name)


def changed(value: Any, generator: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return max(0, value + generator.choice([-1, 1, 1, 7]))
    if isinstance(value, str):
        return change_text(value, generator)
    if isinstance(value, list):
        copy = list(value)
        change_list(copy, generator)
        return copy
    if value is None:
        return generator.choice(["a" * 64, 1, [1]])
    return value


def change_text(text: str, generator: random.Random) -> str:
    index = generator.randrange(len(text) + 1)
    if text and generator.random() < 0.5:
        return text[:index] + text[index + 1 :]
    return text[:index] + generator.choice(LETTERS) + text[index + 1 :]


def change_list(values: list[Any], generator: random.Random) -> None:
    """Drop, repeat or swap elements."""
    if not values:
        return
    index, other = generator.randrange(len(values)), generator.randrange(len(values))
    act: Callable[[], object] = generator.choice([
        lambda: values.pop(index),
        lambda: values.insert(index, values[index]),
        lambda: values.__setitem__(slice(None), swapped(values, index, other)),
    ])  # fmt: skip
    act()


def swapped(values: list[Any], first: int, second: int) -> list[Any]:
    copy = list(values)
    copy[first], copy[second] = copy[second], copy[first]
    return copy


if __name__ == "__main__":
    import importlib.util
    import sys
    import tempfile

    spec = importlib.util.spec_from_file_location("conftest", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    conftest = importlib.util.module_from_spec(spec)
    sys.modules["conftest"] = conftest
    spec.loader.exec_module(conftest)
    with tempfile.TemporaryDirectory() as folder:
        seed, n = int(sys.argv[1]), int(sys.argv[2])
        series = run_series(conftest.make(Path(folder), "page"), seed, n)
    print(f"{series.n} changes: {series.found} found ({series.by_gate} by gate, {series.by_validate} by validate)")  # noqa: T201
    for name, count in sorted(series.missed.items()):
        print(f"{count:5} {name}")  # noqa: T201
