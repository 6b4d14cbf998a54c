"""Fixtures of the tests of wire."""

from tests.support.wire.fixtures import as_user, connected

__all__ = ["as_user", "connected"]
