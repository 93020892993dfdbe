"""The slow, independent path behind ``nclue-build gate``.

It shares text normalisation (``core.text``), the making of ids (``core.ids``), record formats (``records``) and the
reading and naming of files (``store``) with what it checks, and no code that finds, matches, judges or writes.
"""
