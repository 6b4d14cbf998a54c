"""Fixtures of servers that need each other or certificates: a cluster, a Sentinel, TLS."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.deployments import (
    Certificates,
    RunningCluster,
    StartSentinel,
    start_sentinel,
    write_certificates,
)
from tests.support.programs import find_all_programs, newest_program
from tests.support.servers import RunningServer, StartError


@pytest.fixture(name="start_sentinel")
def start_sentinel_fixture() -> Iterator[StartSentinel]:
    """Start a Sentinel that watches a primary: ``start_sentinel(primary, service="orders")``."""
    with ExitStack() as running:

        def start(primary: RunningServer, *, service: str = "orders") -> RunningServer:
            return running.enter_context(start_sentinel(primary.program, primary, service=service))

        yield start


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of a test authority."""
    return write_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def shared_tls_server(certificates: Certificates) -> Iterator[RunningServer]:
    for program in find_all_programs():
        # The packaged servers are built without TLS; the only way to know is to try.
        try:
            server = RunningServer(program, *certificates.server_args, tls=True)
        except StartError:
            continue
        with server:
            yield server
            return
    pytest.skip("no server on this machine was built with TLS")


@pytest.fixture
def tls_server(shared_tls_server: RunningServer) -> RunningServer:
    """A flushed server whose port speaks TLS and asks for a client certificate."""
    shared_tls_server.flush()
    return shared_tls_server


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[RunningCluster]:
    with RunningCluster(newest_program()) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: RunningCluster) -> RunningCluster:
    """A flushed cluster of three primaries of the newest version."""
    shared_cluster.flush()
    return shared_cluster
