"""Fixtures of the tests of requirements."""

from tests.support.requirements.fixtures import commands, redis

__all__ = ["commands", "redis"]
