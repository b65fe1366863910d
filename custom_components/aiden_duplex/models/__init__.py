"""Model dialects: realtime (the foreground's) and chat (the background's)."""
