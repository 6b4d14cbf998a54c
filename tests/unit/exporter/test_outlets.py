"""Addresses: real sending, and what never leaves an address."""

import asyncio
import logging
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.exporter.alerts import Notification
from streamops.exporter.outlets import NotifyAddress, mask, open_outlets
from streamops.model.observation import Health
from streamops.model.secret import Secret
from tests.support.exporter.inbox import mailbox, outlet, webhook
from tests.support.tables import table

# Apprise imports what Python is about to drop, and does without where it is gone.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

PLANTED = "hunter2-of-the-north"
MESSAGE = Notification(
    "[FIRING:1] streamops", "one <b>line</b>\n\nand *another* {{x}} \\n\n", Health.CRITICAL
)


async def send(url: str, message: Notification = MESSAGE) -> str:
    return await asyncio.to_thread(outlet(url).send, message)


async def test_a_webhook_gets_the_message_as_it_is() -> None:
    async with webhook() as hook:
        assert await send(hook.url) == ""
    assert hook.titles == [MESSAGE.title]
    assert hook.bodies[0]["message"].rstrip("\n") == MESSAGE.body.rstrip("\n")
    assert hook.bodies[0]["type"] == "failure"


async def test_a_mail_says_the_same_in_plain_text_or_in_harmless_html() -> None:
    async with mailbox() as box:
        assert await send(box.url) == ""
        assert await send(box.url + "&format=html") == ""
    plain, html = box.mails
    assert html["Subject"] == plain["Subject"] == MESSAGE.title
    assert plain.get_content().replace("\r\n", "\n").rstrip("\n") == MESSAGE.body.rstrip("\n")
    shown = html.get_body(("html",))
    assert shown is not None
    assert "<b>" not in shown.get_content()


async def test_a_refusal_is_told_with_its_reason() -> None:
    async with webhook() as hook:
        hook.refusals = [503]
        assert "503" in await send(hook.url)
    assert hook.bodies == []


async def test_an_address_where_nobody_listens_is_told_without_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        reason = await send(f"json://user:{PLANTED}@127.0.0.1:1/{PLANTED}-path")
    assert "onnection error" in reason
    assert PLANTED not in reason + caplog.text
    assert "127.0.0.1" not in reason


def test_outlets_are_told_apart_by_number_and_service() -> None:
    urls = ["json://127.0.0.1/a", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general"]
    outlets = open_outlets(NotifyAddress(Secret(url), Health.WARN, "line") for url in urls)
    assert [one.label for one in outlets] == ["target 1 (JSON)", "target 2 (Slack)"]


@table("url", [f"nonsense://{PLANTED}", PLANTED, "json://", f"slack://{PLANTED}", ""])
def test_an_address_that_cannot_be_used_is_told_by_its_place_alone(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        outlet(url)
    assert caught.value.message.startswith("notify.urls: line 1: apprise cannot use this")
    assert PLANTED not in caught.value.message + caught.value.hint


@pytest.fixture
def without_apprise() -> Iterator[None]:
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "apprise"}
    sys.modules["apprise"] = None  # type: ignore[assignment]  # what makes an import fail
    yield
    del sys.modules["apprise"]
    sys.modules.update(kept)


@pytest.mark.usefixtures("without_apprise")
def test_where_apprise_is_missing_the_hint_is_how_to_install_it() -> None:
    with pytest.raises(SettingsError) as caught:
        open_outlets([])
    assert caught.value.message == "notify: apprise is not installed"
    assert caught.value.hint == "Install it: pip install 'streamops[notify]'"


@given(st.from_regex(r"[A-Za-z0-9_-]{3,20}", fullmatch=True), st.sampled_from([" ", "/", '"', "=", ": "]))
def test_no_part_of_an_address_survives_masking(secret: str, around: str) -> None:
    text = f"cannot reach{around}{secret}{around}now"
    for url in (f"json://{secret}@host/x", f"slack://a/{secret}/#c", f"mailto://u:p@h/?pass={secret}"):
        assert f"{around}{secret}{around}" not in mask(text, url)


def test_masking_sees_through_percent_encoding_and_leaves_the_rest() -> None:
    masked = mask("json: p@ss#word at host refused, error=500", "json://u:p%40ss%23word@host:80/")
    assert masked == "json: *** at *** refused, error=500"
    assert mask("a%20b%20secret and a b secret", "json://h/a%20b%20secret") == "*** and ***"
