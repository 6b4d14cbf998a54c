"""Fixtures of the tests of operate and acting."""

from tests.support.operate.acting.fixtures import always_beating, connected

__all__ = ["always_beating", "connected"]
