"""Topics in Redis, on real servers."""

import pytest

from streamops.errors import StalePlan
from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.wire.server import Server
from streamops.wire.topics import put_topic, read_topic, read_topics, remove_topic
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


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
        with pytest.raises(StalePlan, match="changed meanwhile"):
            await put_topic(wire, TOPIC, "")
        with pytest.raises(StalePlan, match="changed meanwhile"):
            await remove_topic(wire, "remind", "0" * 40)
        await remove_topic(wire, "remind", kept.digest)
        assert await read_topics(wire) == []
        with pytest.raises(StalePlan):
            await remove_topic(wire, "remind", kept.digest)
    finally:
        await wire.close()
