"""Workspaces, plans, receipts and runs: everything around the stages that is no stage."""
