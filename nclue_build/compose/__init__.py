"""From an inventory to a benchmark: enumerate, sample, verify, select, emit."""
