"""How the virtual phone's frames become pictures."""
