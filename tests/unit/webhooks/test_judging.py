"""What answers mean."""

import pytest

from streamops.model.topics import Topic
from streamops.webhooks.messages import Accepted, Answer, Rejected, TryAgain, judge
from tests.support.tables import table

JSON = (("Content-Type", "application/json"),)
TEXT = (("content-type", "text/plain; charset=utf-8"),)
CODE = "body.code != `200` && body.data.status != `2`"


def judged(retry_when: str, body: bytes = b"{}", status: int = 200, **attributes: object) -> object:
    headers = attributes.pop("headers", JSON)
    topic = Topic(name="t", url="http://h", retry_when=retry_when, **attributes)  # type: ignore[arg-type]
    return judge(topic, Answer(status, headers, body))  # type: ignore[arg-type]


@table("status", [200, 201, 202, 299])
def test_a_status_of_success_is_done(status: int) -> None:
    assert judged("", b"ok", status) == Accepted()


@table("status", [100, 301, 400, 401, 404, 408, 429, 500, 503, 599])
def test_other_statuses_are_tried_again(status: int) -> None:
    verdict = judged("", b"ok", status)
    assert isinstance(verdict, TryAgain)
    assert str(status) in verdict.reason


def test_a_status_of_gone_rejects() -> None:
    assert isinstance(judged("", b"", 410), Rejected)


@pytest.mark.parametrize("body", [b"", b" \r\n"])
def test_an_empty_answer_is_tried_again_unless_the_topic_does_without(body: bytes) -> None:
    assert judged("", body) == TryAgain("status 200 with an empty answer")
    assert judged("", body, retry_empty=False) == Accepted()


@table(
    ("body", "done"),
    [
        (b'{"code": 200}', True),
        (b'{"code": 500, "data": {"status": 2}}', True),
        (b'{"code": 500, "data": {"status": 1}}', False),
        (b'{"code": 500}', False),
        (b"{}", False),
        (b"[]", False),
        (b"null", False),
    ],
)
def test_a_condition_on_the_answer(body: bytes, done: bool) -> None:  # noqa: FBT001 - a table
    assert (judged(CODE, body) == Accepted()) is done


@table(
    ("condition", "done"),
    [
        ("status == `202`", True),
        ("status == `200`", False),
        ("headers.\"x-again\" == 'yes'", False),
        ("headers.\"X-Again\" == 'yes'", True),
        ("headers.\"x-twice\" == 'a, b'", False),
    ],
)
def test_a_condition_on_status_and_headers(condition: str, done: bool) -> None:  # noqa: FBT001 - a table
    headers = (("X-Again", "yes"), ("X-Twice", "a"), ("x-twice", "b"))
    # What is no JSON does not matter to who does not look at it.
    assert (judged(condition, b"<html>", headers=headers) == Accepted()) is done


@table("body", [b"<html>", b'{"code": 200', b"\xff\xfe", b"[" * 100_000])
def test_no_json_is_tried_again_where_the_condition_looks_at_it(body: bytes) -> None:
    assert judged(CODE, body) == TryAgain("the retry condition looks at the answer, and it is no JSON")
    assert judged("", body) == Accepted()


def test_text_may_be_looked_at() -> None:
    assert isinstance(judged("contains(body, 'ERROR')", b"an ERROR", headers=TEXT), TryAgain)
    assert judged("contains(body, 'ERROR')", b"fine", headers=TEXT) == Accepted()


@pytest.mark.parametrize("body", [b'{"code": "200"}', b'{"code": [1]}', b'{"code": true}'])
def test_a_condition_that_cannot_be_decided_is_no_success(body: bytes) -> None:
    verdict = judged("body.code >= `300`", body)
    assert isinstance(verdict, TryAgain)
    assert "cannot be decided" in verdict.reason
    assert "compares" in verdict.reason


def test_an_answer_that_is_too_long_to_look_at() -> None:
    topic = Topic(name="t", url="http://h", retry_when=CODE)
    answer = Answer(200, JSON, b'{"code": 200}', whole=False)
    assert judge(topic, answer) == TryAgain("the answer is too long for the retry condition to look at")
    assert judge(Topic(name="t", url="http://h"), answer) == Accepted()
