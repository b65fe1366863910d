"""Any order of requests, runs and crashes, beside a reference that knows nothing of the code."""
