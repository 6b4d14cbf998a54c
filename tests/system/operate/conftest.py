"""Fixtures of the tests of operate."""

from tests.support.operate.fixtures import connected, patient, tight

__all__ = ["connected", "patient", "tight"]
