"""Durable mechanisms: the append-only journal."""
