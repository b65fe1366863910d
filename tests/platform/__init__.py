"""The integration inside Home Assistant's test harness."""
