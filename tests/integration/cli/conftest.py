"""Fixtures of the command line's tests, here too."""

from tests.cli.conftest import cli, place

__all__ = ["cli", "place"]
