"""Recognising the text of pages that have none of use, with Tesseract."""
