"""nclue-build: conjunctive cross-page retrieval benchmarks out of folders of PDFs."""

__version__ = "0.1.0"
