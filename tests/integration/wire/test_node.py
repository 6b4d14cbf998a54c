"""Batches on one connection after another: nothing that happened to one may reach the next."""

import asyncio
import time
from datetime import timedelta

import pytest
from msgspec.structs import replace
from redis._parsers import BaseParser

from streamops.wire.connect import MAX_CONNECTIONS, connection_pool
from streamops.wire.node import BREATH, Node, Reply
from streamops.wire.options import ConnectionOptions
from streamops.wire.redis_internals import BoundedHiredisParser, BoundedParser
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.node import check_in_step, echoes, node_of
from tests.support.wire.strangers import stranger

PARSERS = (BoundedHiredisParser, BoundedParser)
"""The parsers: with hiredis, and without."""


def node_parsing(options: ConnectionOptions, seconds: float, parser: type[BaseParser]) -> Node:
    """A node whose replies are read by this parser."""
    pool = connection_pool(options)
    pool.connection_kwargs["parser_class"] = parser
    return Node(pool, options.label, seconds)


async def test_whoever_finds_all_connections_in_use_waits_for_one(server: RunningServer) -> None:
    node, others = node_of(server.options), {each["id"] for each in server.client.client_list()}
    await asyncio.gather(*(check_in_step(node) for _ in range(4 * MAX_CONNECTIONS)))
    assert (
        1 < len([each for each in server.client.client_list() if each["id"] not in others]) <= MAX_CONNECTIONS
    )
    await node.close()


async def test_names_and_bytes_go_out_as_they_are(server: RunningServer) -> None:
    node = node_of(server.options)
    odd = b"\xff\xfe\x00 {\r\n}"
    assert await node.batch([("ECHO", odd), ("ECHO", odd.decode("utf-8", "surrogateescape"))]) == [odd, odd]
    await node.close()


async def test_replies_are_decoded_and_errors_are_not(server: RunningServer) -> None:
    node = node_of(server.options)
    replies = await node.batch([("ECHO", "7"), ("XLEN",), ("ECHO", "8")], [int, int])
    assert replies[0] == 7
    assert isinstance(replies[1], Exception)
    assert replies[2] == b"8"
    await node.close()


async def test_no_commands_no_connection(server: RunningServer) -> None:
    node = node_of(replace(server.options, socket_path="/nonexistent"))
    assert await node.batch([]) == []


async def test_cancelled_batch_does_not_put_the_next_one_out_of_step(server: RunningServer) -> None:
    """Cancelled at every moment that a batch may be in: connecting, greeting, sending, reading."""
    node = node_of(server.options)
    for turns in range(40):
        commands, _ = echoes(2 * BREATH)
        batch = asyncio.create_task(node.batch(commands))
        for _ in range(turns):
            await asyncio.sleep(0)
        batch.cancel()
        await asyncio.gather(batch, return_exceptions=True)
        await check_in_step(node)
    await node.close()


async def test_decoder_that_fails_does_not_put_the_next_batch_out_of_step(server: RunningServer) -> None:
    node = node_of(server.options)

    def fail(_: Reply) -> None:
        raise ValueError("not what was expected")

    commands, _ = echoes(3)
    with pytest.raises(ValueError, match="not what"):
        await node.batch(commands, [None, fail, None])
    await check_in_step(node)
    await node.close()


@pytest.mark.parametrize("connected", [True, False])
async def test_reply_after_the_time_limit_is_nobodys(start_server: StartServer, *, connected: bool) -> None:
    """The server wakes up after we gave up, and answers: on a connection that nobody reads any more."""
    server = start_server()
    for options in (server.options, server.tcp_options):
        node = node_of(replace(options, timeout=timedelta(seconds=0.2)), 0.2)
        if connected:
            await check_in_step(node)
        server.pause()
        late, _ = echoes(3)
        with pytest.raises(TimeoutError):
            await node.batch(late)
        server.resume()
        for _ in range(3):
            await check_in_step(node)
        await node.close()


async def test_limit_is_one_of_silence() -> None:
    """A batch may take longer than the limit as long as replies keep coming."""
    many, at_once, pause, limit = 3 * BREATH, 16, 0.01, 0.3

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"+OK\r\n")  # to the client's name
        await reader.readuntil(b"PING\r\n")
        for _ in range(many // at_once):
            writer.write(b"+drop\r\n" * at_once)
            await asyncio.sleep(pause)

    async with stranger(drip) as options:
        node = node_of(options, limit)
        started = time.monotonic()
        assert await node.batch([("PING",)] * many) == [b"drop"] * many
        assert time.monotonic() - started > limit
        await node.close()


@pytest.mark.parametrize("connected", [True, False])
async def test_a_process_that_stood_still_itself_looks_for_the_reply_first(
    server: RunningServer, *, connected: bool
) -> None:
    """The reply came long ago when the limit is found to be over."""
    node = node_of(server.options, 0.2)
    if connected:
        await check_in_step(node)
    asking = asyncio.create_task(node.batch([("PING",)]))
    await asyncio.sleep(0)
    time.sleep(0.35)  # noqa: ASYNC251 - the loop is to stand still
    assert await asking == [b"PONG"]
    await node.close()


async def test_a_silent_server_is_given_up_though_this_process_stood_still(
    start_server: StartServer,
) -> None:
    server = start_server()
    node = node_of(server.options, 0.2)
    await check_in_step(node)
    server.pause()
    asking = asyncio.create_task(node.batch([("PING",)]))
    await asyncio.sleep(0)
    time.sleep(0.35)  # noqa: ASYNC251 - the loop is to stand still
    with pytest.raises(TimeoutError):
        await asking
    server.resume()
    await node.close()


@pytest.mark.parametrize("parser", PARSERS)
async def test_one_reply_may_take_longer_than_the_limit_as_long_as_its_bytes_come(
    parser: type[BaseParser],
) -> None:
    pieces, piece, pause, limit = 30, b"x" * 1000, 0.01, 0.25

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"+OK\r\n")  # to the client's name
        await reader.readuntil(b"GET")
        writer.write(b"*2\r\n:1\r\n$%d\r\n" % (pieces * len(piece)))
        for _ in range(pieces):
            writer.write(piece)
            await asyncio.sleep(pause)
        writer.write(b"\r\n")

    async with stranger(drip) as options:
        node = node_parsing(options, limit, parser)
        started = time.monotonic()
        assert await node.batch([("GET",)]) == [[1, piece * pieces]]
        assert time.monotonic() - started > limit
        await node.close()


@pytest.mark.parametrize("parser", PARSERS)
async def test_server_that_falls_silent_within_a_reply_is_given_up(parser: type[BaseParser]) -> None:
    given_up = asyncio.Event()

    async def stop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"+OK\r\n")  # to the client's name
        await reader.readuntil(b"GET")
        writer.write(b"$8\r\nhalf")
        await given_up.wait()

    async with stranger(stop) as options:
        node = node_parsing(options, 0.1, parser)
        with pytest.raises(TimeoutError):
            await node.batch([("GET",)])
        given_up.set()
        await node.close()


@pytest.mark.parametrize("parser", PARSERS)
async def test_replies_are_the_same_without_hiredis(server: RunningServer, parser: type[BaseParser]) -> None:
    node = node_parsing(server.options, 2.0, parser)
    big = b"x" * 300_000
    for _ in range(3):
        replies = await node.batch([("ECHO", big), ("XLEN",), *[("ECHO", "7")] * BREATH], [None, None, int])
        assert replies[0] == big
        assert isinstance(replies[1], Exception)
        assert replies[2:] == [7, *[b"7"] * (BREATH - 1)]
    await node.close()


async def test_batches_side_by_side_do_not_mix(server: RunningServer) -> None:
    node = node_of(server.options)
    await asyncio.gather(*(check_in_step(node, 100) for _ in range(16)))
    await node.close()


async def test_replies_come_in_order_with_errors_among_them(server: RunningServer) -> None:
    node = node_of(server.options)
    commands, replies = echoes(2 * BREATH)
    answers = await node.batch([("NOSUCHCOMMAND",), *commands, ("XLEN",)])
    assert answers[1:-1] == replies
    assert isinstance(answers[0], Exception)
    assert isinstance(answers[-1], Exception)
    await check_in_step(node)
    await node.close()


async def test_server_that_closes_our_idle_connections(server: RunningServer) -> None:
    for options in (server.options, server.tcp_options):
        node = node_of(options)
        await asyncio.gather(*(check_in_step(node, 2 * BREATH) for _ in range(4)))
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        await asyncio.gather(*(check_in_step(node) for _ in range(4)))
        await node.close()
