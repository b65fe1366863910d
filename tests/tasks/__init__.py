"""Tests of the tasks room."""
