"""Fixtures of the tests of operate."""

from tests.support.operate.fixtures import depth, patient, reader, tight
from tests.support.wire.fixtures import connected

__all__ = ["connected", "depth", "patient", "reader", "tight"]
