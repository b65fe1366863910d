"""Realtime dialects: what the foreground talks with."""
