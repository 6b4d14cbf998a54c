"""Saved views, columns and completion: how a list comes to be as somebody wants it, and comes back so."""

from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.resources.views import SavedView
from streamops.tui import routes
from streamops.tui.app import StreamopsApp
from streamops.tui.palette import Arrangements
from tests.support.tui.driving import bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.shop import ALL, FAULTY, shop_source
from tests.support.tui.source import app_for, settings_for

STUCK = SavedView(
    filter="pending>0", sort="idle", columns=("stream", "group", "idle", "deliveries", "lag_basis")
)
VIEWS = {"stuck": STUCK, "gone": SavedView(place="nosuchstream"), "quit": SavedView(place="quit")}


def app_with(
    views: dict[str, SavedView], saved: dict[str, SavedView] | SettingsError | None = None
) -> StreamopsApp:
    async def save(name: str, view: SavedView) -> str:
        if isinstance(saved, SettingsError):
            raise saved
        assert saved is not None
        saved[name] = view
        return "config.toml"

    settings = settings_for(shop_source())
    return StreamopsApp(replace(settings, views=views, save_view=None if saved is None else save))


def titles(app: StreamopsApp) -> list[str]:
    return [column.title for column in list_of(app).shown_columns]


async def test_a_saved_view_is_its_filter_its_order_and_its_columns() -> None:
    app = app_with(VIEWS)
    async with running(app):
        await press(app, "2", "colon", *"view stuck", "enter")
        assert app.frame.place == routes.StatusRoute()
        assert titles(app) == ["STREAM", "GROUP", "IDLE", "DELIVERIES", "LAG BASIS"]
        assert names(app)[0] == "orders/fulfilment"
        assert "▾IDLE" in screen_text(app)
        assert "/pending>0" in bar(app, "crumbs")
        await press(app, "escape")
        assert len(names(app)) == len(ALL)


async def test_a_view_that_cannot_be_opened_says_why() -> None:
    app = app_with({**VIEWS, "odd": SavedView(filter="lga>5", sort="nope", columns=("lag", "zzz"))})
    async with running(app):
        await press(app, "colon", *"view gone", "enter")
        await shown(app, "view gone: no stream, group or screen matches nosuchstream")
        await press(app, "colon", *"view quit", "enter")
        await shown(app, "view quit: quit is not a screen")
        await press(app, "colon", *"view nothing", "enter")
        await shown(app, "no view is named nothing; there are: stuck, gone, quit, odd")
        await press(app, "colon", *"view odd", "enter")
        await shown(app, "no column nope to sort by; no column zzz")
        assert titles(app) == ["LAG"]


async def test_the_list_on_the_screen_is_saved_and_opened_again() -> None:
    saved: dict[str, SavedView] = {}
    app = app_with({}, saved)
    async with running(app):
        await press(app, "slash", *"lag>1", "enter", "f", "o", "o", "i")
        await press(app, "colon", *"save mine", "enter")
        await shown(app, "saved in config.toml; :view mine opens it")
        assert saved == {
            "mine": SavedView(filter="lag>1", sort="group", descending=True, faults=True, place="status")
        }
        before = names(app)
        await press(app, "escape", "escape", "w")
        await shown(app, "[views.mine]")
        await press(app, "enter")
        assert names(app) == before


async def test_where_a_view_cannot_be_saved_its_table_can_be_pasted() -> None:
    app = app_with({}, SettingsError("config.toml has a view mine already", "Take another name."))
    async with running(app):
        await press(app, "colon", *"save mine", "enter")
        await shown(app, "config.toml has a view mine already")
        await press(app, "colon", *"save a.b", "enter")
        await shown(app, "a view cannot be called 'a.b'")
        await press(app, "question_mark", "colon", *"save mine", "enter")
        await shown(app, "only a list can be saved as a view")


async def test_columns_are_chosen_and_sorted_by_from_their_list() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "h")
        await shown(app, "IN A FILTER")
        await press(app, "slash", *"lag_basis", "enter", "space")
        await press(app, "escape", "escape")
        assert "LAG BASIS" in [column.title for column in app.frame.chosen_columns]  # type: ignore[attr-defined]
        await press(app, "h", "slash", *"deliveries>", "enter", "enter")
        assert app.frame.place == routes.StatusRoute()
        assert names(app)[0] == "emails/mailer"
        assert "▾DELIVERIES" in screen_text(app)
        await press(app, "h", "enter")
        assert "▴DELIVERIES" in screen_text(app)
        await press(app, "h", "u", "escape")
        assert not {"LAG BASIS", "DELIVERIES"} & set(titles(app))
        assert names(app) == ALL


async def test_lines_typed_before_come_back_with_the_arrows() -> None:
    app = app_for(shop_source())
    async with running(app):
        for text in ("pay", "lag>1"):
            await press(app, "slash", *text, "enter", "escape")
        await press(app, "slash", "up")
        await until(app, lambda: screen_text(app).splitlines()[1].strip() == "/ lag>1")
        await press(app, "up", "enter")
        assert names(app) == ["payments/ledger", "payments:dlq/-"]
        await press(app, "escape", "slash", "up", "up", "down", "down")
        await until(app, lambda: "words, !word" in screen_text(app).splitlines()[1])


async def test_tab_completes_names_and_columns() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "colon", *"orders ful")
        await until(app, lambda: "orders fulfilment" in screen_text(app).splitlines()[1])
        await press(app, "tab", "enter")
        assert app.frame.place == routes.GroupRoute("orders", "fulfilment")
        await press(app, "escape", "slash", *"!hea", "tab", *"ok", "enter")
        assert bar(app, "crumbs").startswith("prod | /!health:ok")
        assert names(app) == [
            *FAULTY,
            "sensors/store",
        ]


async def test_a_filter_that_is_wrong_stays_open_and_says_what_is() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "slash", *"lga>5", "enter")
        assert "no column is called lga; did you mean lag?" in bar(app, "keys")
        assert names(app) == ALL
        await press(app, *["backspace"] * 5, *"lag>1000", "enter")
        assert names(app) == ["payments/ledger", "clicks/heatmap"]
        assert "2 of 9, 1 unknown" in bar(app, "crumbs")
        await press(app, "slash", *["backspace"] * 8, *"lag=?", "enter")
        assert names(app) == ["clicks/heatmap", "sensors/store"]


async def test_the_palette_opens_views_and_sorts_by_any_column() -> None:
    app = app_with(VIEWS)
    async with running(app):
        provider = Arrangements(app.screen)
        found = {hit.text: hit async for hit in provider.search("view stuck")}
        assert "View: stuck" in found
        assert [hit.text async for hit in provider.discover()] == ["View: gone", "View: quit", "View: stuck"]
        (hit,) = [hit async for hit in provider.search("sort by lag growth")]
        hit.command()
        await shown(app, "▾LAG GROW")
        app.call_later(found["View: stuck"].command)
        await until(app, lambda: "/pending>0" in bar(app, "crumbs"))
