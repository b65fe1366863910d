"""A virtual phone: it sees HID reports and shows pictures."""
