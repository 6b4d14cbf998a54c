"""No name, ID, field or error makes a line of any long-running command's log."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Final

import pytest

from streamops.model.text import is_safe
from streamops.wire.keys import dead_letter_key, retry_key
from tests.support.eventually import eventually
from tests.support.project import PROJECT
from tests.support.security.speaking import END, FORGED, RECORDS
from tests.support.servers import RunningServer
from tests.support.settings.place import named_config
from tests.support.webhooks.receiver import running_receiver
from tests.system.cli.test_topics_serve import served, write

APP: Final = """
from streamops.runtime import Streamops

app = Streamops("{url}")

@app.handler("orders", group="billing", start="0")
async def bill(entry):
    pass
"""
POOL: Final = ("shop", "--stream", "orders", "--group", "billing", "--maximum", "2")
COMMANDS: Final = {
    "run": ("run", "shop:app", "--workers", "1"),
    "webhooks serve": ("webhooks", "serve"),
    "exporter": ("exporter", "--listen", "127.0.0.1:0"),
    "autoscale": ("autoscale", "run", *POOL),
    "keda": ("autoscale", "keda", *POOL, "--listen", "127.0.0.1:0"),
    "console in a browser": ("tui", "--web", "--listen", "127.0.0.1:0"),
}
LINE: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z \[\w+ *\] ")


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
async def test_hostile_text_is_one_line_in_each_commands_log(
    words: tuple[str, ...], server: RunningServer, tmp_path: Path
) -> None:
    write(tmp_path, server, "http://127.0.0.1:9")
    (tmp_path / "shop.py").write_text(APP.format(url=server.url))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": f"{PROJECT}:{tmp_path}",
        **named_config(tmp_path),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.security.speaking", *words),
        cwd=tmp_path,
        env=environ,
        stdout=DEVNULL,
        stderr=PIPE,
        limit=1 << 20,
    )
    assert process.stderr is not None
    lines = list[str]()
    try:
        async with asyncio.timeout(30):
            while not lines or END not in lines[-1]:
                line = await process.stderr.readline()
                assert line, "\n".join(lines)
                lines.append(line.decode().removesuffix("\n"))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
    assert [line for line in lines if not all(map(is_safe, line))] == []
    assert len([line for line in lines if "pwned" in line]) == RECORDS
    assert len([line for line in lines if FORGED in line]) == RECORDS


async def test_what_an_entry_says_of_itself_makes_no_line_of_its_own(
    server: RunningServer, tmp_path: Path
) -> None:
    forged = f"1-1\n{FORGED}\r{FORGED}\x1b[2J"
    async with running_receiver() as receiver:
        write(tmp_path, server, receiver.url)
        config = tmp_path / "streamops.toml"
        text = config.read_text().replace("/remind", "/answer")
        config.write_text(text.replace("retry_empty", "max_attempts = 1\nretry_empty"))
        receiver.status = 400
        fields = (
            "id",
            forged,
            "data",
            "x",
            "content_type",
            forged,
            "_so_origin_id",
            forged,
            "_so_attempt",
            "9",
        )
        async with served(tmp_path) as started:
            for key in ("topic:remind", retry_key("topic:remind", "callbacks")):
                server.command("XADD", key, "*", *fields, "_so_error", forged, "_so_origin", forged)
            await eventually(lambda: server.command("XLEN", dead_letter_key("topic:remind")) == 2)
            started.process.terminate()
            async with asyncio.timeout(20):
                _, told = await started.process.communicate()
    lines = told.decode().splitlines()
    assert "given up" in told.decode()
    assert [line for line in lines if not LINE.match(line) or not all(map(is_safe, line))] == []
