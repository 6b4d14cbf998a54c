"""Fixtures of the tests of settings."""

from tests.support.settings.fixtures import place

__all__ = ["place"]
