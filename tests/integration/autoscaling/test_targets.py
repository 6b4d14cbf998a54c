"""Through the controller to real targets: a script and a Kubernetes API that conflicts, refuses and hangs."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.autoscaling.controller import Controller
from streamops.model.pools import Applied, PoolDecision, ScaleCode
from streamops.targets.command import CommandTarget
from streamops.targets.kubernetes import KubernetesTarget
from streamops.targets.specs import CommandSpec
from streamops.targets.target import Target
from tests.support.autoscaling.pools import POOL, QUICK, add_waiting, at_least, console_on, steer
from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.support.targets.kubernetes import spec_of
from tests.support.targets.scale_api import ScaleApi, running_api, status


class Rounds:
    """A controller of a pool that is to have five workers, and its decisions."""

    def __init__(self, server: RunningServer, controller: Controller) -> None:
        self.server, self._controller = server, controller

    async def next(self) -> PoolDecision:
        return (await self._controller.round()).decisions[POOL]

    async def outcomes(self, count: int) -> list[Applied]:
        return [(await self.next()).outcome for _ in range(count)]

    async def errors(self) -> int:
        return (await self._controller._console.pools.one(POOL)).errors

    async def end(self) -> None:
        await self._controller.leave()


@asynccontextmanager
async def rounds(
    server: RunningServer, target: Target, every: timedelta | None = None
) -> AsyncIterator[Rounds]:
    add_waiting(server)
    async with console_on(server) as console:
        console.place.targets.use(POOL, target)
        # Unless it is about that, no slow machine is to make a target late.
        given = at_least(5, every=every or timedelta(minutes=1))
        told = Rounds(server, Controller(console, given))
        yield told
        await told.end()


@pytest.fixture
async def api() -> AsyncIterator[ScaleApi]:
    async with running_api() as api:
        api.add()
        yield api


async def test_kubernetes_is_asked_once_and_told_down_again(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path))) as told:
        assert await told.outcomes(3) == [Applied.DONE, Applied.KEPT, Applied.KEPT]
        steer(server, override=2)
        assert (await told.next()).outcome is Applied.DONE
        assert [body["spec"]["replicas"] for method, body in api.seen if method == "PUT"] == [5, 2]


async def test_a_conflict_is_looked_at_again_without_a_pause(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    conflict = [status(409, "Conflict", "the object has been modified") for _ in range(2)]
    api.faults["PUT"] = [*conflict]
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path))) as told:
        assert await told.outcomes(4) == [Applied.CHANGED, Applied.CHANGED, Applied.DONE, Applied.KEPT]
        assert await told.errors() == 0


async def test_a_target_that_asks_to_be_left_alone_is(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    busy = status(429, "TooManyRequests", "slow down")
    busy.headers["Retry-After"] = "600"
    api.faults["PUT"] = [busy]
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path))) as told:
        assert await told.outcomes(4) == [Applied.FAILED, *[Applied.WAITING] * 3]
        assert api.methods().count("PUT") == 1
        assert await told.errors() == 1
        assert "slow down" in (await told.next()).problem


async def test_another_autoscaler_s_number_is_not_written_over(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    scaled = next(iter(api.objects.values()))
    reads = iter(range(100))
    api.on_read = lambda: scaled.change(7) if next(reads) == 1 else None
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path))) as told:
        assert (await told.next()).outcome is Applied.CHANGED
        assert (scaled.replicas, api.methods().count("PUT")) == (7, 0)
        assert (await told.next()).target == 7


async def test_an_api_that_hangs_holds_up_nothing_and_its_number_is_not_made_up(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    api.faults["GET"] = [30.0]
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path)), QUICK) as told:
        first = await told.next()
        assert (first.code, first.outcome) == (ScaleCode.UNREADABLE, Applied.KEPT)
        assert "has not reported" in first.text
        await told.next()
        # It is asked beside the rounds.
        await eventually(lambda: api.methods() == ["GET"])


async def test_an_api_that_tells_garbage_is_asked_for_nothing(
    server: RunningServer, api: ScaleApi, tmp_path: Path
) -> None:
    api.twist = lambda document: document["spec"].update(replicas=-4)
    async with rounds(server, KubernetesTarget(spec_of(api, tmp_path))) as told:
        assert [(await told.next()).code for _ in range(3)] == [ScaleCode.UNREADABLE] * 3
        assert api.methods() == ["GET"]


def script(directory: Path, body: str) -> tuple[str, ...]:
    """A program of the user's."""
    path = directory / "scale.py"
    path.write_text(
        f"import pathlib, sys, time\ncount = pathlib.Path({str(directory / 'count')!r})\n{body}\n"
    )
    (directory / "count").write_text("3")
    return (sys.executable, str(path))


SCRIPT = """
if sys.argv[1] == "get":
    print(count.read_text())
else:
    current, desired = sys.argv[2:]
    if count.read_text() != current:
        sys.exit(6)
    with open(count.parent / "asked", "a") as asked:
        print(desired, file=asked)
    count.write_text(desired)
"""


def command(directory: Path, body: str = SCRIPT) -> CommandTarget:
    run = script(directory, body)
    spec = CommandSpec(get=(*run, "get"), set=(*run, "set", "{current}", "{desired}"))
    return CommandTarget(POOL, spec)


async def test_a_script_is_asked_once(server: RunningServer, tmp_path: Path) -> None:
    async with rounds(server, command(tmp_path)) as told:
        assert await told.outcomes(3) == [Applied.DONE, Applied.KEPT, Applied.KEPT]
        assert (tmp_path / "asked").read_text() == "5\n"


async def test_a_script_that_says_that_it_was_changed_is_asked_again(
    server: RunningServer, tmp_path: Path
) -> None:
    once = SCRIPT.replace(
        "    with open",
        "    if not (count.parent / 'once').exists():\n        (count.parent / 'once').touch()\n        sys.exit(6)\n    with open",
    )
    async with rounds(server, command(tmp_path, once)) as told:
        assert await told.outcomes(3) == [Applied.CHANGED, Applied.DONE, Applied.KEPT]


async def test_a_script_that_lies_is_waited_for(server: RunningServer, tmp_path: Path) -> None:
    lying = SCRIPT.replace("count.write_text(desired)", "pass")
    async with rounds(server, command(tmp_path, lying)) as told:
        assert await told.outcomes(4) == [Applied.DONE, *[Applied.WAITING] * 3]
        assert (tmp_path / "asked").read_text() == "5\n"


async def test_a_script_that_takes_long_is_asked_once_and_its_end_is_seen(
    server: RunningServer, tmp_path: Path
) -> None:
    gate = f"    while not __import__('os').path.exists({str(tmp_path / 'open')!r}): time.sleep(0.01)\n"
    slow = SCRIPT.replace("    with open", f"{gate}    with open")
    async with rounds(server, command(tmp_path, slow), timedelta(seconds=1)) as told:
        outcomes = []
        while Applied.WAITING not in outcomes:
            outcomes += await told.outcomes(1)
        (tmp_path / "open").touch()
        while (tmp_path / "count").read_text() != "5":
            outcomes += await told.outcomes(1)
        assert Applied.FAILED not in outcomes
        assert (tmp_path / "asked").read_text() == "5\n"
