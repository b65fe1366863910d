"""Tests of the realtime models."""
