"""Fixtures that hand out real servers.

``server`` runs its test once on every version found; ``any_server`` once, on the newest. Both are flushed,
of users too, and shared by the session: a test that changes more than that (configuration, replication) starts its
own with ``start_server``.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.deployments import Certificates, RunningCluster, StartSentinel, start_sentinel, write_certificates
from tests.programs import REQUIRE_SERVERS, ServerProgram, find_all_programs, find_programs, missing_labels
from tests.servers import RunningServer, ServerPool, StartError, StartServer

PROGRAMS = find_programs()

# How long an example takes, or is thought up, says how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_sessionstart() -> None:
    """Fail before any test where a version that must be covered is missing."""
    missing = missing_labels(PROGRAMS)
    if missing:
        raise pytest.UsageError(f"{REQUIRE_SERVERS} asks for servers that are not here: {', '.join(missing)}")


def pytest_report_header() -> str:
    """Say which servers the tests run on."""
    return "servers: " + (", ".join(program.label for program in PROGRAMS) or "none")


@pytest.fixture(autouse=True)
def unconfigured_logs() -> Iterator[None]:
    """Logs that a test configured go to a standard error that is closed after it: nobody else is to write there."""
    before = logging.root.handlers[:]
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
    for handler in logging.root.handlers[:]:
        if handler not in before and type(handler) is logging.StreamHandler:
            logging.root.removeHandler(handler)


@pytest.fixture(scope="session")
def server_pool() -> Iterator[ServerPool]:
    pool = ServerPool()
    yield pool
    pool.stop()


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.label)
def server(request: pytest.FixtureRequest, server_pool: ServerPool) -> RunningServer:
    """A flushed server, of every version in turn."""
    return server_pool.flushed(request.param)


@pytest.fixture
def any_server(server_pool: ServerPool) -> RunningServer:
    """A flushed server of the newest version."""
    return server_pool.flushed(newest_program())


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.label)
def program(request: pytest.FixtureRequest) -> ServerProgram:
    """The binary of every version in turn, for tests that start their own."""
    program: ServerProgram = request.param
    return program


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Start a server with its own configuration: ``start_server("--maxmemory", "4mb", program=...)``."""
    with ExitStack() as running:

        def start(*args: str, program: ServerProgram | None = None) -> RunningServer:
            return running.enter_context(RunningServer(program or newest_program(), *args))

        yield start


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


def newest_program() -> ServerProgram:
    """The last of the versions found."""
    if not PROGRAMS:
        pytest.fail("no Redis or Valkey server on this machine: install the dev requirements")
    return PROGRAMS[-1]
