"""Fixtures of the tests of wire and consuming."""

from tests.support.wire.consuming.fixtures import full_shop, shop

__all__ = ["full_shop", "shop"]
