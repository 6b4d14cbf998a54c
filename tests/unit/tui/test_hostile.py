"""Payload text and names can neither run an action nor write to the terminal, wherever they appear."""

import asyncio
from random import Random

import pytest
from rich.segment import Segment
from textual import events
from textual.keys import Keys

from streamops.errors import Refused
from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.present.columns import ENTRY_COLUMNS
from streamops.present.rows import EntryRow
from streamops.tui.app import StreamopsApp
from streamops.tui.guard import REPLACEMENT, OnlyShown
from streamops.tui.paint import Brush
from streamops.tui.payload import entry_lines
from streamops.tui.theme import DARK_NAME
from tests.support.invented import NOW
from tests.support.tui import hostile
from tests.support.tui.driving import NARROW, WIDE, bar, press, running, screen_text, settle, until
from tests.support.tui.hostile_shared import EVERYTHING, check_screen, is_shown
from tests.support.tui.source import settings_for

WALK = (
    [
        "question_mark",
        "escape",
        "enter",
        "question_mark",
        "escape",
        "enter",
        "down",
        "enter",
        "v",
        "escape",
        "escape",
    ],
    ["escape", "2", "enter", "t", "up", "up", "enter", "pagedown", "v", "escape", "escape", "escape"],
    [
        "3",
        *"yc",
        "colon",
        *"ctx",
        "enter",
        "down",
        "y",
        "escape",
        "colon",
        *"zz",
        "enter",
        "slash",
        *"[/",
        "enter",
    ],
)


@pytest.mark.parametrize(
    ("text", "size"),
    [*((text, NARROW) for text in hostile.TEXTS), (EVERYTHING, NARROW), (EVERYTHING, WIDE)],
    ids=[*(f"text {number}" for number in range(len(hostile.TEXTS))), "all narrow", "all wide"],
)
async def test_hostile_text_is_only_text_on_every_screen(text: str, size: tuple[int, int]) -> None:
    app = StreamopsApp(hostile.settings(text))
    rung: list[str] = []
    app.bell = lambda: rung.append("bell")  # type: ignore[method-assign]
    async with running(app, size):
        for keys in WALK:
            for key in keys:
                await press(app, key)
                check_screen(app)
        assert not rung
        assert not app._exit


async def test_hostile_errors_and_notices_are_only_text() -> None:
    source = hostile.source("")
    app = StreamopsApp(settings_for(source))
    async with running(app):
        source.fails = source.observation = Refused(f"refused {EVERYTHING}", f"hint {EVERYTHING}")
        await press(app, "r", "enter", "l", "question_mark")
        await until(app, lambda: "refused [@click" in bar(app, "banner"))
        check_screen(app)
        app.say(f"notice {EVERYTHING}")
        await until(
            app, lambda: "[@click=app.bell]click[/][@click=app.exit" in screen_text(app).split("notice")[-1]
        )
        check_screen(app)


async def test_a_paste_into_the_filter_is_only_text() -> None:
    app = StreamopsApp(hostile.settings("x"))
    async with running(app):
        await press(app, "slash")
        app.post_message(events.Paste("\x1b]52;c;SEVMTE8=\x07 [/x] \u202e"))
        await settle(app)
        check_screen(app)
        await press(app, Keys.Enter)
        check_screen(app)


def test_the_last_door_replaces_one_for_one() -> None:
    shown, kept = Segment("a\x1b\u202e日", None), Segment("plain")
    after = OnlyShown().apply([shown, kept], None)  # type: ignore[arg-type]
    assert after[0].text == f"a{REPLACEMENT}{REPLACEMENT}日"
    assert after[1] is kept


def check_entry(entry: Entry) -> None:
    brush = Brush(DARK_NAME, colour=True)
    row = EntryRow("s", entry)
    lines = [*entry_lines(entry, NOW, 60), tuple(column.cell(row) for column in ENTRY_COLUMNS)]
    for line in lines:
        for segment in brush.line(line, 60):
            assert is_shown(segment.text)


def test_ten_thousand_payloads_are_only_text() -> None:
    random = Random(2)
    for _ in range(10_000):
        check_entry(hostile.payload(random))


@pytest.mark.parametrize(
    "fields",
    [
        ((b"big", b"\x1b]52;c;SEVMTE8=\x07" * 50_000),),
        ((b"big", b'{"a": "' + b"x" * 1_000_000 + b'"}'),),
        ((b"big", b"[" * 1_000_000),),
        ((b"big", bytes(1_000_000)),),
        ((b"name" * 100_000, b"\n" * 1_000_000),),
        tuple((b"field %d" % number, b"\x1b[31m[/]" * 3) for number in range(4_000)),
    ],
    ids=["escapes", "one long string", "nested", "zeros", "line ends", "4000 fields"],
)
async def test_large_payloads_open_quickly_and_are_only_text(fields: tuple[tuple[bytes, bytes], ...]) -> None:
    source = hostile.source("x")
    source.entries = (Entry(EntryId(1_773_489_600_000, 0), fields),)
    app = StreamopsApp(settings_for(source))
    async with running(app), asyncio.timeout(10):
        await press(app, "t")
        check_screen(app)
        await press(app, "enter", "end", "v", "end")
        check_screen(app)
