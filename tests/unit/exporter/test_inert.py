"""Names in notices: whatever a stream is called, a chat shows it, calls nobody and links nowhere."""

import asyncio
import json
import re
from typing import Any, Final
from unittest.mock import patch

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.alerts import Notification
from streamops.exporter.outlets import JOINER, inert
from streamops.model.observation import Health
from tests.support.exporter.inbox import mailbox, outlet
from tests.support.tables import table

# Apprise imports what Python is about to drop, and does without where it is gone.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

LONG: Final = "abcdefghijklmnopqrstuvwxyz"
HEX: Final = "a" * 32
CHATS: Final = {
    "discord": f"discord://123456789012345678/{LONG}",
    "discord, embedded": f"discord://123456789012345678/{LONG}?format=markdown",
    "slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general",
    "mattermost": f"mmost://127.0.0.1/{LONG}",
    "rocket.chat": "rocket://webhook1234567890/abcdefghij@127.0.0.1/#c",
    "google chat": "gchat://workspace/key/token",
    "telegram": "tgram://123456789:abcdefg_hijklmnop/12315544/",
    "teams": f"workflows://prod.eastus:443/{HEX}/{HEX}/",
    "zulip": f"zulip://bot@org/{LONG}123456/chan",
    "ntfy": "ntfy://topic",
    "webex": f"wxteams://{'a' * 80}",
}
HOSTILE: Final = (
    "@everyone",
    "@here",
    "@channel",
    "@**all**",
    "<@123>",
    "<@&123>",
    "<#123>",
    "<!channel>",
    "<!subteam^S1|ops>",
    "<users/all>",
    "<at>ops</at>",
    "<http://evil.example|ok>",
    "[ok](http://evil.example)",
    "https://evil.example",
    "www.evil.example",
    "mailto:ops@evil.example",
    "tg://user?id=1",
)
ACTS: Final = re.compile(
    r"@\w|@\*|<(?!/?b>)[@!#&\w]|&lt;[@!#&\w]|\]\(|(?<!redis)(?<!caronc):/(?=/evil|/user)|\bwww\.|mailto:",
    re.IGNORECASE,
)
"""What a chat makes a mention or a link of, escaped or not."""


def sent(url: str, text: str) -> str:
    """What goes over the wire to a service for a text as title and body: all texts of the document, and nothing of its own."""
    seen = list[Any]()

    def catch(*_: Any, **given: Any) -> requests.Response:
        seen.append(given.get("data"))
        answer = requests.Response()
        answer.status_code = 200
        return answer

    with patch("requests.post", catch), patch("requests.request", catch), patch("requests.get", catch):
        outlet(url).send(Notification(text, text, Health.CRITICAL))
    data = seen[-1]
    document = json.loads(data) if isinstance(data, (str, bytes)) else data
    return "\n".join(one for one in texts_of(document) if "apprise/assets" not in one)


def texts_of(document: Any) -> list[str]:  # noqa: ANN401 - any JSON
    if isinstance(document, dict):
        return [text for key, one in document.items() if key != "$schema" for text in texts_of(one)]
    if isinstance(document, list):
        return [text for one in document for text in texts_of(one)]
    return [document] if isinstance(document, str) else []


@table("url", CHATS.values())
def test_no_name_calls_anybody_or_is_a_link_in_a_chat(url: str) -> None:
    for name in HOSTILE:
        told = sent(url, f"stream {name}")
        assert "stream" in told
        assert not ACTS.search(told), (name, told)


async def test_a_mail_has_no_links_but_those_of_the_server() -> None:
    async with mailbox() as box:
        await asyncio.to_thread(
            outlet(box.url).send, Notification("t", "https://evil.example redis://h", Health.WARN)
        )
    told = box.mails[0].get_content()
    assert "://evil" not in told
    assert "redis://h" in told


def test_a_program_gets_the_message_as_it_is() -> None:
    text = " ".join(HOSTILE)
    told = sent("json://127.0.0.1/hook", text)
    assert text in told


def test_commands_and_servers_can_be_copied() -> None:
    text = "Look: streamops --url rediss://h:6379/0 streams show 'orders/eu' -o json"
    assert inert(text) == text
    assert inert("redis://h and unix:///run/redis.sock") == "redis://h and unix:///run/redis.sock"


@given(st.text(st.sampled_from("@<>!#&[]()*_`|~:/\\ aeh.w"), max_size=30))
def test_texts_lose_nothing(text: str) -> None:
    assert inert(text).replace(JOINER, "") == text
    assert not re.search(r"@\w|\]\(|<[@!#&\w]", inert(text))
