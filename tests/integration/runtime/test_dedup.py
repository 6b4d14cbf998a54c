"""What cannot be handled as it came: one entry with a bad key or payload ends in the dead letters, and costs no other."""

from collections.abc import Callable

import pytest

from streamops.runtime import Entry, Reject, Streamops
from streamops.runtime.events import Duplicate
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import add_entry, fields_of

NESTED = b'{"x":' + b"[" * 100_000
GUARD = "{s}:done:g:"


async def play(
    server: RunningServer, key: str | Callable[..., str] | None
) -> tuple[list[bytes], list[Duplicate]]:
    """Have a worker handle all there is; the numbers that it handled, and whose key was another's."""
    app, handled, duplicates = Streamops(server.options), list[bytes](), list[Duplicate]()
    app.on(Duplicate)(duplicates.append)

    @app.handler("s", group="g", start="0", key=key)
    async def handle(entry: Entry) -> None:
        handled.append(entry.get("n") or b"")

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    return handled, duplicates


async def test_a_body_nested_too_deep_to_look_into_costs_no_worker(server: RunningServer) -> None:
    add_entry(server, "s", "data", NESTED)
    add_entry(server, "s", "n", "1", "order", "7")
    assert await play(server, "order") == ([b"1"], [])
    (letter,) = fields_of(server, "{s}:dlq")
    assert letter[b"_so_reason"] == b"undecodable"
    assert letter[b"data"] == NESTED


async def test_a_key_that_is_no_text_costs_no_worker(server: RunningServer) -> None:
    add_entry(server, "s", "n", "1")
    add_entry(server, "s", "n", "2")
    assert await play(server, lambda entry: "\ud800" if entry.get("n") == b"1" else "7") == ([b"2"], [])
    assert [letter[b"_so_reason"] for letter in fields_of(server, "{s}:dlq")] == [b"undecodable"]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raises(error: Exception) -> str:
    raise error


@pytest.mark.parametrize("error", [Unspeakable(), ValueError("\ud800"), RecursionError()])
async def test_whatever_a_key_function_raises_is_about_its_entry(
    server: RunningServer, error: Exception
) -> None:
    add_entry(server, "s", "n", "1")
    add_entry(server, "s", "n", "2")
    key: Callable[[Entry], str] = lambda entry: raises(error) if entry.get("n") == b"1" else "7"  # noqa: E731 - short
    assert await play(server, key) == ([b"2"], [])
    (letter,) = fields_of(server, "{s}:dlq")
    assert letter[b"_so_reason"] == b"undecodable"
    assert type(error).__name__.encode() in letter[b"_so_error"]


async def test_a_guard_of_another_type_costs_its_entry_alone(server: RunningServer) -> None:
    server.command("RPUSH", f"{GUARD}7", "somebody's")
    add_entry(server, "s", "n", "1", "order", "7")
    add_entry(server, "s", "n", "2", "order", "8")
    assert await play(server, "order") == ([b"2"], [])
    (letter,) = fields_of(server, "{s}:dlq")
    assert letter[b"_so_reason"] == b"undecodable"
    assert f"{GUARD}7".encode() in letter[b"_so_error"]
    assert server.command("TYPE", f"{GUARD}7") == b"list"


async def test_a_duplicate_is_told_by_its_key(server: RunningServer) -> None:
    add_entry(server, "s", "n", "1", "order", "a:7%")
    second = add_entry(server, "s", "n", "2", "order", "a:7%")
    assert await play(server, "order") == ([b"1"], [Duplicate("s", "g", second, "a:7%")])


@pytest.mark.parametrize(
    "key", ["{t}:payload:secret", "secret", "{s}:done:g:7", "{s}x:payload:1", "s:payload:1"]
)
async def test_entry_that_names_a_key_not_beside_its_stream_is_handled_without_it(
    server: RunningServer, key: str
) -> None:
    server.command("SET", key, "secret", "PX", 60_000)
    add_entry(server, "s", "n", "1", "_so_payload", key)
    app, handled = Streamops(server.options), list[tuple[object, ...]]()

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        handled.append((entry.payload, entry.get("n"), entry.get("_so_payload")))
        raise Reject("no")

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert handled == [(None, b"1", key.encode())]
    assert server.command("PTTL", key) > 0


async def test_a_payload_that_is_gone_frees_the_key_of_its_entry(server: RunningServer) -> None:
    """An earlier try had taken it, before the payload's time was over."""
    one = add_entry(server, "s", "n", "1", "order", "7", "_so_payload", "{s}:payload:gone")
    server.command("SET", f"{GUARD}7", one)
    server.command("SET", f"{GUARD}8", "1-1")
    add_entry(server, "s", "n", "2", "order", "8", "_so_payload", "{s}:payload:gone")
    assert await play(server, "order") == ([], [])
    assert [letter[b"_so_reason"] for letter in fields_of(server, "{s}:dlq")] == [b"payload-missing"] * 2
    assert server.command("EXISTS", f"{GUARD}7") == 0
    assert server.command("GET", f"{GUARD}8") == b"1-1"
