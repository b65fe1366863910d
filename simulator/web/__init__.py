"""The simulator's HTTP side: picture, control, page."""
