"""Hypothesis profile of the laws: no time limit per example, since machines differ."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("laws", deadline=None)
settings.load_profile("laws")
