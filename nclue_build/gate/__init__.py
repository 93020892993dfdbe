"""The distinct-page logic: pure functions over page sets, one pair or millions at once."""
