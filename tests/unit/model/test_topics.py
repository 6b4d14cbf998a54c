"""Topics: what makes no sense in them is told, all of it at once."""

from datetime import timedelta
from typing import Any

import pytest

from streamops.model.secret import Secret
from streamops.model.topics import Topic, parse_priority, topic_problems, url_problem
from tests.support.tables import table

GOOD = Topic(name="remind", url="https://hooks.example.net:8443/a/b?c=d")


def test_a_topic_without_faults_has_no_problems_and_hides_its_query() -> None:
    assert topic_problems(GOOD) == ()
    assert (GOOD.key, GOOD.priority, GOOD.shown_url) == (
        "topic:remind",
        "normal",
        "https://hooks.example.net:8443/a/b?***",
    )


@table(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "a:b"}, "name"),
        ({"name": "-a"}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"name": "é"}, "name"),
        ({"method": "GET"}, "method"),
        ({"delay": timedelta(seconds=-1)}, "delay"),
        ({"delay": timedelta(days=4000)}, "delay"),
        ({"time_to_run": timedelta()}, "time_to_run"),
        ({"time_to_run": timedelta(hours=2)}, "time_to_run"),
        ({"content_type": "json"}, "content_type"),
        ({"content_type": "a/b\r\nX: y"}, "content_type"),
        ({"headers": (("A b", "c"),)}, "headers"),
        ({"headers": (("A", "b\r\nX: y"),)}, "headers"),
        ({"headers": (("A", "é"),)}, "headers"),
        ({"headers": (("HOST", "h"),)}, "headers"),
        ({"headers": (("X-Streamops-Id", "h"),)}, "headers"),
        ({"headers": (("A", "b"), ("a", "c"))}, "headers"),
        ({"weight": 0}, "priority"),
        ({"weight": 101}, "priority"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"concurrency": 1001}, "concurrency"),
        ({"stream": "streamops:audit"}, "stream"),
        ({"stream": "{streamops:x}:y"}, "stream"),
        ({"stream": "a:dlq"}, "stream"),
        ({"stream": "a\n"}, "stream"),
        ({"group": ""}, "group"),
        ({"secret": Secret("short")}, "secret"),
    ],
)
def test_a_senseless_setting_of_a_topic_is_a_problem_of_its_field(
    changes: dict[str, Any], field: str
) -> None:
    topic = Topic(**{"name": GOOD.name, "url": GOOD.url, **changes})
    assert [problem.field for problem in topic_problems(topic)] == [field]


@table(
    "url",
    ["", "h", "//h", "ftp://h", "file:///etc/passwd", "http://", "http:///a", "http://user@h", "http://u:p@h", "http://h:0",
     "http://h:99999", "http://h:x", "http://[::1", "http://h/#a", "http://h/ a", "http://h/\n", "http://é/", "HTTP://"],
)  # fmt: skip
def test_text_that_is_no_url_to_call_is_a_problem(url: str) -> None:
    assert url_problem(url)


@table("url", ["http://h", "https://h:1/", "http://[::1]:80/x", "HTTPS://h/?a=b&c"])
def test_a_url_to_call_is_no_problem(url: str) -> None:
    assert not url_problem(url)


def test_a_priority_is_read_from_its_word_or_number() -> None:
    assert [parse_priority(word) for word in ("high", "normal", "low", "7", 9)] == [5, 3, 2, 7, 9]
    for word in ("urgent", "", "-1", "1.5", "\uff15"):
        with pytest.raises(ValueError, match="not one of high, normal, low"):
            parse_priority(word)


def test_a_secret_prints_nowhere() -> None:
    topic = Topic(name="t", url="http://h", secret=Secret("hidden hidden hidden"), headers=(("A", "hidden"),))
    assert "hidden" not in f"{topic!r} {topic}"


@pytest.mark.parametrize(
    "url", ["https://hidden:hidden@h/a?hidden", "https://a:hidden@hidden@h/a", "http://hidden@h/"]
)
def test_neither_do_users_and_queries_of_urls(url: str) -> None:
    assert "hidden" not in Topic(name="t", url=url).shown_url
