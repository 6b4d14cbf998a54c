"""Forms: what they ask, what stands in them, and what is read from them."""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import pytest
from msgspec import Struct

from streamops.model.acting import Limits
from streamops.model.entries import EntryId
from streamops.model.fields import Instant, argument, option
from streamops.operations.registry import OPERATIONS
from streamops.operations.trim.intent import TrimIntent
from streamops.tui.acting.questions import NONE, Question, WrongAnswer, questions_for, read_form, written
from streamops.tui.rows.selection import Selection, SelectionKind

IDS = tuple(EntryId(at, 0) for at in range(1, 31))
SUBJECT = Selection(sort=SelectionKind.PENDING, stream="or\udcffders", group="", consumer="w", ids=IDS)


class Way(StrEnum):
    ONE = "one"
    OTHER = "other"


class Everything(Struct, frozen=True, kw_only=True):
    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("The group.", completes="groups")]
    to: Annotated[str, option("Who gets them.", completes="consumers")]
    source: Annotated[str | None, option("Whose.", "from", completes="consumers")] = None
    ids: Annotated[tuple[EntryId, ...], option("Which.")] = ()
    names: Annotated[tuple[str, ...], option("Names.")] = ()
    since: Annotated[Instant | None, option("Since.", exclusive="when")] = None
    count: Annotated[int | None, option("At most.", exclusive="when")] = None
    edit: Annotated[tuple[tuple[bytes, bytes], ...], option("Edits.")] = ()
    way: Annotated[Way | None, option("How.")] = None
    safe: Annotated[bool, option("Safely.", off="unsafe")] = True
    idle: Annotated[timedelta, option("Idle.")] = timedelta(seconds=60)
    share: Annotated[float, option("Share.")] = 0.5

    def __post_init__(self) -> None:
        if self.count == 13:
            raise ValueError("not thirteen")


def asked(**given: Any) -> tuple[Question, ...]:
    return questions_for(Everything, SUBJECT, {"to": "me", **given}, long=True)


def read(**typed: str) -> tuple[Any, Limits]:
    questions = asked()
    return read_form(Everything, questions, [typed.get(one.field.name, one.text) for one in questions])


def test_a_form_is_filled_in_from_what_the_cursor_is_on() -> None:
    texts = {one.label: one.text for one in asked()}
    assert texts == {
        "stream": "or\\xffders", "group": "", "to": "me", "from": "w", "ids": "30 of them, 1-0 to 30-0",
        "names": "", "since": "", "count": "", "edit": "", "way": NONE, "safe": "yes", "idle": "1m",
        "share": "0.5", "max": "", "rate": "", "audit note": "",
    }  # fmt: skip


def test_fields_of_which_one_is_given_say_so() -> None:
    titles = [one.title for one in questions_for(TrimIntent, None, {}, long=False)]
    hints = {one.label: one.hint for one in questions_for(TrimIntent, None, {}, long=False)}
    assert hints["maxlen"] == "a whole number"
    questions = questions_for(TrimIntent, SUBJECT, {}, long=False)
    with pytest.raises(WrongAnswer, match="give one of maxlen, minid and before") as caught:
        read_form(TrimIntent, questions, [one.text for one in questions])
    assert caught.value.field == "maxlen"
    assert titles == [
        "stream *",
        "maxlen *",
        "or minid",
        "or before",
        "exact",
        "safe",
        "backup",
        "audit note",
    ]


def test_answer_that_is_not_changed_stands_for_its_value_to_the_byte() -> None:
    made, limits = read()
    assert made == Everything(stream="or\udcffders", group="", to="me", source="w", ids=IDS)
    assert limits == Limits()


def test_answer_that_is_typed_is_read() -> None:
    for name, text, value in [
        ("stream", " s ", " s "),
        ("source", "", None),
        ("ids", "5-1, 7  8-0", (EntryId(5, 1), EntryId(7, 0), EntryId(8, 0))),
        ("ids", "", ()),
        ("names", "a 'b c'", ("a", "b c")),
        ("since", "15m", timedelta(minutes=15)),
        ("since", "2026-03-01T14:00:00", datetime(2026, 3, 1, 14, tzinfo=UTC)),
        ("count", "1,000", 1000),
        ("count", "0", 0),
        ("edit", "a=1 'b=x y' c==", ((b"a", b"1"), (b"b", b"x y"), (b"c", b"="))),
        ("way", "other", Way.OTHER),
        ("way", NONE, None),
        ("safe", "no", False),
        ("idle", "1h30m", timedelta(minutes=90)),
        ("idle", "", timedelta(seconds=60)),
        ("share", "0.25", 0.25),
    ]:
        made, _ = read(**{name: text})
        assert getattr(made, name) == value


def test_answer_that_stands_for_nothing_is_told() -> None:
    for typed, field, why in [
        ({"stream": ""}, "stream", "stream: required"),
        ({"to": ""}, "to", "to: required"),
        ({"ids": "soon"}, "ids", "not an entry ID"),
        ({"since": "tomorrow"}, "since", "not a duration"),
        ({"count": "many"}, "count", "not a whole number"),
        ({"count": "-1"}, "count", "not a whole number"),
        ({"count": "²"}, "count", "not a whole number"),
        ({"share": "nan"}, "share", "not a number"),
        ({"edit": "a"}, "edit", "no '='"),
        ({"names": "'open"}, "names", "quotation"),
        ({"since": "5m", "count": "0"}, "count", "since is given too"),
        ({"count": "13"}, "", "not thirteen"),
        ({"rate": "fast"}, "rate", "not a number"),
    ]:
        with pytest.raises(WrongAnswer, match=why) as caught:
            read(**typed)
        assert caught.value.field == field
        assert "\n" not in caught.value.why


def test_limits_are_asked_for_where_they_make_sense() -> None:
    long = [one.field.name for one in asked()]
    short = [one.field.name for one in questions_for(Everything, None, {}, long=False)]
    assert long[-3:] == ["max_count", "rate", "reason"]
    assert short[-1] == "reason"
    assert "rate" not in short
    assert read(max_count="50", rate="500/s", reason="why")[1] == Limits(
        max_count=50, rate=500.0, reason="why"
    )


def test_every_operation_has_a_form() -> None:
    for name in list(OPERATIONS):
        questions = questions_for(OPERATIONS[name].intent, SUBJECT, {}, long=True)
        assert questions
        assert all(question.label and question.text.isprintable() for question in questions)
        assert len({question.label for question in questions}) == len(questions)
        assert not any(" - " in question.help for question in questions)
        assert not any(" --" in re.sub("`.*?`", "", question.help) for question in questions)


def test_values_are_written_as_they_would_be_typed() -> None:
    assert written(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00+00:00"
    assert written(((b"a", b"b c"),)) == "'a=b c'"
    assert written("\x1b[31m") == "\\x1b[31m"


def test_where_there_is_an_example_it_is_the_hint() -> None:
    hints = {question.field.name: question.hint for question in asked_of("dlq.purge")}
    assert hints["where"] == "optional, e.g. reason == 'timeout'"
    assert hints["because"] == "optional, e.g. max-deliveries"
    assert [question.label for question in asked_of("dlq.purge") if question.field.name == "because"] == [
        "reason"
    ]
    assert hints["queue"] == "a dead-letter queue"


def test_a_queue_under_the_cursor_is_the_queue_asked_for() -> None:
    assert next(question.value for question in asked_of("dlq.purge")) == SUBJECT.stream


def asked_of(operation: str) -> tuple[Question, ...]:
    return questions_for(OPERATIONS[operation].intent, SUBJECT, {}, long=False)
