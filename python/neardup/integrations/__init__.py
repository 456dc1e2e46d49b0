"""neardup inside other programs."""
