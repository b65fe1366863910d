"""Transcripts of both agents."""
