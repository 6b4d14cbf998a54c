"""Fixtures of the tests of authority."""

from tests.support.operate.replaying.fixtures import console

__all__ = ["console"]
