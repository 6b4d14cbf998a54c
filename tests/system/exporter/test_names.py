"""Names that are hard to print, from the server to what Prometheus reads; on every server version."""

import pytest

from tests.support.exporter.names import add_a_stream_of_every_name
from tests.support.exporter.truth import watching
from tests.support.prometheus import assert_clean
from tests.support.servers import RunningServer


async def test_promtool_finds_nothing(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    add_a_stream_of_every_name(server)
    async with watching(server, monkeypatch) as watched:
        await watched.look_for("delayed_entries")
        page = await watched.look()
    assert_clean(page.body)
