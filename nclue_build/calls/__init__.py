"""The only door to a language model: requests with keys, recorded replies, replay."""
