"""Fixtures of the tests of authority."""

from tests.support.cli.fixtures import cli, invented, place
from tests.support.monitor.fixtures import console

__all__ = ["cli", "console", "invented", "place"]
