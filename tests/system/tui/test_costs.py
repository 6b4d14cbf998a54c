"""What the console does for a key, and what it brings along to its first screen: counted, not timed."""

import json
import subprocess
import sys

from tests.support.project import PROJECT

START = """
import asyncio, json, sys
from tests.support.tui import sample
from tests.support.tui.driving import running, shown
from tests.support.tui.source import InventedSource, app_for

async def start():
    app = app_for(InventedSource(sample.shop()))
    async with running(app):
        await shown(app, "fulfilment")

asyncio.run(start())
json.dump(sorted(sys.modules), sys.stdout)
"""


def test_the_first_screen_brings_neither_the_engine_nor_other_screens_along() -> None:
    output = subprocess.run(
        [sys.executable, "-c", START],
        capture_output=True,
        text=True,
        check=True,
        cwd=PROJECT,
        timeout=60,
    ).stdout
    modules = set(json.loads(output))
    assert {name for name in modules if name.startswith("streamops.tui.screens.")} == {
        f"streamops.tui.screens.{name}" for name in ("frame", "listing", "status")
    }
    heavy = ("redis", "streamops.wire", "streamops.operations.", "streamops.tui.acting.")
    assert not {name for name in modules if name.startswith(heavy)}
