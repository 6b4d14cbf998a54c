"""Names that are hard to print, from the server to what Prometheus reads; on every server version."""

import subprocess

import pytest

from tests.support.exporter.names import add_a_stream_of_every_name
from tests.support.exporter.truth import watching
from tests.support.prometheus import find_program
from tests.support.servers import RunningServer


async def test_promtool_finds_nothing(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [find_program("promtool"), "check", "metrics"]
    add_a_stream_of_every_name(server)
    async with watching(server, monkeypatch) as watched:
        await watched.look_for("delayed_entries")
        page = await watched.look()
    checked = subprocess.run(command, input=page.body, capture_output=True, timeout=30, check=False)  # noqa: ASYNC221 - the scraper is closed
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
