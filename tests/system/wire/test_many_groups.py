"""Streams with more groups than a script can read within its time."""

from streamops.operations.console import Console
from streamops.operations.trim.intent import TrimIntent
from tests.support.servers import RunningServer
from tests.support.wire.many_groups import MOST, make, patient


async def test_what_a_crowded_stream_needs_is_not_trimmed(server: RunningServer) -> None:
    make(server, "crowded", MOST + 1)
    async with await Console.open(patient(server)) as console:
        prepared = await console.prepare(TrimIntent(stream="crowded", maxlen=0, exact=True))
    assert prepared.plan.count == 0
