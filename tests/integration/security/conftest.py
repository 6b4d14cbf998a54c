"""The command line in a directory of its own, and secrets wherever one can be configured."""

from tests.support.cli.fixtures import cli, place
from tests.support.security.planting import planted
from tests.support.security.traps import trapped

__all__ = ["cli", "place", "planted", "trapped"]
