"""Tests of the chat dialects."""
