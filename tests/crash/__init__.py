"""What a power cut, a kill or a full disk leaves, and what is made of it."""
