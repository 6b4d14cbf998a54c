"""A group that holds nine entries, and the server's address with a secret."""

from tests.support.cli.billing import secret_url, stocked

__all__ = ["secret_url", "stocked"]
