"""Topics: on, off or wrong, their counters, what failed last, and what may be done to them."""

from pathlib import Path

import pytest

from streamops.operations.topics.intent import RemoveTopicIntent, TopicOffIntent, TopicOnIntent
from streamops.tui.app import StreamopsApp
from tests.support.tui.acting_shop import planned
from tests.support.tui.driving import bar, crumbs, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

TO_TOPICS = ["colon", *"topics", "enter"]


pytestmark = pytest.mark.usefixtures("own_directories")


async def to_topics(app: StreamopsApp) -> None:
    await press(app, *TO_TOPICS)
    await until(app, lambda: len(list_of(app).rows) == 3)


async def test_topics_tell_their_state_and_never_a_secret() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_topics(app)
        assert names(app) == ["paid/-", "remind/-", "wrong/-"]
        for words in ("▲ off", "✓ on", "✗ wrong", "it is no JSON"):
            await shown(app, words)
        assert "s3cret" not in screen_text(app)


async def test_the_key_switches_what_is_on_off_and_what_is_off_on() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_topics(app)
        await press(app, "P", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source) == TopicOnIntent(name="paid")
        await press(app, "escape", "escape", "down", "P", "enter")
        await until(app, lambda: len(source.planned) == 2)
        assert planned(source) == TopicOffIntent(name="remind")
        await press(app, "escape", "escape", "down", "X", "enter")
        await until(app, lambda: len(source.planned) == 3)
        assert planned(source) == RemoveTopicIntent(name="wrong")


async def test_one_topic_tells_its_calls_what_failed_and_what_is_not_known() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await to_topics(app)
        await press(app, "enter")
        await shown(app, "not served yet: its group does not exist")
        await shown(app, "call 2 of r:1773487080000-0")
        await shown(app, "timeout: TimeoutError")
        await shown(app, "Open circuit breakers and recent calls")
        assert app.frame.command_text() == "streamops -c prod webhooks show paid"
        await press(app, "l")
        assert bar(app, "crumbs").startswith("prod ▸ delayed ▸ orders")


async def test_a_topic_of_a_file_cannot_be_switched_here(tmp_path: Path) -> None:
    (tmp_path / "streamops").mkdir()
    (tmp_path / "streamops" / "config.toml").write_text(
        '[[topics]]\nname = "filed"\nurl = "https://hooks.shop.example/filed"\n'
    )
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_TOPICS)
        await until(app, lambda: len(list_of(app).rows) == 4)
        await shown(app, "It is defined in a")
        await press(app, *"PX")
        assert crumbs(app) == "prod ▸ topics"
        assert not source.planned
