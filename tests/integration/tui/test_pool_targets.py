"""The console scales a pool by whatever the configuration says runs its workers."""

from pathlib import Path

import pytest

from streamops.cli.globals import Globals
from streamops.cli.session import Session
from streamops.main.consoles import server_settings
from streamops.tui.app import StreamopsApp
from tests.support.cli.running import Place
from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, running, shown, until
from tests.support.written_pools import UP, write_pool

CONFIG = """
[contexts.here]
url = "{url}"
environment = "development"
[contexts.there]
url = "{url}"
environment = "development"

[pools.billing]
stream = "orders"
group = "billing"
target = "command"
[pools.billing.command]
get = "cat {count}"
set = "sh -c 'echo $1 >{count}' sh {{desired}}"
"""


@pytest.fixture
def count(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The number of workers that the program of the configured pool keeps in a file."""
    place = Place(tmp_path, monkeypatch)
    count = tmp_path / "count"
    count.write_text("3\n")
    config = place.home / "config.toml"
    config.write_text(CONFIG.format(url=server.unix_url, count=count))
    config.chmod(0o600)
    monkeypatch.setenv("STREAMOPS_CONFIG", str(config))
    write_pool(server, "billing", UP, desired=3)
    return count


async def test_pool_of_a_program_in_another_context_is_scaled_by_that_program(count: Path) -> None:
    app = StreamopsApp(server_settings(Session(Globals(context="here"))))
    async with running(app):
        await press(app, "colon", *"ctx", "space", *"there", "enter")
        await until(
            app, lambda: app.app_state.context.name == "there" and app.app_state.observation is not None
        )
        await press(app, "5", "5")
        await until(app, lambda: names(app) == ["billing"])
        await press(app, "S", "8", "enter")
        await shown(app, "3 to 8 workers.")
        await press(app, "enter")
        await shown(app, "pool billing was asked for 8 workers")
        await until(app, lambda: count.read_text() == "8\n")
