"""Measures, intervals, tests and agreement: arrays in, typed results out; nothing here reads or writes."""
