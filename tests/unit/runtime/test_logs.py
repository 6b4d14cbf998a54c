"""Logs: one line an event with the worker's ID in it, whatever the events hold."""

import json
import logging
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import Unreachable
from streamops.model.text import is_safe
from streamops.runtime.events import DeadLettered, Event, Events, HookFailed, Overran, Retried, Troubled
from streamops.runtime.loading import LEVELS, log_events
from streamops.service.processes import LogFormat, configure_logs

HOSTILE = "\x1b[2J\x1b]0;pwned\x07\r\n2026-01-01 [info] all is well\x9b31m\u202e\x7f\udcff"
ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=40)


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)


def heard(form: LogFormat, *events: Event) -> None:
    configure_logs(form, logging.INFO, worker="so-here-1-abcd")
    telling = Events()
    log_events(telling)
    for event in events:
        telling.emit(event)


def fail() -> None:
    raise ValueError(HOSTILE)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    written = capsys.readouterr().err
    assert written.endswith("\n")
    return written[:-1].split("\n")


RETRIED = Retried("orders", "billing", "1-1", 2, timedelta(seconds=1.5), "ValueError: no such customer")


def test_an_event_as_text_is_one_line_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    heard(LogFormat.TEXT, RETRIED)
    (line,) = lines(capsys)
    when, rest = line.split(" ", 1)
    assert when.endswith("Z")
    assert " ".join(rest.split()) == (
        "[warning ] handler failed, entry is tried again attempt=2 delay=0:00:01.500000 entry_id=1-1 group=billing "
        "reason='ValueError: no such customer' stream=orders worker=so-here-1-abcd"
    )


def test_an_event_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    heard(LogFormat.JSON, RETRIED)
    (line,) = lines(capsys)
    told = json.loads(line)
    assert told.pop("timestamp").endswith("Z")
    assert told == {
        "event": "handler failed, entry is tried again",
        "level": "warning",
        "worker": "so-here-1-abcd",
        "stream": "orders",
        "group": "billing",
        "entry_id": "1-1",
        "attempt": 2,
        "delay": "0:00:01.500000",
        "reason": "ValueError: no such customer",
    }


@pytest.mark.parametrize("form", LogFormat)
def test_hostile_text_stays_on_its_line_and_orders_no_terminal(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    heard(
        form,
        DeadLettered(HOSTILE, HOSTILE, HOSTILE, 1, HOSTILE, HOSTILE),
        Troubled(HOSTILE, Unreachable(HOSTILE, HOSTILE)),
        HookFailed("s", "g", "1-1", HOSTILE),
    )
    told = lines(capsys)
    assert len(told) == 3
    for line in told:
        assert all(map(is_safe, line))
        assert "so-here-1-abcd" in line
    if form is LogFormat.JSON:
        assert json.loads(told[0])["stream"] == HOSTILE


@pytest.mark.parametrize("form", LogFormat)
@given(text=ANY_TEXT)
def test_an_event_of_any_text_is_one_safe_line(
    form: LogFormat, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    heard(form, HookFailed(text, "g", "1-1", text))
    (line,) = lines(capsys)
    assert all(map(is_safe, line))
    if form is LogFormat.JSON:
        assert json.loads(line)["error"] == text


@pytest.mark.parametrize("form", LogFormat)
def test_a_traceback_and_what_others_log_is_a_line_each(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(form, logging.INFO, worker="so-here-1-abcd")
    try:
        fail()
    except ValueError:
        structlog.get_logger("streamops").exception("listener failed")
        logging.getLogger("shop").exception("it failed: %s", HOSTILE)
    logging.getLogger("shop").debug("not told")
    told = lines(capsys)
    assert len(told) == 2
    for line in told:
        assert "ValueError" in line
        assert "so-here-1-abcd" in line
        assert all(map(is_safe, line))


@pytest.mark.parametrize("form", LogFormat)
def test_the_worker_stands_in_lines_of_all_threads(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    heard(form)
    telling = Events()
    log_events(telling)
    thread = threading.Thread(target=telling.emit, args=(Overran("s", "g", 3),))
    thread.start()
    thread.join()
    (line,) = lines(capsys)
    assert "so-here-1-abcd" in line


def test_a_value_cannot_be_taken_for_several(capsys: pytest.CaptureFixture[str]) -> None:
    heard(LogFormat.TEXT, HookFailed('a" group=other', "g", "1-1", ""))
    (line,) = lines(capsys)
    assert """stream='a" group=other'""" in line


def test_a_listener_that_raises_is_told_and_harms_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(LogFormat.TEXT, logging.INFO)
    telling, reached = Events(), list[Event]()

    def broken(_: Event) -> None:
        raise ValueError("broken")

    telling.on(Overran, broken)
    telling.on(Overran, reached.append)
    telling.emit(Overran("s", "g", 1))
    assert reached
    (line,) = lines(capsys)
    assert "listener failed" in line
    assert "Overran" in line


def leaves(kind: type[Event]) -> set[type[Event]]:
    """The events of a kind, without the kinds that only gather what some have in common."""
    below = kind.__subclasses__()
    return {leaf for each in below for leaf in leaves(each)} if below else {kind}


def test_every_event_of_note_has_words() -> None:
    quiet = {"Completed", "Promoted"}
    assert {kind.__name__ for kind in leaves(Event)} - quiet == {kind.__name__ for kind in LEVELS}
