"""The tables of the study, out of measured runs."""
