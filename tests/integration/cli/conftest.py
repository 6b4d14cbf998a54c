"""Fixtures of the tests of cli."""

from tests.support.cli.fixtures import cli, invented, place
from tests.support.cli.golden_trim import shop

__all__ = ["cli", "invented", "place", "shop"]
