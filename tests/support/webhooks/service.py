"""Retries and dead letters of a topic."""

from streamops.model.schedules import parse_schedule

SOON = parse_schedule("20ms")
LETTERS = "{topic:remind}:dlq"
