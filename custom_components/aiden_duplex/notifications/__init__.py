"""What waits to be said."""
