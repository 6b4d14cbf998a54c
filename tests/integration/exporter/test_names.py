"""Names that are hard to print, from the server to what Prometheus reads; on every server version."""

import pytest

from streamops.model.text import encodable
from tests.support.exporter.names import NAMES, add_a_stream_of_every_name
from tests.support.exporter.truth import watching
from tests.support.servers import RunningServer


def printed(name: bytes) -> str:
    """What a label says of a name."""
    return encodable(name.decode(errors="surrogateescape"))


async def test_names_come_out_as_they_went_in(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    add_a_stream_of_every_name(server)
    async with watching(server, monkeypatch) as watched:
        page = await watched.look_for("delayed_entries")
    assert len({printed(name) for name in NAMES}) == len(NAMES)
    for name in map(printed, NAMES):
        labels = {"db": "0", "stream": name, "group": name, "consumer": name}
        assert page.value("consumer_pending_entries", **labels) == 1
        assert page.value("stream_length", db="0", stream=name) == 1
    sources = {labels["source"] for labels, _ in page.samples("dlq_entries")}
    # Braces of its own are its hash tag: what stands before them belongs to the name.
    assert {printed(name) for name in NAMES} - sources <= {"{braces},comma=x"}
    assert len(page.samples("delayed_entries")) == len(NAMES)


async def test_what_is_gone_is_not_told(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    add_a_stream_of_every_name(server)
    async with watching(server, monkeypatch) as watched:
        await watched.look_for("delayed_entries")
        server.flush()
        # Whoever deletes does not tell discovery: the streams are still asked for.
        page = await watched.glance()
        assert page.value("up") == 1
        assert not page.subjects("stream")
        assert not page.subjects("group")
        assert not page.subjects("consumer")
        assert page.value("stream_length") is None
