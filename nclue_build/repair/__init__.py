"""Repair: decisions in, a new inventory version and regenerated judgments out."""
