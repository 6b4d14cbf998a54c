"""Flags derive from an intent's fields: what is given becomes the intent, what is wrong is a usage error."""

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import click
import pytest
from msgspec import Struct

from streamops.cli.acting import flow
from streamops.cli.acting.choices import Choices
from streamops.cli.acting.command import REASONS, acting_command
from streamops.errors import ExitCode, Forbidden
from streamops.model.acting import Confirmation, Impact, Limits, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import Instant, argument, inner, option
from streamops.runtime import retry


class Mode(StrEnum):
    QUICK = "quick"
    SLOW = "slow"


class OddIntent(OperationIntent, frozen=True, kw_only=True):
    """Do something odd.

    One field of each kind that an intent may have.
    """

    operation: ClassVar = "odd"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (("streamops odd a", "that"),)
    rated: ClassVar = True

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str | None, argument("A group.", completes="groups")] = None
    to: Annotated[str | None, option("Who gets it.", completes="consumers")] = None
    source: Annotated[str | None, option("Who has it.", "from")] = None
    mode: Annotated[Mode, option("How.")] = Mode.QUICK
    count: Annotated[int | None, option("How many.")] = None
    share: Annotated[float, option("How much.")] = 0.5
    exact: Annotated[bool, option("Exactly.")] = False
    safe: Annotated[bool, option("Safely.", off="unsafe")] = True
    idle: Annotated[timedelta, option("How long.")] = timedelta(seconds=90)
    since: Annotated[Instant | None, option("Since when.")] = None
    at: Annotated[EntryId | None, option("From there.", exclusive="where")] = None
    back: Annotated[int | None, option("So far back.", exclusive="where")] = None
    start: Annotated[bool, option("All of it.", exclusive="where")] = False
    ids: Annotated[tuple[EntryId, ...], option("Which.")] = ()
    edits: Annotated[tuple[tuple[bytes, bytes], ...], option("With this.", "edit")] = ()
    after: Annotated[EntryId | None, inner("Go on there.")] = None

    def __post_init__(self) -> None:
        if self.count == 13:
            raise ValueError("13 is an unlucky number")


COMMAND = acting_command(OddIntent)
Asked = Callable[..., tuple[OddIntent, Choices]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Parses a command line; what it asks for is not done."""

    def parse(*words: str) -> tuple[OddIntent, Choices]:
        told: list[tuple[Any, Choices]] = []

        def act(_: object, intent: Struct, choices: Choices) -> ExitCode:
            told.append((intent, choices))
            return ExitCode.DONE

        monkeypatch.setattr(flow, "act", act)
        COMMAND.main(list(words), "odd", standalone_mode=False)
        (answer,) = told
        return answer

    return parse


def test_what_is_not_given_is_the_field_s_default(asked: Asked) -> None:
    intent, choices = asked("orders")
    assert intent == OddIntent(stream="orders")
    assert choices == Choices(Confirmation(), dry_run=False, limits=Limits())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("billing",), {"group": "billing"}),
        (("--to", "worker-2", "--from", "worker-1"), {"to": "worker-2", "source": "worker-1"}),
        (("--mode", "slow"), {"mode": Mode.SLOW}),
        (("--count", "0"), {"count": 0}),
        (("--share", "1.25"), {"share": 1.25}),
        (("--exact",), {"exact": True}),
        (("--unsafe",), {"safe": False}),
        (("--safe",), {"safe": True}),
        (("--idle", "1h30m"), {"idle": timedelta(minutes=90)}),
        (("--idle", "0"), {"idle": timedelta(0)}),
        (("--since", "15m"), {"since": timedelta(minutes=15)}),
        (("--since", "2026-03-01T14:00:00Z"), {"since": datetime(2026, 3, 1, 14, tzinfo=UTC)}),
        (("--at", "5"), {"at": EntryId(5, 0)}),
        (("--start",), {"start": True}),
        (("--ids", "5-1,6,5-1 7-0"), {"ids": (EntryId(5, 1), EntryId(6, 0), EntryId(7, 0))}),
        (("--edit", "a=1", "--edit", "b==\udcff"), {"edits": ((b"a", b"1"), (b"b", b"=\xff"))}),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_what_is_given_is_in_the_intent(words: tuple[str, ...], wanted: dict[str, Any], asked: Asked) -> None:
    intent, _ = asked("orders", *words)
    assert intent == OddIntent(**({"stream": "orders"} | wanted))


def test_options_about_acting_become_choices_and_assent(asked: Asked) -> None:
    words = (
        "-y",
        "--dry-run",
        "--confirm",
        "x",
        "--expect",
        "1",
        "--plan",
        "3f2a",
        "--max",
        "2",
        "--reason",
        "why",
        "--unaudited",
    )
    _, choices = asked("orders", *words, "--rate", "30/m")
    assert choices.confirmation == Confirmation(yes=True, typed="x")
    assert choices.dry_run
    assert choices.limits == Limits(
        expect=1, fingerprint="3f2a", max_count=2, reason="why", unaudited=True, rate=0.5
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "missing argument"),
        (("a", "--at", "1-1", "--back", "3"), "--at and --back exclude each other"),
        (("a", "--at", "1-1", "--back", "3", "--start"), "--at and --back and --start exclude each other"),
        (("a", "--mode", "odd"), "quick"),
        (("a", "--count", "-1"), "not in the range"),
        (("a", "--count", "13"), "unlucky"),
        (("a", "--share", "nan"), "no number"),
        (("a", "--share", "inf"), "no number"),
        (("a", "--share", "-1"), "no number"),
        (("a", "--idle", "long"), "not a duration"),
        (("a", "--since", "soon"), "no time"),
        (("a", "--at", "x-1"), "not an entry ID"),
        (("a", "--at", "99999999999999999999999"), "out of range"),
        (("a", "--ids", "1-1,x"), "not an entry ID: 'x'"),
        (("a", "--edit", "nothing"), "no '='"),
        (("a", "--after", "1-1"), "no such option"),
        (("a", "--rate", "0"), "no rate"),
        (("a", "--rate", "nan"), "no rate"),
        (("a", "--rate", "5/d"), "no rate"),
        (("a", "--expect", "many"), "not a valid integer"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_what_is_wrong_is_a_usage_error(words: tuple[str, ...], why: str, asked: Asked) -> None:
    with pytest.raises(click.UsageError) as told:
        asked(*words)
    assert why.lower() in told.value.format_message().lower()


def test_the_help_tells_every_field_but_inner_ones() -> None:
    text = COMMAND.get_help(click.Context(COMMAND, info_name="odd", terminal_width=120))
    options, _, acting = text.partition("Acting:")
    for part in (
        "--from TEXT",
        "--to CONSUMER",
        "--mode [quick|slow]",
        "--idle SPAN",
        "[default: 1m30s]",
        "--safe / --unsafe",
    ):
        assert part in options
    for part in (
        "--yes",
        "--dry-run",
        "--confirm NAME",
        "--expect N",
        "--max N",
        "--reason",
        "--unaudited",
        "--rate",
    ):
        assert part in acting
        assert part not in options
    assert "--after" not in text


STDIN_IDS = (EntryId(5, 1), EntryId(6, 0), EntryId(7, 2))


@pytest.mark.parametrize(
    "text",
    [
        "5-1\n6\n7-2\n",
        "5-1 6-0\t7-2",
        "5-1,6-0,\n\n7-2,5-1",
        '{"id":"5-1","idle_seconds":3}\n{"id":"6-0"}\n{"id":"7-2"}\n',
        '5-1\n  {"consumer": "a", "id": "6"}\n7-2',
    ],
)
def test_ids_are_read_from_stdin(text: str, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    intent, _ = asked("orders", "--ids", "-")
    assert intent.ids == STDIN_IDS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5-1\nsix\n", "--ids: line 2: not an entry ID: 'six'"),
        ('{"id":"5-1"}\n{"id":7}\n', "--ids: line 2"),
        ('{"consumer":"a"}\n', "--ids: line 1"),
        ('{\n  "id": "5-1"\n}\n', "--ids: line 1"),
        ("5-1\n6-1-1", "line 2"),
    ],
)
def test_a_line_of_stdin_that_holds_none_is_named(
    text: str, why: str, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    with pytest.raises(click.UsageError) as told:
        asked("orders", "--ids", "-")
    assert why in told.value.format_message()


def test_too_many_ids_are_refused_unless_allowed(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamops.cli.ids.LARGEST_SELECTION", 3)
    with pytest.raises(Forbidden, match="--ids: more than 3 IDs") as told:
        asked("orders", "--ids", "1,2,3,4")
    assert told.value.exit_code is ExitCode.REFUSED
    intent, _ = asked("orders", "--ids", "1,2,3,4", "--max", "4")
    assert len(intent.ids) == 4


@pytest.mark.parametrize("words", [("--ids", ""), ("--ids", "-"), ("--ids", ",")])
def test_ids_that_turn_out_to_be_none_select_nothing_rather_than_everything(
    words: tuple[str, ...], asked: Asked, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    with pytest.raises(ValueError, match="not enough values"):
        asked("orders", *words)
    assert "nothing selected, nothing done" in capfd.readouterr().out


def test_the_reasons_that_are_no_notes_are_those_that_workers_give() -> None:
    given = {retry.MAX_DELIVERIES, retry.REJECTED, retry.UNDECODABLE, retry.PAYLOAD_MISSING, retry.TIMEOUT}
    assert given == REASONS
