"""A directory of a test's own, and secrets wherever one can be configured."""

from tests.support.cli.fixtures import place
from tests.support.security.planting import planted
from tests.support.security.traps import trapped

__all__ = ["place", "planted", "trapped"]
