"""One entry: its fields decoded, what it refers to, copied, paged, and large ones in no time."""

import msgspec
import pytest

from streamops.errors import Refused
from streamops.model.entries import EntryId, StreamEntry
from streamops.resources.payloads import Decoding
from streamops.tui import routes
from streamops.tui.lines.entry_text import SHOWN_BYTES, entry_text, parts_of
from streamops.tui.widgets.text_view import TextView
from tests.support.invented import NOW
from tests.support.tui import hostile, sample
from tests.support.tui.driving import list_of, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import InventedSource, app_for

KEY = "{clicks}:payload:ab"
ORIGIN = StreamEntry(EntryId(1773489599000, 0), ((b"type", b"order.placed"),))
RETRY = StreamEntry(
    EntryId(1773489599999, 0),
    (
        (b"_so_payload", KEY.encode()),
        (b"body", msgspec.json.encode({"id": 1, "items": [{"sku": "A"}]})),
        (b"pack", msgspec.msgpack.encode({"a": [1, 2]})),
        (b"bytes", bytes(range(200, 232))),
        (b"n", b"42"),
        (b"_so_origin", b"clicks"),
        (b"_so_origin_id", b"1773489599000-0"),
        (b"_so_attempt", b"3"),
    ),
)
BIG = StreamEntry(EntryId(5, 0), ((b"body", b'{"a": "' + b"x" * 1_300_000 + b'"}'), (b"after", b"small")))


def source_of(*entries: StreamEntry) -> InventedSource:
    return InventedSource(sample.shop(), entries)


def lines_of(entry: StreamEntry, width: int = 80, **options: object) -> list[str]:
    built = entry_text(entry, parts_of(entry, (), {}), NOW, width, **options)  # type: ignore[arg-type]
    return ["".join(cell.text for cell in line) for line in built.lines]


def test_decoding_that_was_not_asked_for_is_said_to_be_a_guess() -> None:
    lines = lines_of(RETRY)
    for words in (
        " body  JSON (detected) · 30 B",
        " pack  MessagePack (detected) · 6 B",
        " bytes  binary, shown as hex · 32 B",
        " n              42  text · 2 B",
    ):
        assert words in [line.replace("▸", " ") for line in lines]
    assert '      "id": 1,' in lines


def test_a_field_is_taken_for_what_somebody_says() -> None:
    for number, decoding, words in [
        (1, Decoding.TEXT, ' body           {"id":1,"items":[{"sku":"A"}]}  text · 30 B'),
        (1, Decoding.HEX, "    0000  7b 22 69 64"),
        (1, Decoding.MSGPACK, "not msgpack"),
        (4, Decoding.JSON, " n              42  json · 2 B"),
        (3, Decoding.TEXT, r"    \xc8\xc9"),
        (2, Decoding.JSON, "not json"),
    ]:
        assert words in "\n".join(lines_of(RETRY, decodings={number: decoding}))


def test_a_large_value_is_cut_and_small_ones_after_it_are_not() -> None:
    lines = lines_of(BIG)
    assert sum(len(line) for line in lines) < SHOWN_BYTES * 1.5
    assert any("first 64.0 KiB of 1.2 MiB; Enter pages all of it" in line for line in lines)
    assert " after  small  text · 5 B" in lines


def test_every_part_begins_where_its_anchor_says() -> None:
    for width in [20, 200]:
        parts = parts_of(RETRY, (), {})
        built = entry_text(RETRY, parts, NOW, width)
        assert len(built.anchors) == len(parts)
        for part, anchor in zip(parts, built.anchors, strict=True):
            assert part.name[:10] in "".join(cell.text for cell in built.lines[anchor])


async def test_references_are_followed_and_payloads_read_on_demand() -> None:
    source = source_of(ORIGIN, RETRY)
    source.payloads[KEY] = b'{"hello": "world"}'
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter")
        await shown(app, f"→ {KEY}  its payload, in a key of its own · Enter reads it")
        assert ("payload", KEY) not in source.asked
        await press(app, "enter")
        await shown(app, f"→ {KEY}  18 B, kept for 20h00m more")
        await shown(app, '"hello": "world"')
        await press(app, "tab", "enter")
        assert app.frame.place == routes.EntryRoute("clicks", ORIGIN.id)
        await shown(app, "order.placed")


async def test_payload_or_origin_that_is_gone_or_refused_says_so() -> None:
    source = source_of(RETRY)
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter", "enter")
        await shown(app, "it is gone: acknowledged by the last group, or expired")
        source.fails = Refused("no permission for GET", "ask for it")
        await press(app, "enter")
        await shown(app, "no permission for GET. ask for it")
        source.fails = None
        await press(app, "tab", "enter")
        await shown(app, "1773489599000-0 is not in clicks; a traces it")


async def test_values_and_entries_are_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_for(source_of(RETRY))
    copied: list[tuple[str, str]] = []
    monkeypatch.setattr(type(app), "copy", lambda _, text, what: copied.append((text, what)))
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter", "tab", "tab", "tab", "x", "tab", "tab", "x", "e", "y")
    assert copied[0] == ('{"id":1,"items":[{"sku":"A"}]}', "body, 30 B")
    assert copied[1] == (bytes(range(200, 232)).hex(), "bytes in hex, 32 B")
    document = msgspec.json.decode(copied[2][0])
    assert document["stream"] == "clicks"
    assert document["fields"]["body"] == '{"id":1,"items":[{"sku":"A"}]}'
    assert copied[3][0] == str(RETRY.id)


async def test_keys_decode_the_field_one_stands_on_and_v_shows_all_as_it_came() -> None:
    app = app_for(source_of(RETRY))
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter", "tab", "tab", "tab", "d")
        await shown(app, "▸body  json · 30 B")
        await press(app, "d")
        await shown(app, "not msgpack")
        await press(app, "d")
        await shown(app, "not protobuf")
        await press(app, "d", "d")
        await shown(app, "00000000  7b 22 69 64")
        await press(app, "v")
        await shown(app, 'body           {"id":1,"items":[{"sku":"A"}]}')
        await press(app, "shift+tab", "shift+tab", "shift+tab", "shift+tab")
        await shown(app, "▸_so_attempt")


async def test_a_value_goes_to_the_pager_whole_and_indented(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bytes, str]] = []
    app = app_for(source_of(BIG))
    monkeypatch.setattr(type(app), "show_in_pager", lambda _, value, what: seen.append((value, what)))
    async with running(app):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter", "enter")
        await until(app, lambda: bool(seen))
    value, what = seen[0]
    assert what == "body"
    assert value.startswith(b'{\n  "a": "xxx')
    assert len(value) > 1_300_000


async def test_only_visible_lines_of_a_large_entry_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = TextView.draw_line

    def counting(view: TextView, y: int, width: int) -> object:
        drawn.append(y)
        return draw(view, y, width)

    app = app_for(source_of(BIG))
    async with running(app, drawn=True):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        monkeypatch.setattr(TextView, "draw_line", counting)
        await press(app, "enter")
        await shown(app, "Enter pages all of it")
        height = app.frame.query_one("#main", TextView).size.height
        assert len(app.frame.query_one("#main", TextView).lines) > 10 * height
        assert len(drawn) < 4 * height
        assert "small" not in screen_text(app)


async def test_hostile_fields_of_an_entry_are_only_text() -> None:
    value = hostile.EVERYTHING.encode("utf-8", "surrogatepass")
    payload = b"{clicks}:payload:" + value
    fields = (
        (value, value),
        (b"_so_payload", payload),
        (b"_so_origin", value),
        (b"_so_origin_id", b"5-0"),
        (b"_so_attempt", value),
    )
    source = source_of(StreamEntry(EntryId(9, 0), fields))
    source.payloads[payload.decode("utf-8", "surrogateescape")] = value + b"\x1b[31m"
    app = app_for(source)
    async with running(app, size=(80, 24)):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter")
        await shown(app, "its payload")
        await press(app, "enter", "tab", "d", "d", "d", "x", "e", "tab", "enter")
        hostile.check_screen(app)
    assert app.return_code in (None, 0)


async def test_tab_scrolls_to_its_field_right_after_the_text_has_grown() -> None:
    source = source_of(RETRY)
    source.payloads[KEY] = b"[" + b"1," * 30 + b"1]"
    app = app_for(source)
    async with running(app, size=(80, 24)):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        await press(app, "enter", "enter")
        await shown(app, "kept for 20h00m more")
        await press(app, "tab", "tab")
        assert app.frame.query_one("#main", TextView).scroll_offset.y > 0


async def test_entry_opened_as_pending_says_who_owns_it() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jj", "enter", "l")
        await until(app, lambda: bool(list_of(app).rows))
        row = source.pending[0]
        await press(app, "enter")
        await shown(
            app, f"group fulfilment: pending with {row.consumer}, delivered {row.delivery_count} time"
        )
