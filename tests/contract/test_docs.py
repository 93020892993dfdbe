"""Links between the pages of the documentation lead somewhere, and every page can be found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]+)(?:#[^)]*)?\)")


def pages(repository: Path) -> list[Path]:
    return [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]


def test_links_lead_somewhere(repository: Path) -> None:
    broken = [
        (page.name, target)
        for page in pages(repository)
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_index_knows_every_page(repository: Path) -> None:
    index = (repository / "docs" / "index.md").read_text(encoding="utf-8")
    names = {page.name for page in (repository / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in names if f"({name})" not in index} == set()


def test_the_readme_shows_both_commands_and_a_users_two_lines(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    for line in ("make demo", "make test", "nclue-build init work --pdfs ~/reports", "nclue-build -w work run"):
        assert line in text


def test_the_command_line_reference_is_what_the_program_says(
    repository: Path, load_script: Callable[[Path], Any]
) -> None:
    """Renew it with ``python docs/cli_reference.py``."""
    module = load_script(repository / "docs" / "cli_reference.py")
    assert (repository / "docs" / "cli-reference.md").read_text(encoding="utf-8") == module.reference()
