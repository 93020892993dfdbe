from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError, Finding, UsageError
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


def test_errors_leave_with_paths_as_shown(root: Path) -> None:
    build = add(root, "one").choose_build()
    outside = root.parent / "elsewhere" / "rows.jsonl"
    found = [
        Finding("bad-record", "no", str(build.documents), 3),
        Finding("bad-record", "no", str(outside), 1),
        Finding("bad-record", "no", "configs/one.toml"),
    ]
    with pytest.raises(DataError) as caught, build.workspace.relative_paths():
        raise DataError.from_findings(found)
    shown = ["inventory/one/documents.jsonl", "../elsewhere/rows.jsonl", "configs/one.toml"]
    assert [finding.path for finding in caught.value.findings] == shown
    assert (
        caught.value.message
        == str(caught.value)
        == (f"{shown[0]}:3: no [bad-record]\n{shown[1]}:1: no [bad-record]\n{shown[2]}: no [bad-record]")
    )
    with pytest.raises(UsageError, match=r"^configs/one.toml: bad$"), build.workspace.relative_paths():
        raise UsageError(f"{build.config_path}: bad")
