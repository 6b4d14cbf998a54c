"""Consoles of the server of tabs: each is a process that ends with its tab."""

import os
import re
import signal
import sys

import pytest

from streamops.tui.web import console
from streamops.tui.web import server as web_server
from tests.support.tui.web.server import (
    COMMAND,
    ECHO,
    PATIENCE,
    ended,
    is_running,
    pid_of,
    read_until,
    served,
)


async def test_a_tab_gets_a_console_of_its_size_and_it_ends_with_the_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["stdin", "/"])
        await read_until(socket, rb"lag>")
        await socket.send_json(["stdin", "ledger"])
        await read_until(socket, rb"ledger")
        await socket.close()
        await ended(pid)


async def test_a_console_that_answers_nothing_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.1)
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        os.kill(pid, signal.SIGSTOP)
        await socket.close()
        await ended(pid)


async def test_a_console_that_quits_closes_its_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["stdin", "\x11"])
        while not socket.closed:
            await socket.receive(timeout=PATIENCE)
        assert socket.close_code == 1000
        await ended(pid)


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ('["stdin", "j\u00e9"]', b"D\0\0\0\x03j\xc3\xa9"),
        ('["focus"]', b'M\0\0\0\x11{"type": "focus"}'),
        ('["resize", {"width": 9, "height": 3}]', b'{"type": "resize", "width": 9, "height": 3}'),
        ('["resize", {"width": 99999, "height": 3}]', b'{"type": "resize", "width": 2000, "height": 3}'),
    ],
)
async def test_messages_of_the_page_are_passed_on(message: str, sent: bytes) -> None:
    async with served(ECHO) as client:
        socket = await client.open()
        await socket.send_str(message)
        await read_until(socket, re.escape(sent))


async def test_a_console_has_what_it_was_given_and_opens_nothing() -> None:
    async with served(ECHO) as client:
        socket = await client.open(size="?width=33&height=99999")
        # What it asks for before is not passed on: this is the first message of all.
        await read_until(socket, rb'^{"COLUMNS": "33", "ROWS": "2000", "SECRET": "s3cret"}$')
        assert await client.status("/download/k") == 404


@pytest.mark.parametrize(
    "message",
    [
        "",
        "x",
        "{}",
        "[]",
        "1",
        '["stdin"]',
        '["stdin", 1]',
        '["stdin", "\\ud800"]',
        '["resize", {"width": 9}]',
        '["resize", {"width": "9", "height": 3}]',
    ],
)
async def test_a_message_that_no_page_sends_closes_the_tab(message: str) -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_str(message)
        while not socket.closed:
            await socket.receive(timeout=PATIENCE)
        assert socket.close_code == 1008
        await ended(pid)


async def test_a_console_is_told_nothing_else() -> None:
    async with served(ECHO) as client:
        socket = await client.open()
        for message in ('["meta", {"type": "exit"}]', '["quit"]', '["deliver_chunk_request", {"key": "k"}]'):
            await socket.send_str(message)
        await socket.send_str('["stdin", "end"]')
        (found,) = (await read_until(socket, rb"}(.*end)")).groups()
        assert found == b"D\0\0\0\x03end"


async def test_consoles_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "MOST_CONSOLES", 1)
    async with served() as client:
        first = await client.open()
        pid = await pid_of(first)
        second = await client.open()
        await second.receive()
        assert second.close_code == 4429
        await first.close()
        await ended(pid)
        third = await client.open()
        assert await pid_of(third) != pid
        await third.close()


async def test_all_consoles_end_with_the_server() -> None:
    async with served() as client:
        sockets = [await client.open() for _ in range(2)]
        pids = [await pid_of(socket) for socket in sockets]
        assert len(set(pids)) == 2
    for pid in pids:
        assert not is_running(pid)


async def test_why_a_console_failed_is_shown_and_only_shown() -> None:
    async with served((*COMMAND, "fails")) as client:
        socket = await client.open()
        found = await read_until(socket, rb"error: (.*) nothing answers")
        assert b"\x1b" not in found[1]
        assert b"\x07" not in found[1]


async def test_no_shell_reads_the_command() -> None:
    words = "a 'b'; echo $HOME `id` > x"
    async with served((sys.executable, "-c", "import sys; sys.exit(sys.argv[1])", words)) as client:
        await read_until(await client.open(), re.escape(words.encode()))
