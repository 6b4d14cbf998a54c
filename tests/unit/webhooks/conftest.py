"""A receiver of calls."""

from tests.support.webhooks.fixtures import receiver

__all__ = ["receiver"]
