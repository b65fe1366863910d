"""A real Home Assistant for development and tests: start, onboard, set up through its own API."""
