"""Fixtures of the tests of operate and replaying."""

from tests.support.operate.replaying.fixtures import console

__all__ = ["console"]
