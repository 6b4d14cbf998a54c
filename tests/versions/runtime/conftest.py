"""Fixtures of the tests of runtime."""

from tests.support.runtime.fixtures import users

__all__ = ["users"]
