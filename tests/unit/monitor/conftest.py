"""Fixtures of the tests of monitor."""

from tests.support.monitor.fixtures import patient, tight
from tests.support.wire.fixtures import connected

__all__ = ["connected", "patient", "tight"]
