"""The Aiden Duplex integration."""
