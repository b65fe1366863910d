"""Tests of the foreground."""
