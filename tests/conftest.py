"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout the tests run in."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real corpora: NCLUE_REAL_DATA, else ../shared/data; the test is skipped where there is none."""
    named = os.environ.get("NCLUE_REAL_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set NCLUE_REAL_DATA to a folder of corpora")
    return folder


@pytest.fixture(autouse=True)
def _no_workspace_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NCLUE_WORKSPACE", raising=False)
