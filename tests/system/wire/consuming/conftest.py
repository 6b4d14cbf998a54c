"""Fixtures of the tests of wire and consuming."""

from tests.support.wire.consuming.fixtures import shop

__all__ = ["shop"]
