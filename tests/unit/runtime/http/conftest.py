"""A receiver of calls."""

from tests.support.runtime.http.fixtures import receiver

__all__ = ["receiver"]
