"""Fixtures of the tests of operations."""

from tests.support.operations.fixtures import console
from tests.support.wire.fixtures import connected

__all__ = ["connected", "console"]
