import shlex
from datetime import datetime, timedelta, timezone

from hypothesis import given

from streamops.model.wording import command, instant, quoted, span
from tests.support.strategies import names
from tests.support.tables import table


@table(
    ("duration", "words"),
    [
        (timedelta(0), "0 s"),
        (timedelta(milliseconds=999), "0 s"),
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=59, milliseconds=999), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(minutes=59, seconds=59), "59 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(hours=3, minutes=20, seconds=9), "3 h 20 min"),
        (timedelta(days=2, hours=5), "2 d 5 h"),
        (timedelta(days=400, minutes=59), "400 d"),
    ],
)
def test_a_span_is_worded_by_its_greatest_unit(duration: timedelta, words: str) -> None:
    assert span(duration) == words


@table(
    ("name", "word"),
    [
        ("orders", "orders"),
        ("{orders}:dlq", "'{orders}:dlq'"),
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ("заказы", "'заказы'"),
        ("", "''"),
        ("\x1b[2J", r"$'\x1b[2J'"),
        ("a\nb'c\\", r"$'a\x0ab\'c\\'"),
        ("\udcff", r"$'\xff'"),
        ("\u202e", r"$'\xe2\x80\xae'"),
    ],
)
def test_a_name_is_quoted_for_a_shell_where_it_must_be(name: str, word: str) -> None:
    assert quoted(name) == word


@given(names())
def test_quoted_is_safe_to_print(name: str) -> None:
    assert quoted(name).isprintable()


@table(
    ("line", "words"),
    [
        (command("groups show", "orders", "billing"), "streamops groups show orders billing"),
        (command("ack", "a b", "g", options="--ids -"), "streamops ack 'a b' g --ids -"),
        (command("ack", "-x", "g", options="--ids -"), "streamops ack --ids - -- -x g"),
        (command("groups show", "-x", "g"), "streamops groups show -- -x g"),
    ],
)
def test_a_command_to_copy_quotes_what_a_shell_would_split(line: str, words: str) -> None:
    assert line == words
    assert shlex.split(line)[0] == "streamops"


def test_instants_are_told_in_utc() -> None:
    moment = datetime(2026, 3, 1, 16, 0, 0, 250_900, timezone(timedelta(hours=2)))
    assert instant(moment) == "2026-03-01 14:00:00Z"
