"""Fixtures of the tests of operate."""

from tests.support.operate.fixtures import connected, depth, patient, reader, tight

__all__ = ["connected", "depth", "patient", "reader", "tight"]
