"""What becomes of model calls without a recorded reply, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from nclue_build.records.config import BuildConfig

MODES: Final = ("frozen", "record", "refresh")


def mining_asks(config: BuildConfig) -> bool:
    """Whether mining has model calls."""
    return config.judge.kind == "model" or config.mine.miner != "lexical"


def composing_asks(config: BuildConfig) -> bool:
    """Whether composing has model calls."""
    return config.judge.kind == "model" or config.compose.paraphrases != "none"


def asks_a_model(config: BuildConfig) -> bool:
    """Whether a build has model calls."""
    return mining_asks(config) or composing_asks(config)


def in_mode(config: BuildConfig, mode: str | None) -> BuildConfig:
    """The configuration with another mode of model calls.

    Raises:
        UsageError: there is no such mode, or the build asks no model.
    """
    if mode is None:
        return config
    if mode not in MODES:
        raise UsageError(f"--calls {mode}: must be one of {', '.join(MODES)}")
    if mode != "frozen" and not asks_a_model(config):
        raise UsageError(f'--calls {mode}: this build asks no model ([judge] kind = "{config.judge.kind}")')
    return config.model_copy(update={"calls": config.calls.model_copy(update={"mode": mode})})
