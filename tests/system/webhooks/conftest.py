"""Fixtures of the tests of runtime and http."""

from tests.support.webhooks.fixtures import looked_at_often, receiver

__all__ = ["looked_at_often", "receiver"]
