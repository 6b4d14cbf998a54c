"""Consoles of the server of tabs: each is a process that ends with its tab."""

import os
import signal

import pytest

from streamops.tui.web import child
from tests.support.tui.web.server import (
    COMMAND,
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
    monkeypatch.setattr(child, "PATIENCE", 0.1)
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


async def test_a_message_that_no_page_sends_closes_the_tab() -> None:
    async with served() as client:
        socket = await client.open()
        pid = await pid_of(socket)
        await socket.send_json(["meta", {"type": "exit"}])
        while not socket.closed:
            await socket.receive(timeout=PATIENCE)
        assert socket.close_code == 1008
        await ended(pid)


async def test_consoles_are_counted() -> None:
    async with served(most=1) as client:
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
    async with served(command=(*COMMAND, "fails")) as client:
        socket = await client.open()
        found = await read_until(socket, rb"error: (.*) nothing answers")
        assert b"\x1b" not in found[1]
        assert b"\x07" not in found[1]
