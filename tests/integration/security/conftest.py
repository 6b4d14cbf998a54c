"""The command line in a directory of its own, and secrets wherever one can be configured."""

from tests.support.cli.fixtures import cli, place
from tests.support.security.planting import planted

__all__ = ["cli", "place", "planted"]
