"""Payload text and names can neither run an action nor write to the terminal, wherever they appear."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual import events
from textual.keys import Keys

from streamops.errors import Refused
from streamops.model.entries import EntryId, StreamEntry
from streamops.resources.entries import ENTRY_COLUMNS, EntryRow
from streamops.tui.app import StreamopsApp
from streamops.tui.lines.payload import entry_lines
from streamops.tui.terminal.output import REPLACEMENT, OnlyShown
from streamops.tui.theme import DARK_NAME
from streamops.tui.widgets.paint import Brush
from tests.support.invented import NOW
from tests.support.tui import hostile
from tests.support.tui.driving import NARROW, bar, press, running, screen_text, settle, until
from tests.support.tui.hostile import EVERYTHING, check_screen, is_shown, press_checked
from tests.support.tui.source import settings_for

WALK = (
    [
        "question_mark",
        "question_mark",
        "escape",
        "enter",
        "question_mark",
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


async def test_hostile_text_is_only_text_on_every_screen_of_looking() -> None:
    app = StreamopsApp(hostile.settings(EVERYTHING))
    rung: list[str] = []
    app.bell = lambda: rung.append("bell")  # type: ignore[method-assign]
    async with running(app, NARROW):
        for keys in WALK:
            await press_checked(app, keys)
        assert not rung
        assert not app._exit


async def test_hostile_errors_and_notices_are_only_text() -> None:
    source = hostile.source("")
    app = StreamopsApp(settings_for(source))
    async with running(app):
        source.fails = source.observation = Refused(f"refused {EVERYTHING}", f"hint {EVERYTHING}")
        await press(app, "r", "enter", "l", "question_mark", "question_mark")
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


def test_last_filter_replaces_control_characters_one_for_one() -> None:
    shown, kept = Segment("a\x1b\u202e日", None), Segment("plain")
    after = OnlyShown().apply([shown, kept], None)  # type: ignore[arg-type]
    assert after[0].text == f"a{REPLACEMENT}{REPLACEMENT}日"
    assert after[1] is kept


PIECES = st.sampled_from([*hostile.BYTES, b"plain", b"", b" ", b"\n", b"{", b'"', b"[/]", b"\x1b"])
VALUES = st.lists(PIECES | st.binary(max_size=9), max_size=3).map(b"".join)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=6))
def test_any_payload_is_only_text(fields: list[tuple[bytes, bytes]]) -> None:
    entry = StreamEntry(EntryId(1_773_489_600_000, 0), tuple(fields))
    brush = Brush(DARK_NAME, colour=True)
    row = EntryRow("s", entry)
    lines = [*entry_lines(entry, NOW, 60), tuple(column.cell(row) for column in ENTRY_COLUMNS)]
    for line in lines:
        for segment in brush.line(line, 60):
            assert is_shown(segment.text)


async def test_large_payloads_are_only_text() -> None:
    fields = (
        (b"escapes", b"\x1b]52;c;SEVMTE8=\x07" * 50_000),
        (b"one long string", b'{"a": "' + b"x" * 1_000_000 + b'"}'),
        (b"nested", b"[" * 1_000_000),
        (b"name" * 100_000, b"\n" * 1_000_000),
        *((b"field %d" % number, b"\x1b[31m[/]" * 3) for number in range(400)),
    )
    source = hostile.source("x")
    source.entries = (StreamEntry(EntryId(1_773_489_600_000, 0), fields),)
    app = StreamopsApp(settings_for(source))
    async with running(app):
        await press(app, "t")
        check_screen(app)
        await press(app, "enter", "end", "v", "end")
        check_screen(app)
