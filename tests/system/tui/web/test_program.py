import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.support.servers import RunningServer
from tests.support.tui.web.program import PATIENCE, Program, web_console
from tests.support.tui.web.server import ended, is_running, read_until


async def open_tab(session: aiohttp.ClientSession, program: Program) -> aiohttp.ClientWebSocketResponse:
    socket = await session.ws_connect(
        f"{program.origin.replace('http', 'ws')}/ws?width=160&height=40", headers={"Origin": program.origin}
    )
    await socket.send_str(program.token)
    return socket


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_consoles_end_with_the_program_however_that_ends(
    server: RunningServer, ending: signal.Signals
) -> None:
    server.command("XADD", "orders", "*", "a", "1")
    async with web_console("--url", server.unix_url) as program, aiohttp.ClientSession() as session:
        await read_until(await open_tab(session, program), b"orders")
        (console,) = children_of(program.process.pid)
        program.process.send_signal(ending)
        async with asyncio.timeout(PATIENCE):
            code = await program.process.wait()
        assert code == (-signal.SIGKILL if ending is signal.SIGKILL else 0)
        await ended(console)


async def test_the_token_is_in_no_log_and_no_list_of_processes(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the flag stands against.
    monkeypatch.setenv("STREAMOPS_CONTEXT", "nowhere")
    url = server.unix_url
    async with (
        web_console("--url", url, "--log-level", "debug") as program,
        aiohttp.ClientSession() as session,
    ):
        await read_until(await open_tab(session, program), b"read-only")
        (console,) = children_of(program.process.pid)
        shown = command_of(console)
        assert program.token.encode() not in shown
        assert url.encode() not in shown
        program.process.terminate()
        async with asyncio.timeout(PATIENCE):
            _, stderr = await program.process.communicate()
        assert program.token.encode() not in stderr
        assert not is_running(console)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--listen", "127.0.0.1:0"], "--listen needs --web"),
        (["--allow-writing"], "--allow-writing needs --web"),
        (["--web", "--listen", "0.0.0.0:0"], "no loopback address"),
        (["--web", "--listen", "9642"], "not HOST:PORT"),
    ],
)
def test_what_does_not_go_together_is_told(args: list[str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streamops", "tui", *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert words in done.stderr


def test_a_library_that_is_missing_is_told() -> None:
    program = "import sys; sys.modules['textual_serve'] = None; from streamops.main import main; main()"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            "tui",
            "--web",
            "--listen",
            "127.0.0.1:0",
            "--url",
            "redis://127.0.0.1:1",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "pip install 'streamops[web]'" in done.stderr
