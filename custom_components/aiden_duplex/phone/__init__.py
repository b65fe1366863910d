"""The phone: lease, gestures, coordinates, drivers, pictures."""
