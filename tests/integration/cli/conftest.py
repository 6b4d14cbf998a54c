"""Fixtures of the tests of cli."""

from tests.support.cli.fixtures import cli, invented, place

__all__ = ["cli", "invented", "place"]
