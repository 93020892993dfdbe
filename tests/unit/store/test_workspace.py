from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import UsageError
from nclue_build.store.atomic import write_text
from nclue_build.store.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "w").resolve()
    write_text(folder / "configs" / "workspace.toml", "schema = 1\n")
    return folder


def add(root: Path, *names: str) -> Workspace:
    for name in names:
        write_text(root / "configs" / f"{name}.toml", "schema = 1\n")
    return Workspace(root)


def test_explicit_then_environment_then_the_nearest_above(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert Workspace.find() == Workspace(root)
    other = (tmp_path / "other").resolve()
    write_text(other / "configs" / "workspace.toml", "schema = 1\n")
    monkeypatch.setenv("NCLUE_WORKSPACE", str(other))
    assert Workspace.find() == Workspace(other)
    assert Workspace.find(root) == Workspace(root)
    with pytest.raises(UsageError, match="is no workspace"):
        Workspace.find(tmp_path)


def test_no_workspace_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no workspace here"):
        Workspace.find()


def test_the_build_named_the_only_one_or_the_default(root: Path) -> None:
    with pytest.raises(UsageError, match="holds no build configuration"):
        Workspace(root).choose_build()
    workspace = add(root, "one", "template")
    assert workspace.builds() == ["one"]
    assert workspace.choose_build().name == "one"
    add(root, "two")
    with pytest.raises(UsageError, match=r"several builds here \(one, two\): choose one with --build"):
        workspace.choose_build()
    assert workspace.choose_build("two").name == "two"
    with pytest.raises(UsageError, match="no build 'three' here: there is one, two"):
        workspace.choose_build("three")
    write_text(root / "configs" / "workspace.toml", 'schema = 1\ndefault_build = "two"\n')
    assert workspace.choose_build().name == "two"


def test_paths_are_shown_from_the_workspace(root: Path) -> None:
    build = add(root, "one").choose_build()
    assert build.relative(build.page_file("d1")) == "inventory/one/pages/d1.jsonl"
    assert build.relative(build.version(2)) == "inventory/one/P2"
    assert build.relative(root.parent / "elsewhere" / "a.pdf") == "../elsewhere/a.pdf"
