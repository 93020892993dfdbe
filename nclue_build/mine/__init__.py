"""mine."""
