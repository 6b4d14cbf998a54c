"""The fixtures of the command line."""

from tests.cli.conftest import place

__all__ = ["place"]
