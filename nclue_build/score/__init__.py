"""Scoring runs: from run files and a benchmark to every number of the study."""
