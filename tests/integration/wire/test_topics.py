"""Topics in Redis, on real servers."""

import pytest

from streamops.errors import NotFound
from streamops.model.topics import Topic
from streamops.wire.server import Server
from streamops.wire.topics import TOPICS, read_topics
from tests.support.servers import RunningServer


async def test_a_key_of_another_type(server: RunningServer) -> None:
    server.command("SET", TOPICS, "x")
    wire = await Server.connect(server.options)
    try:
        with pytest.raises(NotFound):
            await read_topics(wire)
    finally:
        await wire.close()


async def test_what_others_wrote_is_read_as_far_as_it_makes_sense(server: RunningServer) -> None:
    server.command("HSET", TOPICS, "least", b'{"v": 1, "url": "http://h", "more": [1]}', b"\xff", b"x")
    wire = await Server.connect(server.options)
    try:
        least, odd = await read_topics(wire)
    finally:
        await wire.close()
    assert least.topic == Topic(name="least", url="http://h")
    assert (odd.name, odd.topic) == ("\udcff", None)
    assert odd.problem.startswith("it cannot be read")
