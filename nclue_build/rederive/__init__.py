"""The slow, independent path behind ``nclue-build gate``: it shares no code with what it checks."""
