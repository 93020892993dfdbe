"""P(d, c): which pages of which document establish which condition."""
