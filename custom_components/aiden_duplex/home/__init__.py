"""Adapters between the rooms and Home Assistant."""
