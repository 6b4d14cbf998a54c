"""Fixtures of the tests of operate."""

from tests.support.operate.fixtures import console, depth, patient, reader, tight
from tests.support.wire.fixtures import connected

__all__ = ["connected", "console", "depth", "patient", "reader", "tight"]
