"""PCM, endpoints and the playback ledger."""
