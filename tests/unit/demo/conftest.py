"""Fixtures of the tests of demo."""

from tests.support.demo.fixtures import client

__all__ = ["client"]
