"""What the log of requests says of a body, and what of it is redacted."""

from typing import Any

import pytest

from streamops.model.request_log import ACCEPTED, RequestLine
from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.webhooks.request_log import RequestLog

TOPIC = Topic(
    name="remind",
    url="http://h",
    headers=(("X-Key", "header-secret"), ("X-A", "abc")),
    secret=Secret("s" * 16),
)


def facts(body: bytes, limit: int | None = 1000) -> dict[str, Any]:
    return RequestLog(bodies=limit, secrets=[Secret("redis-password")]).body(TOPIC, body)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"a": 1}', '{"a": 1}'),
        (b'{"user_password": "x\\"y", "n": 1}', '{"user_password": "[redacted]", "n": 1}'),
        (b'{"apiKey":12,"b":{"Token" : null}}', '{"apiKey":"[redacted]","b":{"Token" : "[redacted]"}}'),
        (b'{"access_token": "cut of', '{"access_token": "[redacted]"'),
        (b"redis-password and header-secret and " + b"s" * 16, "[redacted] and [redacted] and [redacted]"),
        (b"abc", "abc"),
        ("é".encode(), "é"),
    ],
)
def test_secrets_in_a_body_are_redacted_and_nothing_else(body: bytes, shown: str) -> None:
    said = facts(body)
    assert (said["body"], said["body_bytes"]) == (shown, len(body))
    assert said.get("body_redacted", False) is (shown != body.decode())


def test_a_long_body_is_cut_off_after_it_was_redacted() -> None:
    said = facts(b"redis-password tail", 12)
    assert (said["body"], said["body_truncated"], said["body_redacted"]) == ("[redacted] t", True, True)


def test_no_body_is_logged_unless_asked_for() -> None:
    assert facts(b"x" * 5, None) == {"body_bytes": 5}
    assert RequestLog(enabled=False, bodies=10).body(TOPIC, b"x") == {}


@pytest.mark.parametrize("body", [b"", b"text", b"\x00\xff", "é".encode()])
def test_a_whole_body_is_read_back_as_it_was(body: bytes) -> None:
    assert (
        RequestLine(event=ACCEPTED, **{k: v for k, v in facts(body).items() if k != "body_bytes"}).content
        == body
    )


@pytest.mark.parametrize("body", [b"redis-password", b"x" * 1001])
def test_a_body_that_is_not_whole_is_not_read_back(body: bytes) -> None:
    said = {name: value for name, value in facts(body).items() if name != "body_bytes"}
    assert RequestLine(event=ACCEPTED, **said).content is None
