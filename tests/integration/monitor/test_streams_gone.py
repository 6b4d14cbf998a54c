"""Streams that vanish with their server's data are told of; one that somebody deletes is not."""

from streamops.model.observation import FindingCode, Health, Observation
from tests.support.operations.doing import open_console
from tests.support.servers import RunningServer, StartServer

STREAMS = ("emails", "orders")


def add_streams(server: RunningServer) -> None:
    for name in STREAMS:
        server.command("XADD", name, "*", "n", 1)


def told(observation: Observation) -> list[tuple[Health, str]]:
    return [(one.level, one.text) for one in observation.findings if one.code is FindingCode.STREAMS_GONE]


async def test_streams_gone_after_a_restart_without_data_are_told_until_they_are_back(
    start_server: StartServer,
) -> None:
    server = start_server()
    add_streams(server)
    async with await open_console(server) as console:
        await console.discover()
        assert told(await console.observe()) == []
        server.kill()
        server.restart()
        ((level, text),) = told(await console.observe())
        assert level is Health.CRITICAL
        assert text.startswith("2 streams vanished")
        assert "(emails, orders): the server was restarted without its data, or replaced" in text
        server.command("XADD", "orders", "*", "n", 1)
        await console.discover()
        ((_, text),) = told(await console.observe())
        assert text.startswith("1 stream vanished")


async def test_streams_that_a_flush_took_are_a_warning(server: RunningServer) -> None:
    add_streams(server)
    async with await open_console(server) as console:
        await console.discover()
        await console.observe()
        server.command("FLUSHALL")
        ((level, text),) = told(await console.observe())
    assert level is Health.WARN
    assert text.endswith("none is left")


async def test_stream_that_somebody_deletes_is_no_finding(server: RunningServer) -> None:
    add_streams(server)
    async with await open_console(server) as console:
        await console.discover()
        await console.observe()
        server.command("DEL", "orders")
        assert told(await console.observe()) == []
