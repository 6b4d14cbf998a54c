"""Callbacks do not reach this machine by any of its addresses, unless these are listed."""

import json
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from streamops.model.topics import Topic
from streamops.webhooks.calling import Caller, CallError, is_own_address
from streamops.webhooks.messages import WebhookMessage
from streamops.webhooks.reach import Reach
from streamops.wire.keys import dead_letter_key
from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.system.cli.test_topics_serve import served, write

MESSAGE: Final = WebhookMessage("m-1", "1-1", 1, b"{}", "application/json")


def own_addresses() -> list[str]:
    """Addresses of this machine that are neither loopback nor its link's, by a tool of its own."""
    program = shutil.which("ip")
    if program is None:
        return []
    told = json.loads(subprocess.run((program, "-json", "addr"), capture_output=True, check=True).stdout)
    found = [ip_address(one["local"]) for link in told for one in link.get("addr_info", ())]
    return [str(one) for one in found if not (one.is_loopback or one.is_link_local)]


OWN: Final = own_addresses()
ANY_OF_THEM: Final = pytest.mark.skipif(not OWN, reason="this machine has no network, or no `ip`")


class Listener:
    """What listens at all addresses of this machine, and counts who comes."""

    def __init__(self) -> None:
        self.calls = 0
        self.port = 0

    def url(self, host: str) -> str:
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    async def handle(self, _: web.Request) -> web.Response:
        self.calls += 1
        return web.Response(text="taken")


@asynccontextmanager
async def listener() -> AsyncIterator[Listener]:
    listening = Listener()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", listening.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    both = socket.has_dualstack_ipv6()
    family, everywhere = (socket.AF_INET6, "::") if both else (socket.AF_INET, "0.0.0.0")  # noqa: S104 - what is tested
    taking = socket.create_server((everywhere, 0), family=family, dualstack_ipv6=both)
    listening.port = taking.getsockname()[1]
    await web.SockSite(runner, taking).start()
    try:
        yield listening
    finally:
        await runner.cleanup()


@ANY_OF_THEM
@pytest.mark.parametrize("address", OWN)
async def test_an_address_of_this_machine_is_called_where_it_is_listed_alone(address: str) -> None:
    async with listener() as listening:
        topic = Topic(name="self", url=listening.url(address))
        async with Caller(Reach(is_own=is_own_address)) as caller:
            with pytest.raises(CallError, match="this machine itself") as told:
                await caller.call(topic, MESSAGE)
        assert (told.value.troubled, listening.calls) == (False, 0)
        async with Caller(Reach([address], is_own=is_own_address)) as caller:
            assert (await caller.call(topic, MESSAGE)).status == 200


@ANY_OF_THEM
@pytest.mark.parametrize("address", OWN)
async def test_a_name_that_leads_to_this_machine_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(_: object, host: str, port: int, family: int) -> list[dict[str, object]]:
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)
    async with listener() as listening, Caller(Reach(is_own=is_own_address)) as caller:
        with pytest.raises(CallError, match="this machine itself"):
            await caller.call(Topic(name="self", url=listening.url("hooks.example.net")), MESSAGE)
        assert listening.calls == 0


@ANY_OF_THEM
async def test_topics_serve_calls_this_machine_by_no_address(server: RunningServer, tmp_path: Path) -> None:
    async with listener() as listening:
        write(tmp_path, server, listening.url(OWN[0]).rstrip("/"))
        config = tmp_path / "streamops.toml"
        text = config.read_text().replace('hosts = ["127.0.0.1"]', "")
        config.write_text(text.replace("retry_empty", "max_attempts = 1\nretry_empty"))
        async with served(tmp_path):
            server.command("XADD", "topic:remind", "*", "data", "x")
            await eventually(lambda: server.command("XLEN", dead_letter_key("topic:remind")) == 1)
        assert listening.calls == 0


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "10.255.254.253",
        "2606:2800::1",
        "203.0.113.9",
        "224.0.0.1",
        "255.255.255.255",
        "ff02::1",
    ],
)
def test_addresses_of_others_are_not_this_machines(address: str) -> None:
    assert not is_own_address(ip_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", *OWN])
def test_addresses_of_this_machine_are(address: str) -> None:
    assert is_own_address(ip_address(address))
