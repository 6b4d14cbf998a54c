"""Moving due messages: what becomes of them, of what cannot be moved, and when the server refuses."""

import pytest

from streamops.errors import Forbidden
from streamops.model.delayed import DelayedBody
from streamops.wire.consuming.promoting import promote_due
from streamops.wire.delayed import decode_body
from streamops.wire.delayed_writes import delayed_get
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.streams import parts_of
from tests.support.wire.consuming.promoting import LETTERS, ORDER, RETRIES, RETRY, delay, named, pump_all


async def test_pumping_a_cluster_moves_messages_of_all_slots(cluster: RunningCluster) -> None:
    server = await Server.connect(cluster.options)
    try:
        elsewhere = DelayedBody("elsewhere", ORDER.fields)
        await delay(server, ("a", ORDER, 0), ("r", RETRY, 1), ("e", elsewhere, 2))
        first = await pump_all(server)
        assert (first.moved, set(first.unknown)) == (1, {RETRIES})
        second = await pump_all(server, *first.unknown)
        assert (second.moved, second.next_due_ms) == (1, None)
        assert first.buried == (("e", "it names another stream"),)
        (letter,) = parts_of(cluster.node_of(LETTERS), LETTERS)
        assert decode_body(named(letter)[b"body"]) == elsewhere
        assert await delayed_get(server, "orders", "e") is None
        with pytest.raises(Forbidden):
            await promote_due(server, "a}b")
    finally:
        await server.close()
