"""The test servers themselves: a fixture that lies would make every other test lie."""

import pytest

from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("each version is what its label says")


def test_server_is_the_version_of_its_label(server: RunningServer) -> None:
    information = server.client.info("server")
    version = information.get("valkey_version", information["redis_version"])
    assert server.label.endswith("-" + ".".join(version.split(".")[:2]))
    assert ("valkey_version" in information) == server.label.startswith("valkey")
