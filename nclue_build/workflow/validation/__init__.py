"""Validation: inputs, schema, ids, digests and receipts, without recomputing anything."""
