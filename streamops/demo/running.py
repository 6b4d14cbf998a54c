"""The demo as one thing: a server, a workload and workers on it, all gone at the end."""

import asyncio
import subprocess
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote

from streamops.demo.server import embedded_server
from streamops.demo.workload import READY
from streamops.errors import ServerError
from streamops.service.processes import module_command, module_environment
from streamops.wire.options import ConnectionOptions

READY_SECONDS = 30.0
STOP_SECONDS = 5.0


@asynccontextmanager
async def running_demo() -> AsyncIterator[ConnectionOptions]:
    """Run an embedded server with the sample workload on it; yields how to reach it.

    The history is written and the workload is at work when this yields; workers, a pool and its controller follow. All
    processes end with the context, and with this process however it ends. ``label`` of the options is a URL for a second terminal.

    Raises:
        SettingsError: There is no server to run.
        ServerError: The server or the workload did not start.
    """
    with embedded_server() as options:
        url = f"unix://{quote(options.socket_path or '')}"
        async with (
            _running("streamops.demo.parcels", url=url) as parcels,
            _running("streamops.demo.workload", "--url", url) as workload,
        ):
            await _wait_until_ready(workload)
            await _wait_until_ready(parcels)
            yield options


@asynccontextmanager
async def _running(module: str, *args: str, url: str = "") -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *module_command(module, *args),
        env=module_environment() | ({"STREAMOPS_URL": url} if url else {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A Ctrl-C in the terminal is for the console, which then stops it in order.
        start_new_session=True,
    )
    try:
        yield process
    finally:
        await _stop(process)


async def _wait_until_ready(process: Process) -> None:
    words = ""
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            output, errors = process.stdout, process.stderr
            if output is not None and (await output.readline()).strip() == READY.encode():
                return
            words = "" if errors is None else (await errors.read()).decode(errors="replace")
    last = next((line for line in reversed(words.splitlines()) if line.strip()), "it said nothing")
    raise ServerError(
        f"the demo's workload did not start: {last}", "Name a running server with `--url` instead."
    )


async def _stop(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
