"""The only file primitives: atomic writes, JSONL, TREC, config, workspace, the stage protocol."""
