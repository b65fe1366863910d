"""A simulated phone, board, picture and models; for development and tests only."""
