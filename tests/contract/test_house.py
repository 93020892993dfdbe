"""The wheel, the lock and the files a checkout must have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(  # noqa: S603 - the build back end of this environment, no network
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=repository, check=True, capture_output=True,
    )  # fmt: skip
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_its_assets(wheel: Path, repository: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        template = archive.read("nclue_build/_assets/configs/template.toml").decode()
    tracked = subprocess.run(
        ["git", "ls-files", "nclue_build"],  # noqa: S607 - whichever git there is
        cwd=repository, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert set(tracked) <= names
    assert template == (repository / "configs" / "template.toml").read_text(encoding="utf-8")
    assert {"nclue_build/py.typed"} <= names
    assert [name for name in names if name.startswith(("tests/", "docs/", "corpora/"))] == []
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "License-Expression: AGPL-3.0-or-later" in metadata


def test_the_lock_is_complete_and_names_no_place(repository: Path) -> None:
    text = (repository / "requirements.lock").read_text(encoding="utf-8")
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    assert re.findall(r"://|^-|file:|/home|/tmp|@ ", text, re.MULTILINE) == []
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["test"], *groups["lint"], *groups["build"]]
    names = {re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower() for requirement in wanted}
    assert names - locked.keys() == set()
    stanzas = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert [stanza.split()[0] for stanza in stanzas if "--hash=sha256:" not in stanza] == []


def test_the_licence_is_whole(repository: Path) -> None:
    text = (repository / "LICENSE").read_text(encoding="utf-8")
    assert text.split()[:5] == ["GNU", "AFFERO", "GENERAL", "PUBLIC", "LICENSE"]
    assert "13. Remote Network Interaction" in text
    assert text.rstrip().endswith("<https://www.gnu.org/licenses/>.")


@pytest.mark.parametrize("contract", ["lint-imports"])
def test_layers(repository: Path, contract: str) -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, f"{contract}: {done.stdout}"
    assert "0 broken" in done.stdout


def test_scoring_and_releasing_never_ask_a_model(repository: Path) -> None:
    """Import-linter cannot forbid what a package that is not there yet will import."""
    wrong = [
        str(path)
        for name in ("score", "release")
        for path in (repository / "nclue_build" / name).rglob("*.py")
        if re.search(r"nclue_build\.calls|from nclue_build import .*\bcalls\b", path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


@pytest.mark.xdist_group("house")
def test_workers_keep_the_tests_of_a_group_together(request: pytest.FixtureRequest) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ or not request.config.getoption("loadgroup"):
        pytest.skip("only where pytest-xdist distributes groups")
    assert request.node.nodeid.endswith("@house"), "every worker would run the corpora again"
