"""rederive."""
