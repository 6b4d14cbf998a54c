"""Shared by the tests of service."""

from streamops.model.schedules import parse_schedule

SOON = parse_schedule("20ms")
LETTERS = "{topic:remind}:dlq"
