"""Topics in Redis, on real servers."""

import pytest

from streamops.errors import NotFound, StalePlan
from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.wire.server import Server
from streamops.wire.topics import TOPICS, put_topic, read_topic, read_topics, remove_topic
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


TOPIC = Topic(
    name="remind",
    url="https://h/?a=b",
    headers=(("A", "b"), ("C", "d")),
    secret=Secret("x" * 16),
    enabled=False,
)


async def test_a_topic_comes_back_as_it_was_put(server: RunningServer) -> None:
    wire = await Server.connect(server.options)
    try:
        assert (await read_topic(wire, "remind")).digest == ""
        await put_topic(wire, TOPIC, "")
        kept = await read_topic(wire, "remind")
        assert (kept.topic, kept.problem) == (TOPIC, "")
        assert await read_topics(wire) == [kept]
        with pytest.raises(StalePlan, match="changed since the plan"):
            await put_topic(wire, TOPIC, "")
        with pytest.raises(StalePlan, match="changed since the plan"):
            await remove_topic(wire, "remind", "0" * 40)
        await remove_topic(wire, "remind", kept.digest)
        assert await read_topics(wire) == []
        with pytest.raises(StalePlan):
            await remove_topic(wire, "remind", kept.digest)
    finally:
        await wire.close()
