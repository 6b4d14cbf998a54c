"""The test servers themselves: a fixture that lies would make every other test lie."""

import pytest
import redis

from tests.support.deployments import Certificates
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
