"""Fixtures of the tests of authority."""

from tests.support.cli.fixtures import cli, invented, place
from tests.support.operate.replaying.fixtures import console

__all__ = ["cli", "console", "invented", "place"]
