"""Fixtures of the tests of authority."""

from tests.support.cli.fixtures import cli, invented, place
from tests.support.operate.fixtures import console

__all__ = ["cli", "console", "invented", "place"]
