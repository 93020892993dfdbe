"""The committed demonstration build is what a run makes of the committed corpus, byte for byte.

``make demo`` renews it; the difference then shows in version control.
"""

from __future__ import annotations

import subprocess
import sys
from difflib import unified_diff
from typing import TYPE_CHECKING

import pytest

from nclue_build import validate_build

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("inventory/demo", "benchmarks/demo")
SHOWN_LINES = 20

pytestmark = pytest.mark.xdist_group("demo")  # one run serves all tests of it


def contents(root: Path, folder: str) -> dict[str, bytes]:
    """Every file below a folder, apart from BEIR's: that holds the corpus again and is made on every machine."""
    found = (path for path in (root / folder).rglob("*") if path.is_file())
    by_name = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    return {name: data for name, data in by_name.items() if not name.startswith("benchmarks/demo/beir/")}


def difference(name: str, old: bytes, new: bytes) -> str:
    lines = unified_diff(old.decode().splitlines(), new.decode().splitlines(), "committed", name, n=0, lineterm="")
    return "\n".join(line[:300] for line, _ in zip(lines, range(SHOWN_LINES), strict=False))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_fresh_run_makes_the_committed_files(repository: Path, fresh_demo: Path, folder: str) -> None:
    committed, made = contents(repository, folder), contents(fresh_demo, folder)
    assert committed, "nothing is committed"
    assert sorted(committed) == sorted(made)
    differing = {name: difference(name, committed[name], made[name]) for name in made if committed[name] != made[name]}
    assert differing == {}


def test_validation_finds_nothing(fresh_demo: Path) -> None:
    assert validate_build(fresh_demo, "demo").findings == ()


def test_the_truth_is_recovered_and_no_trap_catches(repository: Path, fresh_demo: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, repository / "corpora" / "demo" / "measure.py", fresh_demo],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1].split()
    precision, recall, n_pages = float(last[1]), float(last[3]), int(last[5])
    assert precision >= 0.98
    assert recall >= 0.98
    assert n_pages >= 400
    for n, outcome in [(n, name) for n in (2, 3) for name in ("ok", "incomplete")] + [
        (2, "single_page"),
        (3, "no_assignment"),
    ]:
        assert f"n = {n}  {outcome}: " in done.stdout


def test_there_are_enough_queries_of_both_arities(fresh_demo: Path) -> None:
    lines = [(fresh_demo / "benchmarks" / "demo" / f"n{n}" / "qrels.trec").read_text().splitlines() for n in (2, 3)]
    n_queries = [len({line.split()[0] for line in part}) for part in lines]
    assert sum(n_queries) >= 60
    assert min(n_queries) >= 10
