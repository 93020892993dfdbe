"""What MinerU wrote, of any generation, as pages of typed blocks: pure functions over parsed JSON."""
