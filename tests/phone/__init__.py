"""Tests of the room that works the phone."""
