"""Fixtures of the tests of operate and acting."""

from tests.support.operate.acting.fixtures import always_beating, connected, console, own_server, stage

__all__ = ["always_beating", "connected", "console", "own_server", "stage"]
