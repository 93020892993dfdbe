"""What the package imports is what it declares."""

from __future__ import annotations

import ast
import itertools
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def imported(path: Path) -> set[str]:
    """Top-level packages that a module imports anywhere, functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def plain(name: str) -> str:
    """A distribution's name in the one spelling that names are compared in."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_imported_package_is_declared(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    declared = {plain(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]) for line in lines}
    modules = list((repository / "nclue_build").rglob("*.py"))
    names = set[str]().union(*map(imported, modules)) - set(sys.stdlib_module_names) - {"nclue_build"}
    homes = packages_distributions()
    undeclared = {name for name in names if declared.isdisjoint(map(plain, homes.get(name, [name])))}
    assert undeclared == set()


def test_git_ignores_what_the_demonstration_makes_on_every_machine_and_nothing_else_of_it(repository: Path) -> None:
    lines = (repository / ".gitignore").read_text(encoding="utf-8").split()
    assert {"inventory/*/pages/", "!/inventory/demo/pages/", "benchmarks/*/beir/"} <= set(lines)
    assert not {"/inventory/demo/", "/benchmarks/demo/", "/demo/"} & set(lines)
