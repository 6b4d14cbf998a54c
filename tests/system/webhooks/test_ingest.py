"""The intake on real servers, asked over HTTP."""

from collections.abc import AsyncIterator

import pytest

from tests.support.servers import RunningServer, StartServer
from tests.support.webhooks.ingest import MESSAGES, NOW, REMIND, Client, intake, site


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[Client]:
    async with intake(site(server, REMIND, NOW)) as client:
        yield client


async def test_one_server_that_is_down_is_down_alone(
    server: RunningServer, start_server: StartServer
) -> None:
    other = start_server()
    sites = (site(server, NOW), site(other, REMIND, name="away"))
    async with intake(*sites) as client:
        assert (await client("POST", MESSAGES, data=b"x")).status == 201
        other.kill()
        reply = await client("POST", MESSAGES, data=b"x")
        assert (reply.status, reply.headers["Retry-After"]) == (503, "2")
        assert other.unix_url not in str(reply.document)
        assert (await client("POST", "/topics/now/messages", data=b"x")).status == 201
        await client.book.look()
        ready = await client("GET", "/-/ready")
        assert (ready.status, [one["up"] for one in ready.document["servers"]]) == (200, [True, False])


async def test_a_topic_of_a_server_that_never_answered_is_not_known_yet(
    server: RunningServer, start_server: StartServer
) -> None:
    other = start_server()
    other.kill()
    async with intake(site(other, name="away")) as client:
        assert (await client("POST", MESSAGES, data=b"x")).status == 503
        assert (await client("GET", "/-/ready")).status == 503
        assert (await client("GET", "/-/healthy")).status == 200
    async with intake(site(server), site(other, name="away")) as client:
        assert (await client("POST", MESSAGES, data=b"x")).status == 503
