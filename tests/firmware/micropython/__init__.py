"""What is played under MicroPython as well."""
