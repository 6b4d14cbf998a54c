"""Fixtures of the tests of wire."""

from tests.support.deployment_fixtures import certificates
from tests.support.wire.fixtures import as_user, connected

__all__ = ["as_user", "certificates", "connected"]
