"""The recipe of ARCHITECTURE.md for a new screen: its resource and its place, as they stand there, are a screen of the console."""

import re
from pathlib import Path

import pytest

from streamops.resources import consumers as resources
from streamops.tui import routes
from streamops.tui.goto import WORDS
from tests.support.servers import RunningServer
from tests.support.streams import add_entry
from tests.support.tui.driving import crumbs, list_of, names, press, running, until
from tests.support.tui.servers import console_on

ARCHITECTURE = Path(__file__).parents[3] / "ARCHITECTURE.md"
FILE = re.compile(
    r"^`(tui/routes.py|resources/consumers.py)`\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.fixture
def consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen of the recipe, as one of the console's own."""
    files = dict(FILE.findall(ARCHITECTURE.read_text()))
    resource = {**vars(resources)}
    exec(files["resources/consumers.py"], resource)  # noqa: S102 - our own text
    monkeypatch.setattr(resources, "CONSUMERS", resource["CONSUMERS"])
    place = {**vars(routes), "__name__": __name__}
    exec(files["tui/routes.py"], place)  # noqa: S102 - as above
    monkeypatch.setitem(WORDS, "consumers", place["ConsumersRoute"]())


@pytest.mark.usefixtures("consumers")
async def test_screen_of_the_recipe_lists_and_leads_on(server: RunningServer) -> None:
    add_entry(server, "orders", "n", 1)
    for group in ("billing", "audit"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
        server.command("XREADGROUP", "GROUP", group, f"{group}-1", "STREAMS", "orders", ">")
    app = console_on(server)
    async with running(app):
        await until(app, lambda: "orders/billing" in names(app))
        await press(app, ":", *"consumers", "enter")
        await until(app, lambda: len(list_of(app).rows) == 2)
        assert crumbs(app).endswith("consumers")
        await press(app, "/", *"billing-1", "enter")
        await until(app, lambda: names(app) == ["orders/billing/billing-1"])
        await press(app, "enter")
        await until(app, lambda: crumbs(app).endswith("billing ▸ billing-1"))
