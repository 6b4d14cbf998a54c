"""Fixtures of the tests of runtime and http."""

from tests.support.runtime.http.fixtures import looked_at_often, receiver

__all__ = ["looked_at_often", "receiver"]
