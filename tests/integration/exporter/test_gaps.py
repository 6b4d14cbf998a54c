"""Whatever the exporter may not read is a gap on its page, and no gap is left once it may."""

import pytest
from msgspec.structs import replace

from streamops.exporter.series_limits import SeriesLimits, compile_patterns
from streamops.model.secret import Secret
from streamops.wire.options import ConnectionOptions
from tests.support.exporter.truth import Exposition, watching
from tests.support.servers import RunningServer

ALL_COMMANDS = ("on", ">right", "+@all")


def observer(server: RunningServer, *rules: str) -> ConnectionOptions:
    """How a user with these rules reaches the server."""
    server.command("ACL", "SETUSER", "observer", "reset", *ALL_COMMANDS, *rules)
    return replace(server.options, username="observer", password=Secret("right"))


def gaps(page: Exposition) -> dict[str, float]:
    return {labels["part"]: value for labels, value in page.samples("scrape_partial_failures")}


@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
async def test_streams_that_may_not_be_read(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, *, deep: bool
) -> None:
    for name in ("mine", "theirs", "others"):
        server.command("XADD", name, "*", "f", "v")
    options = observer(server, "~mine")
    try:
        async with watching(server, monkeypatch, options=options, deep=deep) as watched:
            for _ in range(2):
                page = await watched.look()
                assert page.value("up") == 1
                assert gaps(page) == {"streams": 2}
            server.command("ACL", "SETUSER", "observer", "~*")
            assert gaps(await watched.look()) == {}
    finally:
        server.command("ACL", "DELUSER", "observer")


async def test_what_is_not_wanted_is_not_missed(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "theirs"):
        server.command("XADD", name, "*", "f", "v")
    guards = SeriesLimits(exclude=compile_patterns(["theirs"], "--exclude"))
    try:
        options = observer(server, "~mine")
        async with watching(server, monkeypatch, options=options, guards=guards) as watched:
            assert gaps(await watched.look()) == {}
    finally:
        server.command("ACL", "DELUSER", "observer")


async def test_parts_of_streams_and_what_stands_beside(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.command("XADD", "orders", "*", "f", "v")
    for group in ("billing", "audit"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
        server.command("XREADGROUP", "GROUP", group, "w", "STREAMS", "orders", ">")
    server.command("ZADD", "{orders}:delayed", 1, "a")
    denied = ("-xinfo", "+xinfo|stream", "+xinfo|groups") if server.label != "redis-6.2" else ("-xpending",)
    try:
        options = observer(server, "~orders", *denied)
        async with watching(
            server, monkeypatch, options=options, delayed={"orders": "{orders}:delayed"}
        ) as watched:
            found = gaps(await watched.look())
    finally:
        server.command("ACL", "DELUSER", "observer")
    part = "pending entries" if server.label == "redis-6.2" else "consumers"
    assert found.items() >= {part: 2, "delayed": 1}.items()
