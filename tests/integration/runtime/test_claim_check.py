"""A body has one shape, whether it stays in its entry or lies beside the stream."""

import msgspec
import pytest

from streamops.runtime import Streamops
from streamops.runtime.payloads import Payload
from streamops.runtime.publisher import Publisher
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer


class Order(msgspec.Struct):
    text: str


@pytest.mark.parametrize(
    "body", [{"n": 1, "part": 0.5, "paid": True, "text": "ä" * 50}, Order("x"), [("n", "1"), ("n", b"2")]]
)
@pytest.mark.parametrize("max_inline", [0, 10_000])
async def test_body_beside_its_stream_has_the_shape_it_has_inline(
    server: RunningServer, body: object, max_inline: int
) -> None:
    app, seen = Streamops(server.options), list[dict[str, str]]()

    @app.handler("s", group="g", start="0", key="kind")
    async def handle(fields: dict[str, str]) -> None:
        seen.append(fields)

    async with Publisher(server.options, payload=Payload(max_inline=max_inline)) as publisher:
        await publisher.publish("s", body, fields={"kind": "monthly"})
    async with working(app):
        await until(lambda: seen and is_idle(server, "s"))
    if isinstance(body, dict):
        assert seen == [{"n": "1", "part": "0.5", "paid": "true", "text": "ä" * 50, "kind": "monthly"}]
    elif isinstance(body, Order):
        assert seen == [{"data": '{"text":"x"}', "kind": "monthly"}]
    else:
        assert seen == [{"n": "2", "kind": "monthly"}]
