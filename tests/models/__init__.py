"""Tests of the model dialects."""
