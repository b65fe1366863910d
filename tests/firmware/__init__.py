"""The board's firmware, run here: protocol, timing, and what it never leaves held."""
