"""``streamops run`` as a process of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamops.service.processes import module_environment
from tests.support.servers import RunningServer

APP = """
import os, time
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0", concurrency=2, retry=0.05)
def handle(entry: Entry) -> None:
    word = (entry.get("do") or b"").decode()
    if word == "die":
        os.kill(os.getpid(), 9)
    while word == "wait" and os.path.exists("held"):
        time.sleep(0.01)
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(f"{entry.id} {os.getpid()}\\n")
"""


class Running:
    """A supervisor at work, its log and its handlers' ledger."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, ledger: Path) -> None:
        self.process = process
        self._log = log
        self._ledger = ledger

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def handled(self) -> list[tuple[str, int]]:
        lines = self._ledger.read_text().splitlines()
        return [(entry_id, int(pid)) for entry_id, pid in map(str.split, lines)]

    def tell(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def children(self) -> set[int]:
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {int(pid) for pid in text.split()}


@contextmanager
def supervising(
    server: RunningServer, directory: Path, *options: str, app: str = APP, named: bool = True
) -> Iterator[Running]:
    (directory / "shop.py").write_text(app)
    ledger, log = directory / "ledger", directory / "log"
    ledger.touch()
    words = [
        sys.executable,
        "-m",
        "streamops",
        *(("--url", server.unix_url) if named else ()),
        "run",
        "shop:app",
        "--beat",
        "0.2s",
        *options,
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            words,
            cwd=directory,
            env=module_environment() | {"LEDGER": str(ledger)},
            stdout=output,
            stderr=output,
        )
    try:
        yield Running(process, log, ledger)
    finally:
        process.kill()
        process.wait()
