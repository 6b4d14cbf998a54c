"""Files and targets that nothing can be restored from, or into."""

import os
from pathlib import Path

import pytest

from streamops.errors import Forbidden, NotFound, SettingsError, StalePlan
from streamops.operations.console import Console
from streamops.operations.restore.intent import RestoreIntent
from tests.support.operations.doing import applied, open_console
from tests.support.operations.restoring import GOOD, STREAM, written
from tests.support.servers import RunningServer


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "is empty"),
        ([b"", b"  "], "is empty"),
        ([GOOD, b"nonsense"], "line 2 (JSON is malformed"),
        ([GOOD, b"", b"[1]"], "line 3 (Expected `object`, got `array`)"),
        ([b'{"id":"1-1","fields":[["a","b"]]}'], "line 1 (Object missing required field `stream`)"),
        ([b'{"stream":"s","id":"x","fields":[["a","b"]]}'], "line 1 (not an entry ID: 'x')"),
        ([b'{"stream":"s","id":"0-0","fields":[["a","b"]]}'], "0-0 can be no entry's ID"),
        ([b'{"stream":"s","id":"1-1","fields":[]}'], "at least one field"),
        ([b'{"stream":"s","id":"1-1","fields":[["a"]]}'], "line 1 (Expected `array` of length 2"),
        ([b'{"stream":"s","id":"1-1","fields":[["a",1]]}'], "line 1 (Expected `str | object`, got `int`"),
        ([b'{"stream":"s","id":"1-1","fields":[["a",{"base64":"!"}]]}'], "line 1 ("),
        ([b'{"stream":"\xff","id":"1-1","fields":[["a","b"]]}'], "line 1 ("),
        ([b"x"] * 9, "line 5 (JSON is malformed: invalid character (byte 0)); and 4 more"),
        ([GOOD, GOOD.replace(b"orders", b"mail")], "entries of several streams: orders, mail"),
    ],
)
async def test_bad_files_are_told_by_line_and_nothing_is_written(
    server: RunningServer, tmp_path: Path, lines: list[bytes], words: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(lines))
    async with await open_console(server) as console:
        with pytest.raises((SettingsError, Forbidden)) as caught:
            await console.prepare(RestoreIntent(file=str(path)))
    assert words in caught.value.message
    assert server.command("DBSIZE") == 0


async def test_a_path_that_is_no_plain_file_is_refused(server: RunningServer, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keep = os.open(pipe, os.O_RDWR)
    async with await open_console(server) as console:
        for path, words in [
            (tmp_path / "none", "No such file"),
            (tmp_path, "Is a directory"),
            (pipe, "is no plain file"),
            ("a\0b", "null byte"),
        ]:
            with pytest.raises(SettingsError, match=words):
                await console.prepare(RestoreIntent(file=str(path)))
    os.close(keep)


async def test_a_file_that_changes_after_the_plan(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    prepared = await console.prepare(RestoreIntent(file=written(path, 3)))
    with path.open("ab") as file:
        file.write(GOOD)
    with pytest.raises(StalePlan, match="has changed since the plan was made"):
        await applied(console, prepared)
    assert not server.command("EXISTS", STREAM)


async def test_a_target_that_is_no_stream(server: RunningServer, console: Console, tmp_path: Path) -> None:
    server.command("SET", STREAM, "x")
    with pytest.raises(NotFound, match="not a stream"):
        await console.prepare(RestoreIntent(file=written(tmp_path / "f", 1)))
