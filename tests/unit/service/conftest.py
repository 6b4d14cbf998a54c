"""Certificates of a test authority."""

from tests.support.deployment_fixtures import certificates

__all__ = ["certificates"]
