"""Names that are hard to print, from the server to what Prometheus reads; on every server version."""

import subprocess

import pytest

from streamops.analysis.safe_text import encodable
from tests.exporter.truth import watching
from tests.prometheus import find_program
from tests.servers import RunningServer

NAMES = (
    b'quo"ted',
    b"new\nline",
    b"back\\slash",
    b"back\\nslash",
    b"not \xff\xfe UTF-8",
    b"{braces},comma=x",
    "été \u2028".encode(),
    b" ",
    b"# HELP",
)


def printed(name: bytes) -> str:
    """What a label says of a name."""
    return encodable(name.decode(errors="surrogateescape"))


def fill(server: RunningServer) -> None:
    """A stream of every name, with a group, a consumer, dead letters and delayed messages."""
    for name in NAMES:
        server.client.xadd(name, {"a": "1"})
        server.client.xgroup_create(name, name, id="0")
        server.command("XREADGROUP", "GROUP", name, name, "STREAMS", name, ">")
        server.client.xadd(b"{%s}:dlq" % name, {"a": "1"})
        server.client.zadd(b"{%s}:delayed" % name, {"id": 1})


async def test_names_come_out_as_they_went_in(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(server)
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


async def test_promtool_finds_nothing(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [find_program("promtool"), "check", "metrics"]
    fill(server)
    async with watching(server, monkeypatch) as watched:
        await watched.look_for("delayed_entries")
        page = await watched.look()
    checked = subprocess.run(command, input=page.body, capture_output=True, timeout=30, check=False)  # noqa: ASYNC221 - the scraper is closed
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


async def test_what_is_gone_is_not_told(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(server)
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
