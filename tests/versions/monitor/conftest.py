"""Fixtures of the tests of monitor."""

from tests.support.monitor.fixtures import depth, patient, reader, tight
from tests.support.wire.fixtures import connected

__all__ = ["connected", "depth", "patient", "reader", "tight"]
