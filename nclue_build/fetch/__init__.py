"""Fetching: documents of a corpus file that have a URL become files, checked by their digest."""
