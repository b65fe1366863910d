"""The live conversation."""
