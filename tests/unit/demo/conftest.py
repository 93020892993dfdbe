"""The demo generator, loaded from its file, and what it makes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = Path(__file__).parents[3] / "corpora" / "demo"


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    return DEMO


@pytest.fixture(scope="session")
def typeset(load_script: Callable[[Path], Any]) -> Any:
    return load_script(DEMO / "typeset.py")


@pytest.fixture(scope="session")
def generator(load_script: Callable[[Path], Any], typeset: Any) -> Any:
    assert typeset is sys.modules["typeset"]
    return load_script(DEMO / "generate.py")


@pytest.fixture(scope="session")
def generated(generator: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    generator.generate(folder)
    return folder


@pytest.fixture(scope="session")
def truth(generated: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((generated / "truth.json").read_bytes())
    return content
