"""The command line in a directory of its own."""

from tests.support.cli.fixtures import cli, place

__all__ = ["cli", "place"]
