"""``exporter --notify-test`` as a process, and addresses that cannot be used."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.cli.exporter import ended, spawn
from tests.support.cli.notify import PLANTED, configure
from tests.support.exporter.inbox import webhook


async def try_out(directory: Path, *options: str) -> tuple[int | None, str, str]:
    process = await spawn(directory, "--notify-test", *options)
    async with asyncio.timeout(60):
        output, told = await process.communicate()
    return process.returncode, output.decode(), told.decode()


async def test_a_test_says_what_came_of_each_address(tmp_path: Path) -> None:
    async with webhook() as hook:
        configure(tmp_path, hook.url, f"critical=json://127.0.0.1:1/{PLANTED}")
        code, output, told = await try_out(tmp_path)
    assert code == 1
    assert told == ""
    first, second = output.splitlines()[1:]
    assert first.split()[:4] == ["target", "1", "(JSON)", "sent"]
    assert second.split()[:4] == ["target", "2", "(JSON)", "failed"]
    assert "onnection error" in second
    assert PLANTED not in output
    assert hook.titles == ["[TEST] streamops redis://127.0.0.1:6379/0"]


async def test_a_test_that_arrives_everywhere_is_done(tmp_path: Path) -> None:
    async with webhook() as hook:
        configure(tmp_path, hook.url)
        code, output, _ = await try_out(tmp_path, "-o", "json")
    assert code == 0
    assert json.loads(output) == {
        "schema": "streamops.exporter.notify-test/1",
        "targets": [{"target": "target 1 (JSON)", "outcome": "sent", "reason": None}],
    }


@pytest.mark.parametrize(
    ("option", "address", "problem"),
    [
        ("--notify-test", None, "there are no addresses to send to"),
        ("--notify", f"nonsense://{PLANTED}", "cannot use this nonsense:// address"),
    ],
)
async def test_unusable_addresses_are_refused(
    tmp_path: Path, option: str, address: str | None, problem: str
) -> None:
    if address is not None:
        configure(tmp_path, address)
    code, told = await ended(tmp_path, option)
    assert code == 2
    assert problem in told
    assert PLANTED not in told
    assert told.splitlines()[1].startswith("hint: ")
