"""The test servers themselves: a fixture that lies would make every other test lie."""

import pytest
import redis
from redis.cluster import RedisCluster

from tests.support.deployments import Certificates, RunningCluster, StartSentinel
from tests.support.servers import RunningServer


def test_tls_server_asks_for_a_client_certificate(
    tls_server: RunningServer, certificates: Certificates
) -> None:
    address = f"rediss://localhost:{tls_server.port}?ssl_ca_certs={certificates.ca_file}"
    files = f"ssl_certfile={certificates.client_certificate_file}&ssl_keyfile={certificates.client_key_file}"
    with redis.Redis.from_url(f"{address}&{files}") as client:
        assert client.ping()
    with redis.Redis.from_url(address) as nameless, pytest.raises(redis.ConnectionError):
        nameless.ping()


def test_sentinel_knows_its_primary(server: RunningServer, start_sentinel: StartSentinel) -> None:
    sentinel = start_sentinel(server, service="billing")
    address = sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "billing")
    assert address == [b"127.0.0.1", str(server.port).encode()]


def test_cluster_serves_every_slot(cluster: RunningCluster) -> None:
    with RedisCluster.from_url(cluster.url) as client:
        for number in range(20):
            key = f"orders:{number}"
            client.xadd(key, {"a": "b"})
            assert cluster.node_of(key).command("XLEN", key) == 1
    assert len(cluster.nodes) == 3
