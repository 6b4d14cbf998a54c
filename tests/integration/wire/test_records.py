"""Reading the audit log: its records may be large."""

import pytest

from streamops.model.entries import EntryId
from streamops.wire.server import Server
from streamops.wire.writes import audit
from streamops.wire.writes.audit import AUDIT, read_records
from tests.support.servers import RunningServer


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("count", [1, 3, 10, 12, 100])
async def test_large_records_are_read_some_at_a_time(
    server: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    newest_first: bool,
    count: int,
) -> None:
    monkeypatch.setattr(audit, "LARGEST_PAGE", 3)
    monkeypatch.setattr(audit, "PAGE_BYTES", 1_000)
    for number in range(1, 13):
        server.command("XADD", AUDIT, f"{number}-0", "undo", "x" * (2_000 if number in {4, 5} else 10))
    connected = await Server.connect(server.options)
    told = await read_records(
        connected, start=EntryId(2, 0), end=EntryId(11, 0), count=count, newest_first=newest_first
    )
    await connected.close()
    assert isinstance(told, tuple)
    numbers = [*range(2, 12)][:: -1 if newest_first else 1][:count]
    assert [one.id.ms for one in told] == numbers
