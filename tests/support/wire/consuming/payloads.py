"""Shared by the tests of payloads."""

from datetime import timedelta

HOUR = timedelta(hours=1)
