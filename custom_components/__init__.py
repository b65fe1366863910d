"""The custom integration's home."""
