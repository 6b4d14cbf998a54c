"""The intake on real servers, asked over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import aiohttp
import pytest

from streamops.model.topics import Topic
from streamops.webhooks.ingest import AT_ONCE
from streamops.webhooks.registry import Site, TopicListing, TopicServer
from streamops.wire.options import ConnectionOptions
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
        await client.registry.look()
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


POOLED = Topic(name="spread", url="http://h", delay=timedelta(hours=1))


async def test_messages_of_a_pool_are_spread_by_their_ids_and_one_server_refuses_its_share_alone(
    server: RunningServer, start_server: StartServer
) -> None:
    other = start_server()
    sites = site(server, POOLED, NOW, name="eu"), site(other, POOLED, name="us")
    path = "/topics/spread/messages"
    async with intake(*sites) as client:
        for number in range(40):
            assert (await client("POST", f"{path}/m-{number}", data=b"x")).status == 201
        shares = [one.command("ZRANGE", "{topic:spread}:delayed", 0, -1) for one in (server, other)]
        assert sorted(map(len, shares)) >= [5, 5]
        assert sum(map(len, shares)) == (await client("GET", path)).document["waiting"] == 40
        other.kill()
        await client.registry.look()
        for number in range(40):
            added = await client("POST", f"{path}/m-{number}", data=b"x")
            if b"m-%d" % number in shares[0]:
                assert (added.status, "waits already" in added.document["error"]) == (409, True)
                assert (await client("GET", f"{path}/m-{number}")).status == 200
            else:
                assert (added.status, added.headers["Retry-After"]) == (503, "2")
                assert added.document["error"] == "the Redis of context us does not answer"
        # A message without an ID goes to a server that answers.
        for _ in range(20):
            assert (await client("POST", path, data=b"x")).status == 201
        assert (await client("GET", path)).document["error"] == "the Redis of context us does not answer"
        ready = (await client("GET", "/-/ready")).document
        assert ready == {
            "ready": True,
            "servers": [{"context": "eu", "up": True}, {"context": "us", "up": False}],
        }


async def test_a_server_that_hangs_holds_up_no_message_of_another(
    server: RunningServer, start_server: StartServer
) -> None:
    """Not even before anybody has noticed, and with more requests than one server may keep waiting."""
    other = start_server()
    sites = site(server, NOW), site(other, REMIND, name="away")
    async with intake(*sites, most=2000) as client:
        other.pause()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(client.session._base_url, connector=connector) as session:

            async def post(path: str) -> int:
                async with session.post(path, data=b"x") as response:
                    return response.status

            hanging = [asyncio.create_task(post(MESSAGES)) for _ in range(AT_ONCE + 50)]
            await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED)
            assert [await post("/topics/now/messages") for _ in range(20)] == [201] * 20
            assert set(await asyncio.gather(*hanging)) == {503}
        other.resume()


def test_a_further_server_takes_over_its_share_and_moves_no_other_message() -> None:
    places = tuple(TopicServer(Site(name, ConnectionOptions())) for name in ("eu", "us", "ap"))
    before, after = TopicListing(POOLED, places[:2]), TopicListing(POOLED, places)
    moved = [
        after.place_of(ident)
        for ident in map(str, range(3000))
        if after.place_of(ident) is not before.place_of(ident)
    ]
    assert set(moved) == {places[2]}
    assert 850 < len(moved) < 1150
