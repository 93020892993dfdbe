"""Foundations shared by every layer: errors, ids, canonical JSON, text, progress."""
