"""Fixtures of the tests of operations."""

from tests.support.operations.fixtures import console
from tests.support.wire.fixtures import as_user, connected

__all__ = ["as_user", "connected", "console"]
