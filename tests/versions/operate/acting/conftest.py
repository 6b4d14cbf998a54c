"""Fixtures of the tests of operate and acting."""

from tests.support.operate.acting.fixtures import always_beating, console, own_server, stage

__all__ = ["always_beating", "console", "own_server", "stage"]
