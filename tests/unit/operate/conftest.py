"""Fixtures of the tests of operate."""

from tests.support.operate.fixtures import patient, tight
from tests.support.wire.fixtures import connected

__all__ = ["connected", "patient", "tight"]
