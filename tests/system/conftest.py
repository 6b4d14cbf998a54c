"""Fixtures of clusters, Sentinels and TLS."""

from tests.support.deployment_fixtures import (
    certificates,
    cluster,
    shared_cluster,
    shared_tls_server,
    start_sentinel_fixture,
    tls_server,
)

__all__ = [
    "certificates",
    "cluster",
    "shared_cluster",
    "shared_tls_server",
    "start_sentinel_fixture",
    "tls_server",
]
