"""Fixtures that hand out real servers, and the sizes of random tests.

``server`` is the newest server, flushed and shared by a process's tests; a test that changes more than keys and users
(configuration, replication) starts its own with ``start_server``. A test marked ``every_server("why")`` runs once on
each version found, one marked ``border_servers("why")`` on those beyond which servers answer otherwise; such tests live in
tests/versions, tests/system and tests/chaos.
"""

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack

import hypothesis.core
import pytest
import structlog
from hypothesis import HealthCheck, Phase, settings
from hypothesis.strategies import text

from tests.support.programs import (
    BORDERS,
    PROGRAMS,
    REQUIRE_SERVERS,
    ServerProgram,
    missing_labels,
    newest_program,
)
from tests.support.servers import RunningServer, ServerPool, StartServer

# ``fast`` plays the same examples every time. How long one takes says how busy the machine is, so nothing is limited.
for name, examples, derandomize in (("fast", 10, True), ("ci", 40, False), ("long", 1_000, False)):
    settings.register_profile(
        name,
        max_examples=examples,
        stateful_step_count=30 if name == "fast" else 50,
        derandomize=derandomize,
        database=None,
        deadline=None,
        print_blob=True,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile(os.environ.get("STREAMOPS_EXAMPLES", "fast"))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """One printed seed decides everything: ``--randomly-seed=N`` plays a run again."""
    seed = getattr(config.option, "randomly_seed", None)
    if isinstance(seed, int) and not getattr(config.option, "hypothesis_seed", None):
        vars(hypothesis.core)["global_force_seed"] = seed


def pytest_sessionstart() -> None:
    """Fail before any test where a version that must be covered is missing."""
    missing = missing_labels(PROGRAMS)
    if missing:
        raise pytest.UsageError(f"{REQUIRE_SERVERS} asks for servers that are not here: {', '.join(missing)}")


def pytest_collection_finish() -> None:
    """Leave what was imported out of garbage collections, and have fewer of them: they were a sixth of what a console cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Have Hypothesis write down which characters there are, before there are processes that would each take seconds for it."""
    text().validate()


def pytest_report_header() -> str:
    """Say which servers the tests run on."""
    return "servers: " + (", ".join(program.label for program in PROGRAMS) or "none")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked ``every_server`` on each version, and ``border_servers`` on some of them."""
    for name, programs in (("every_server", PROGRAMS), ("border_servers", BORDERS)):
        mark = metafunc.definition.get_closest_marker(name)
        if mark is None:
            continue
        if not mark.args:
            raise pytest.UsageError(f"{metafunc.definition.nodeid}: {name} wants to know why")
        fixture = "program" if "program" in metafunc.fixturenames else "server"
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, programs, indirect=True, ids=lambda program: program.label)


@pytest.fixture(autouse=True)
def unconfigured_logs() -> Iterator[None]:
    """Remove log handlers that a test configured: they write to a standard error that is closed after it."""
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


@pytest.fixture
def program(request: pytest.FixtureRequest) -> ServerProgram:
    """The newest server's binary, for tests that start their own."""
    program: ServerProgram = getattr(request, "param", None) or newest_program()
    return program


@pytest.fixture
def server(request: pytest.FixtureRequest, server_pool: ServerPool) -> RunningServer:
    """A flushed server: the newest, or each version in turn where the test is marked ``every_server``."""
    return server_pool.flushed(getattr(request, "param", None) or newest_program())


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Start a server with its own configuration: ``start_server("--maxmemory", "4mb", program=...)``."""
    with ExitStack() as running:

        def start(*args: str, program: ServerProgram | None = None) -> RunningServer:
            return running.enter_context(RunningServer(program or newest_program(), *args))

        yield start
