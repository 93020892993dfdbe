"""File formats as frozen, strict pydantic models; one module per file family."""
