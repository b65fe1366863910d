"""The Realtime interface (general availability) over WebSocket."""
