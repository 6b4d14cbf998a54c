"""Fixtures of the tests of the engine of operations."""

from tests.support.operations.engine.fixtures import always_beating

__all__ = ["always_beating"]
