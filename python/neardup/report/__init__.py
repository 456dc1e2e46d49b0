"""What a run found, made to be looked at: pairs explained, and one self-contained HTML file for the whole."""
