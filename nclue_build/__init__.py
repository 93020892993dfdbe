"""nclue-build: conjunctive cross-page retrieval benchmarks out of folders of PDFs.

The command line does nothing that the library cannot::

    import nclue_build

    made = nclue_build.init_workspace(Path("work"), pdfs=Path("reports"))
    report = nclue_build.run_build(made.build.workspace)

Importing the package is cheap: every name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nclue_build.core.errors import (
        CallError,
        DataError,
        Finding,
        InternalError,
        NclueError,
        OutcomeError,
        ReleaseError,
        UsageError,
    )
    from nclue_build.store.workspace import Build, Workspace
    from nclue_build.workflow.comparing import compare_runs
    from nclue_build.workflow.fetching import fetch_build
    from nclue_build.workflow.planning import plan_build
    from nclue_build.workflow.repairing import repair_build
    from nclue_build.workflow.runner import RunReport, StageReport, run_build
    from nclue_build.workflow.samples import sample_queries
    from nclue_build.workflow.scaffold import init_workspace
    from nclue_build.workflow.scoring import score_runs
    from nclue_build.workflow.summary import summarise
    from nclue_build.workflow.tabulating import make_tables
    from nclue_build.workflow.validation.build import validate_build

__version__ = "0.1.0"

_HOMES = {
    "nclue_build.core.errors": (
        "CallError",
        "DataError",
        "Finding",
        "InternalError",
        "NclueError",
        "OutcomeError",
        "ReleaseError",
        "UsageError",
    ),
    "nclue_build.store.workspace": ("Build", "Workspace"),
    "nclue_build.workflow.comparing": ("compare_runs",),
    "nclue_build.workflow.fetching": ("fetch_build",),
    "nclue_build.workflow.planning": ("plan_build",),
    "nclue_build.workflow.runner": ("RunReport", "StageReport", "run_build"),
    "nclue_build.workflow.repairing": ("repair_build",),
    "nclue_build.workflow.samples": ("sample_queries",),
    "nclue_build.workflow.scaffold": ("init_workspace",),
    "nclue_build.workflow.scoring": ("score_runs",),
    "nclue_build.workflow.summary": ("summarise",),
    "nclue_build.workflow.tabulating": ("make_tables",),
    "nclue_build.workflow.validation.build": ("validate_build",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Build",
    "CallError",
    "DataError",
    "Finding",
    "InternalError",
    "NclueError",
    "OutcomeError",
    "ReleaseError",
    "RunReport",
    "StageReport",
    "UsageError",
    "Workspace",
    "compare_runs",
    "fetch_build",
    "init_workspace",
    "make_tables",
    "plan_build",
    "repair_build",
    "run_build",
    "sample_queries",
    "score_runs",
    "summarise",
    "validate_build",
]


def __getattr__(name: str) -> object:
    """Load a public name from its home on first use."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, loaded or not."""
    return sorted([*__all__, "__version__"])
