from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import EntryId
from streamops.model.measures import COUNTS, SHARES, SIZES, SPANS, parse_measure
from streamops.model.observation import Health
from streamops.resources.entries import ENTRY_COLUMNS
from streamops.resources.filters import (
    EVERY_SIGN,
    FIELD_SIGNS,
    Filter,
    Measure,
    Term,
    measure_of,
    parse_terms,
)
from streamops.resources.groups import GROUP_COLUMNS
from streamops.resources.table import Align, Cell, Column
from streamops.resources.units import ABSENT
from tests.support.tables import table


class Tank(Struct, frozen=True):
    name: str
    lag: int | None = None
    bound: int | None = None
    idle: timedelta | None = None
    health: Health = Health.OK
    id: EntryId | None = None
    bytes: int = 0


def column(key: str, title: str, *, right: bool = False, **told: object) -> Column[Tank]:
    return Column(
        key=key,
        title=title,
        help="",
        cell=lambda row: Cell(ABSENT if row is EMPTY else str(told["value"](row))),  # type: ignore[operator]
        width=8,
        align=Align.RIGHT if right else Align.LEFT,
        **told,  # type: ignore[arg-type]
    )


COLUMNS = (
    column("name", "NAME", value=lambda row: row.name),
    column("lag", "LAG", right=True, value=lambda row: row.lag, rank=lambda row: row.bound or row.lag),
    column("idle_seconds", "IDLE", value=lambda row: None if row.idle is None else row.idle.total_seconds()),
    column("health", "HEALTH", value=lambda row: row.health.word, rank=lambda row: row.health),
    column("entry_bytes", "ENTRY", value=lambda row: row.bytes),
    column("last_id", "LAST ID", value=lambda row: None if row.id is None else str(row.id)),
)
GREEN = Tank("orders:events", 5, idle=timedelta(minutes=7), id=EntryId(5, 1), bytes=70_000)
AMBER = Tank("night shift", 1_500, idle=timedelta(seconds=2), health=Health.WARN, id=EntryId(9, 0))
RED = Tank("orders:dlq", None, 20_000, health=Health.CRITICAL)
GREY = Tank("unknown", health=Health.UNKNOWN)
EMPTY = Tank("empty")
ALL = (GREEN, AMBER, RED, GREY)


def passing(text: str) -> list[str]:
    compiled = Filter(text, COLUMNS)
    return [row.name for row in ALL if compiled.verdict(row, row.name.casefold())]


@table(
    ("text", "names"),
    [
        ("", ["orders:events", "night shift", "orders:dlq", "unknown"]),
        ("ORDERS", ["orders:events", "orders:dlq"]),
        ("orders !dlq", ["orders:events"]),
        ("!", ["orders:events", "night shift", "orders:dlq", "unknown"]),
        ('"night shift"', ["night shift"]),
        ('"night', ["night shift"]),
        ('!"night shift" events', ["orders:events"]),
        ("orders:events", ["orders:events"]),
        ("lag>1000", ["night shift", "orders:dlq"]),
        ("lag>1k", ["night shift", "orders:dlq"]),
        ("lag>=1,500", ["night shift", "orders:dlq"]),
        ("lag=5", ["orders:events"]),
        ("lag!=5", ["night shift", "orders:dlq"]),
        ("!lag>1000", ["orders:events"]),
        ("lag=?", ["orders:dlq", "unknown"]),
        ("lag!=?", ["orders:events", "night shift"]),
        ("idle>5m", ["orders:events"]),
        ("idle<=2s", ["night shift"]),
        ("idle_seconds>1", ["orders:events", "night shift"]),
        ("idle=?", ["orders:dlq", "unknown"]),
        ("health:crit", ["orders:dlq"]),
        ("health=warn", ["night shift"]),
        ("health>=warn", ["night shift", "orders:dlq"]),
        ("!health:ok", ["night shift", "orders:dlq", "unknown"]),
        ("entry>64KiB", ["orders:events"]),
        ("last_id>5-1", ["night shift"]),
        ("last-id<9", ["orders:events"]),
        ("last_id:5-", ["orders:events"]),
        ("name=UNKNOWN", ["unknown"]),
        ('name="night shift"', ["night shift"]),
        ("name:ord lag<10", ["orders:events"]),
        ("nothing:here", []),
        ('"lag>1000"', []),
    ],
)
def test_a_filter_lets_through_what_it_says(text: str, names: list[str]) -> None:
    assert passing(text) == names


@table(
    ("text", "message", "hint"),
    [
        ("lag>", "lag> with what?", "lag>1000"),
        ("health:", "health: with what?", "health:crit"),
        ("lga>5", "no column is called lga", "did you mean lag?"),
        ("zzz>5", "no column is called zzz", "there are name, lag, idle, health, entry, last_id"),
        ("lag>5m5x", "lag is compared with a number", "lag>1000"),
        ("idle>abc", "idle is compared with a span", "idle>5m"),
        ("entry>abc", "entry is compared with a size", "entry>64KiB"),
        ("name>x", "name has words, and no order: name:x", "name:part"),
        ("health:purple", "no such level: purple", "ok, unknown, warn, critical"),
        ("last_id>x", "last_id is compared with an ID", ""),
    ],
)
def test_what_cannot_be_compared_says_what_can(text: str, message: str, hint: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Filter(text, COLUMNS)
    assert raised.value.message.startswith(message)
    assert hint in raised.value.hint


def test_what_is_not_known_is_told_from_no() -> None:
    compiled = Filter("lag<10", COLUMNS)
    assert [compiled.verdict(row, row.name) for row in ALL] == [True, False, False, None]
    both = Filter("lag<10 zzz", COLUMNS)
    assert both.verdict(GREY, GREY.name) is False


@table("text", ["lag>5", "lag<5", "lag=5", "last_id>1", "idle>1", "lag=?"])
def test_what_is_not_there_is_no_and_not_unknown(text: str) -> None:
    assert Filter(text, COLUMNS).verdict(EMPTY, "") is False


@pytest.mark.parametrize("text", ["lag=-", "idle=-", "!lag>5"])
def test_what_is_not_there_can_be_asked_for(text: str) -> None:
    assert Filter(text, COLUMNS).verdict(EMPTY, "") is True
    assert Filter("lag=-", COLUMNS).verdict(GREY, "") is False


def test_in_lists_of_entries_signs_of_fields_belong_to_words() -> None:
    row = Tank("name=billing id:5", 7)
    for text, verdict in (("name=billing", True), ("id:5", True), ("name=x", False), ("lag>5", True)):
        compiled = Filter(text, COLUMNS, FIELD_SIGNS)
        assert compiled.verdict(row, row.name) is verdict
    assert Filter("lag>5", COLUMNS, EVERY_SIGN).verdict(row, "about lag>5") is True


def test_terms_keep_what_was_quoted() -> None:
    assert parse_terms('a !b "c d" lag>5 group="x y" "q\\"r"') == (
        Term("a"),
        Term("b", negated=True),
        Term("c d"),
        Term("lag>5", name="lag", sign=">", value="5"),
        Term("group=x y", name="group", sign="=", value="x y"),
        Term('q"r'),
    )


@given(st.text())
def test_any_text_is_a_filter_or_a_sentence(text: str) -> None:
    with suppress(SettingsError):
        compiled = Filter(text, COLUMNS)
        assert {compiled.verdict(row, row.name) for row in ALL} <= {True, False, None}


@given(st.lists(st.text(st.characters(categories=("L", "N")), min_size=1), min_size=1))
def test_plain_words_must_all_be_there(words: list[str]) -> None:
    text = " ".join(words).casefold()
    assert Filter(" ".join(words), COLUMNS).verdict(GREEN, text) is True


@table(
    ("text", "units", "number"),
    [
        ("12", COUNTS, 12),
        ("-3", COUNTS, -3),
        ("1.5k", COUNTS, 1_500),
        ("2M", COUNTS, 2_000_000),
        ("10k/s", COUNTS, 10_000),
        ("1h30m", SPANS, 5_400),
        ("250ms", SPANS, 0.25),
        ("2d", SPANS, 172_800),
        ("1MiB", SIZES, 1 << 20),
        ("1MB", SIZES, 1 << 20),
        ("1M", SIZES, 1_000_000),
        ("50%", SHARES, 0.5),
        ("", COUNTS, None),
        ("-", COUNTS, None),
        ("5x", COUNTS, None),
        ("1e5", COUNTS, None),
        ("5m", SHARES, None),
    ],
)
def test_numbers_are_read_in_their_units(text: str, units: dict[str, float], number: float | None) -> None:
    assert parse_measure(text, units) == (None if number is None else pytest.approx(number))


def test_columns_are_measured_by_what_they_hold() -> None:
    by_key = {column.key: measure_of(column) for column in GROUP_COLUMNS}
    assert by_key["lag"] is Measure.COUNT
    assert by_key["time_lag_seconds"] is Measure.SPAN
    assert by_key["health"] is Measure.LEVEL
    assert by_key["stream"] is Measure.TEXT
    assert {column.key: measure_of(column) for column in ENTRY_COLUMNS}["size"] is Measure.SIZE
