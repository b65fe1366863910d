"""Tests of the device loop."""
