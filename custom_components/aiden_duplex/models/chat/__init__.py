"""Chat dialects: what the background thinks with."""
