"""Fixtures of the tests of runtime."""

from tests.support.runtime.fixtures import users
from tests.support.wire.fixtures import as_user

__all__ = ["as_user", "users"]
