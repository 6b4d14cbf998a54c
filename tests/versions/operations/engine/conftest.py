"""Fixtures of the tests of the engine of operations."""

from tests.support.operations.engine.fixtures import always_beating, console, own_server, stage

__all__ = ["always_beating", "console", "own_server", "stage"]
