"""Plain functions in threads, which nothing can cut off."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.support.project import PROJECT
from tests.support.servers import RunningServer

PROGRAM = """
import sys, threading
from streamops.runtime import Entry, Streamops

app = Streamops(sys.argv[1])

@app.handler("s", group="g", start="0", threads=True)
def handle(entry: Entry) -> None:
    print("begun", flush=True)
    threading.Event().wait()

if __name__ == "__main__":
    from datetime import timedelta
    from streamops.runtime import WorkerOptions
    app.run(WorkerOptions(beat=timedelta(seconds=0.2), grace=timedelta(seconds=0.1)))
"""


async def test_a_process_ends_though_a_thread_goes_on(server: RunningServer, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    server.client.xadd("s", {"a": "1"})
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, server.url, env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
    ((_, _, idle, _),) = server.command("XPENDING", "s", "g", "-", "+", 10)
    assert idle < 60_000
