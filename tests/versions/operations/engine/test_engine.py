"""The engine: what it refuses, and that whatever it refuses is refused before the first write."""

import pytest

from streamops.errors import (
    Refused,
    StreamopsError,
)
from streamops.model.acting import (
    Limits,
)
from streamops.operations.console import Console
from streamops.wire.writes.audit import AUDIT
from tests.support.operations.engine.engine import ACK, ANN, YES, open_as
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

pytestmark = pytest.mark.border_servers("what a server counts, permits and answers differs by version")


@pytest.mark.parametrize("rule", ["-xack", "-@write"])
async def test_a_missing_permission_is_told_before_the_first_write(
    rule: str, own_server: RunningServer
) -> None:
    async with await open_as(own_server, rule) as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Refused, match="XACK") as told:
            await console.apply(prepared, YES)
    assert told.value.exit_code == 4
    assert "Nothing was done" in told.value.hint
    assert "--acl operator" in told.value.hint
    assert pending_count(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)


async def test_out_of_memory_is_told_before_the_first_write(own_server: RunningServer) -> None:
    async with await Console.open(own_server.options, actor=ANN) as console:
        prepared = await console.prepare(ACK)
        own_server.command("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(StreamopsError, match="out of memory") as told:
            await console.apply(prepared, YES)
        assert told.value.exit_code == 4
        assert pending_count(own_server) == 3
        # Acknowledging needs no memory: it is the log that does.
        outcome = await console.apply(await console.prepare(ACK, Limits(unaudited=True)), YES)
    assert (outcome.applied, pending_count(own_server)) == (3, 0)
