"""The live client: asks an Anthropic-compatible service, and gives back what it answered, byte for byte."""
