"""Fixtures of the tests of operate and operations."""

from tests.support.operate.operations.fixtures import console

__all__ = ["console"]
