"""Where the firmware runs in the simulator: line, ports, USB side, button."""
