"""The device loop: observe, decide, act."""
