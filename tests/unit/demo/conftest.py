"""The demo generator, loaded from its file, and what it makes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[3] / "corpora" / "demo"


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    return DEMO


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, DEMO / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up, and the generator imports the typesetter
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def typeset() -> Any:
    return _load("typeset")


@pytest.fixture(scope="session")
def generator(typeset: Any) -> Any:
    assert typeset is sys.modules["typeset"]
    return _load("generate")


@pytest.fixture(scope="session")
def generated(generator: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    generator.generate(folder)
    return folder


@pytest.fixture(scope="session")
def truth(generated: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((generated / "truth.json").read_bytes())
    return content
