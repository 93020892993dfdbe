"""What an import costs, and what it brings along."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nclue_build
from nclue_build.workflow.registry import STAGE_NAMES

if TYPE_CHECKING:
    from tests.conftest import WritePdf

HEAVY = {
    "HanTa", "ahocorasick_rs", "anthropic", "datasketch", "httpx2", "networkx", "numpy", "pymupdf", "rapidfuzz", "rich",
    "scipy", "tenacity",
}  # fmt: skip
MAX_HELP_RATIO = 3.5


def loaded_after(code: str) -> set[str]:
    """Top-level packages in ``sys.modules`` after a piece of code, in a process of its own."""
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.__stderr__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    loaded = loaded_after(f"from nclue_build.cli.boundary import run_command\nrun_command({words!r})")
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_planning_loads_nothing_heavy(tmp_path: Path, write_pdf: WritePdf) -> None:
    write_pdf(tmp_path / "reports" / "a.pdf", [["One"]])
    workspace = nclue_build.init_workspace(tmp_path / "w", pdfs=tmp_path / "reports").build.workspace.root
    for name in STAGE_NAMES:
        loaded = loaded_after(
            "from pathlib import Path\n"
            "from nclue_build.workflow.registry import load_stage\n"
            "from nclue_build.store.config_file import load_config\n"
            "from nclue_build.store.workspace import Workspace\n"
            f"build = Workspace(Path({str(workspace)!r})).choose_build()\n"
            f"load_stage({name!r}).declare(build, load_config(build.config_path))"
        )
        assert (name, loaded & HEAVY) == (name, set())
    loaded = loaded_after(
        f"from nclue_build.cli.boundary import run_command\nrun_command(['-w', {str(workspace)!r}, 'run', '--dry-run'])"
    )
    assert loaded & HEAVY == set()


def test_importing_the_package_loads_nothing() -> None:
    loaded = loaded_after("import nclue_build")
    assert loaded & (HEAVY | {"pydantic", "orjson", "typer"}) == set()


def test_the_installed_command_is_this_program() -> None:
    command = Path(sys.executable).parent / "nclue-build"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == f"nclue-build {nclue_build.__version__}\n"


def processor_time_s(words: list[str]) -> float:
    """Processor time of a command: what else the machine does hardly shows in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_is_quick() -> None:
    commands = {"help": ["-m", "nclue_build", "--help"], "typer": ["-c", "import typer"]}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(7):  # in turn, so that what slows one down slows both down
        for name, words in commands.items():
            times[name].append(processor_time_s(words))
    assert statistics.median(times["help"]) <= MAX_HELP_RATIO * statistics.median(times["typer"])


def test_exports() -> None:
    public = [
        "Build", "CallError", "DataError", "Finding", "InternalError", "NclueError", "OutcomeError", "ReleaseError",
        "RunReport", "StageReport", "UsageError", "Workspace", "compare_runs", "fetch_build", "init_workspace",
        "make_tables", "plan_build", "repair_build", "run_build", "sample_queries", "score_runs", "summarise",
        "validate_build",
    ]  # fmt: skip
    assert nclue_build.__all__ == public
    for name in public:
        value = getattr(nclue_build, name)
        assert value.__doc__
        assert value.__name__ == name
    assert set(dir(nclue_build)) >= {*public, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nclue_build.nothing
