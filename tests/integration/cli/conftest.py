"""The command line's fixtures."""

from tests.cli.conftest import cli, place

__all__ = ["cli", "place"]
