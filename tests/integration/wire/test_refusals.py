"""A server that cannot be reached, or turns us away, is told of in one line, in time and without secrets."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, UnexpectedReply, Unreachable
from streamops.model.streams import Mode
from streamops.wire.faults import DEFAULT_LABEL
from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer, StartServer, choose_port
from tests.support.wire.refusals import refusal, with_password
from tests.support.wire.strangers import loopback, saying, stranger


async def test_password_where_none_is_wanted_by_the_default_user(server: RunningServer) -> None:
    """Redis refuses AUTH with one word where the default user has no password."""
    error = await refusal(with_password(server.options))
    assert isinstance(error, Refused)


async def test_no_password_where_one_is_wanted(start_server: StartServer) -> None:
    server = start_server("--requirepass", "s3cret")
    for options in (server.options, server.tcp_options):
        error = await refusal(options)
        assert isinstance(error, Refused)
        assert "wants a password and none was given" in error.message


async def test_a_port_that_nobody_listens_on_is_unreachable() -> None:
    error = await refusal(with_password(loopback(choose_port())))
    assert isinstance(error, Unreachable)
    assert "the connection was refused" in error.message


async def test_nobody_listens_at_the_default_address() -> None:
    options = replace(loopback(choose_port()), label=DEFAULT_LABEL)
    assert "streamops demo" in (await refusal(options)).hint


async def test_a_socket_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    path = str(tmp_path / "nothing")
    options = ConnectionOptions(addresses=(), socket_path=path, label=f"unix://{path}")
    error = await refusal(with_password(options))
    assert isinstance(error, Unreachable)
    assert "No such file" in error.message


async def test_name_that_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_args: object, **_kwargs: object) -> None:
        raise OSError(-2, "Name or service not known")

    # The machine's resolver may take longer than any patience: what counts is the error that it ends in.
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", fail)
    options = ConnectionOptions(addresses=(("redis.invalid", 6379),), label="redis://redis.invalid:6379/0")
    error = await refusal(with_password(options))
    assert isinstance(error, Unreachable)
    assert "Name or service not known" in error.message


async def test_server_that_accepts_and_never_answers(start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    for options in (server.tcp_options, server.options):
        error = await refusal(with_password(replace(options, timeout=timedelta(milliseconds=200))))
        assert isinstance(error, Unreachable)
        assert "no answer in time" in error.message
        assert "--timeout" in error.hint


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html></html>",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x0a",
        bytes(range(1, 32)) * 100 + b"\r\n",
    ],
    ids=["http", "ssh", "tls-alert", "noise"],
)
async def test_server_that_speaks_another_protocol(answer: bytes) -> None:
    async with stranger(saying(answer)) as options:
        error = await refusal(with_password(options))
    assert isinstance(error, UnexpectedReply)
    assert "does not speak Redis's protocol" in error.message


async def test_server_that_hangs_up() -> None:
    async with stranger(saying(b"")) as options:
        assert isinstance(await refusal(with_password(options)), Unreachable)


async def test_server_that_repeats_what_it_was_told() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while heard := await reader.read(1000):
            writer.write(heard)

    async with stranger(echo) as options:
        await refusal(with_password(options, "operator"))


async def test_server_without_auth_repeats_the_password(program_without_auth: RunningServer) -> None:
    """Redis answers an unknown command with its arguments: here, with the password."""
    error = await refusal(with_password(program_without_auth.options))
    assert isinstance(error, UnexpectedReply)


@pytest.fixture
def program_without_auth(start_server: StartServer) -> RunningServer:
    return start_server("--rename-command", "AUTH", "")


async def test_protected_mode_says_what_to_do() -> None:
    denial = b"-DENIED Redis is running in protected mode because protected mode is enabled and no password"
    async with stranger(saying(denial + b" is set for the default user.\r\n")) as options:
        error = await refusal(options)
    assert isinstance(error, Refused)
    assert "protected mode" in error.message


async def test_server_that_is_loading() -> None:
    async with stranger(saying(b"-LOADING Redis is loading the dataset in memory\r\n")) as options:
        error = await refusal(options)
    assert isinstance(error, Unreachable)
    assert "loading its data" in error.message
    assert "Try again" in error.hint


async def test_standalone_server_asked_as_a_cluster(server: RunningServer) -> None:
    error = await refusal(replace(server.tcp_options, mode=Mode.CLUSTER))
    assert isinstance(error, UnexpectedReply)
    assert "is not a cluster" in error.message


async def test_cluster_without_slots(start_server: StartServer) -> None:
    server = start_server("--cluster-enabled", "yes")
    error = await refusal(replace(server.tcp_options, mode=Mode.CLUSTER))
    assert isinstance(error, Unreachable)
    assert "has not shared out its slots" in error.message


@pytest.mark.parametrize("reachable", [True, False])
async def test_cluster_that_turns_us_away(start_server: StartServer, *, reachable: bool) -> None:
    server = start_server("--requirepass", "s3cret")
    port = server.port if reachable else choose_port()
    error = await refusal(with_password(replace(loopback(port), mode=Mode.CLUSTER)))
    assert isinstance(error, Refused if reachable else Unreachable)


@pytest.mark.parametrize("user", [None, "operator"])
async def test_a_wrong_password_is_refused(server: RunningServer, user: str | None) -> None:
    server.command("ACL", "SETUSER", "operator", "on", ">the-right-one", "~*", "+@all")
    server.command("ACL", "SETUSER", "default", "resetpass", ">the-right-one")
    try:
        for options in (server.options, server.tcp_options):
            error = await refusal(with_password(options, user))
            assert isinstance(error, Refused)
            assert "refused the password of" in error.message
            assert (user or "the default user") in error.message
    finally:
        # This connection was there before the password, and so needs none.
        server.command("ACL", "SETUSER", "default", "nopass")


async def test_database_that_does_not_exist(server: RunningServer) -> None:
    error = await refusal(replace(server.options, database=4711))
    assert isinstance(error, UnexpectedReply)
    assert "DB index" in error.message
    assert "database" in error.hint
