"""Fixtures of the tests of wire."""

from tests.support.wire.fixtures import as_user

__all__ = ["as_user"]
