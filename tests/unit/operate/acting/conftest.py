"""Fixtures of the tests of operate and acting."""

from tests.support.operate.acting.fixtures import always_beating

__all__ = ["always_beating"]
