"""A group that holds nine entries."""

from tests.support.cli.billing import stocked

__all__ = ["stocked"]
