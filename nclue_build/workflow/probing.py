"""What the configured service is like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.calls.client.probe import probe
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.calls.client.probe import Probe
    from nclue_build.store.workspace import Workspace


def probe_service(workspace: Workspace | Path | None = None, build: str | None = None) -> Probe:
    """Ask the service of a build a few tiny questions (:func:`nclue_build.calls.client.probe.probe`)."""
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
    return probe(config.calls)
