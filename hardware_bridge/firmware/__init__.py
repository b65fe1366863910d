"""The bridge board's firmware."""
