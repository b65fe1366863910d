"""What runs beside the phone."""
