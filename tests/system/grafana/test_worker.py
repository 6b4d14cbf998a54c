"""The worker of the stack, on the demo's own orders."""

import importlib.util
from random import Random
from types import ModuleType

import pytest

from streamops.demo.payloads import order, poisoned_order
from streamops.runtime.events import Retried
from streamops.testing import staged
from tests.support.grafana.stack import STACK, services
from tests.support.servers import RunningServer


@pytest.fixture
def notices() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notices", STACK / "worker" / "notices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_what_the_compose_file_runs(notices: ModuleType) -> None:
    worker = services()["worker"]
    module, _, attribute = worker["command"][1].partition(":")
    assert worker["volumes"] == ["./worker:/worker:ro"]
    assert worker["working_dir"] == "/worker"
    assert (STACK / "worker" / f"{module}.py").is_file()
    assert getattr(notices, attribute).handlers


async def test_it_handles_tries_again_and_gives_up(notices: ModuleType, server: RunningServer) -> None:
    retried: list[int] = []
    notices.app.on(Retried)(lambda event: retried.append(event.attempt))
    async with staged(notices.app, server.options) as stage:
        for number in range(10):
            server.client.xadd("orders:events", order(Random(number), number))  # type: ignore[arg-type]  # bytes are fine
        server.client.xadd("orders:events", poisoned_order(Random(1), 1))  # type: ignore[arg-type]  # the same
        await stage.idle()
        (letter,) = await stage.dead_letters("orders:events")
    assert letter.reason == "max-deliveries"
    assert letter.fields["amount"] == b"12,90 EUR"
    # The mail server refuses the eighth order once, and the unreadable one is started three times.
    assert sorted(retried) == [1, 1, 2]
