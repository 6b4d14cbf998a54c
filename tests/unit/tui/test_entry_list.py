"""Lists of entries: what they spend their width on, and ages that stay true while rows stay the same."""

import pytest
from msgspec.structs import replace
from textual.strip import Strip

from streamops.model.entries import EntryId, StreamEntry
from streamops.tui.widgets.line_view import LineView
from tests.support.invented import NOW, seconds
from tests.support.tui import sample
from tests.support.tui.driving import list_of, press, resize, running, shown, until
from tests.support.tui.source import InventedSource, app_for

MS = int(NOW.timestamp() * 1000)
BODY = (b"body", b"x" * 500)


def source_of(*entries: StreamEntry) -> InventedSource:
    return InventedSource(sample.shop(), entries)


async def test_content_has_most_of_the_width() -> None:
    app = app_for(source_of(*(StreamEntry(EntryId(MS, number), (BODY,)) for number in range(99, 104))))
    async with running(app, (80, 24)):
        await press(app, *"jjjj", "t")
        await shown(app, "following")
        for width in (80, 90, 100, 109, 110, 120, 139, 140, 180, 240):
            await resize(app, width, 24)
            view = list_of(app)
            await until(app, lambda view=view, width=width: app.size.width == width and view._grid.placed)  # type: ignore[misc]
            content = view._grid.placed[-1]
            assert content.column.key == "preview"
            assert content.width >= 0.6 * view.size.width
            assert view._grid.placed[0].width == len(f"{MS}-103")


async def test_ages_go_on_and_only_lines_that_say_something_else_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = [StreamEntry(EntryId(MS - age * 1000, 0), (BODY,)) for age in (86_400, 7_200, 90, 5)]
    source = source_of(*entries, StreamEntry(EntryId(7, 0), (BODY,)))
    app = app_for(source)
    drawn: list[int] = []
    draw = LineView.draw_line

    def counting(view: LineView[object], y: int, width: int) -> Strip:
        drawn.append(y)
        return draw(view, y, width)

    async with running(app, (80, 24), drawn=True):
        await press(app, *"jjjj", "t")
        for age in ("24h ", "2h ", "1m ", "5s ", "? "):
            await shown(app, f"{age}body=")
        monkeypatch.setattr(LineView, "draw_line", counting)
        later = sample.shop()
        source.observation = replace(later, snapshot=replace(later.snapshot, collected_at=NOW + seconds(4)))
        await press(app, "r")
        await shown(app, "9s body=")
        await shown(app, "1m body=")
        lines = {y - 1: list_of(app).rows[y - 1] for y in drawn if y}
        assert [row.entry.id for row in lines.values()] == [entries[-1].id]  # type: ignore[attr-defined]
