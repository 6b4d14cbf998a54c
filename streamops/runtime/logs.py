"""Structured logs of workers: one line an event, all workers in one stream."""

import json
import logging
import sys
from enum import StrEnum
from typing import Any, Final

import structlog
from structlog.typing import EventDict, Processor

from streamops.analysis.safe_text import safe
from streamops.runtime.events import (
    Abandoned,
    Adopted,
    ConsumerRemoved,
    DeadLettered,
    DelayedBuried,
    DelayedRefused,
    DelayedStrays,
    Duplicate,
    Event,
    Events,
    GroupRestored,
    HookFailed,
    Lost,
    Overran,
    Reclaimed,
    Retried,
    Stuck,
    Troubled,
)

LEVELS: Final[dict[type[Event], tuple[int, str]]] = {
    Retried: (logging.WARNING, "handler failed, entry is tried again"),
    DeadLettered: (logging.ERROR, "entry given up"),
    HookFailed: (logging.ERROR, "failure hook raised"),
    Duplicate: (logging.INFO, "duplicate acknowledged"),
    Lost: (logging.ERROR, "entry was deleted while it was pending"),
    Stuck: (logging.ERROR, "entry can neither be handled nor given up"),
    Reclaimed: (logging.INFO, "entries taken over"),
    Adopted: (logging.WARNING, "entries adopted whose delivery was lost"),
    ConsumerRemoved: (logging.INFO, "dead consumer removed"),
    GroupRestored: (logging.WARNING, "group was gone and is created anew"),
    Troubled: (logging.WARNING, "server cannot be asked"),
    Overran: (logging.WARNING, "leases ran out, others took entries over"),
    Abandoned: (logging.ERROR, "handler does not end, its entry stays pending"),
    DelayedBuried: (logging.ERROR, "delayed message given up"),
    DelayedRefused: (logging.WARNING, "delayed messages cannot be moved"),
    DelayedStrays: (logging.WARNING, "bodies of delayed messages that their queue does not name"),
}


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


def configure_logs(form: LogFormat, level: int, **always: str) -> None:
    """Write logs to standard error, those of the standard library's loggers too, one line each.

    Whatever stands in them comes from anywhere: no line can be made two, and no terminal be told what to do.

    Args:
        form: How they look.
        level: From which of ``logging``'s levels on.
        always: What stands in every line, whichever thread writes it: the worker's ID.
    """
    facts: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _adding(always),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render: list[Processor] = (
        [_as_json]
        if form is LogFormat.JSON
        else [_made_safe, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)]
    )
    structlog.configure(
        processors=[*facts, *render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        # The worker's ID is known later than the first line is written.
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*facts, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)


def log_events(events: Events) -> None:
    """Have every event of note logged."""
    logger = structlog.get_logger("streamops")

    def write(event: Event) -> None:
        known = LEVELS.get(type(event))
        if known is not None:
            level, words = known
            logger.log(level, words, **{name: _plain(value) for name, value in _items(event)})

    for kind in LEVELS:
        events.on(kind, write)


def _items(event: Event) -> list[tuple[str, Any]]:
    return [(name, getattr(event, name)) for name in event.__struct_fields__]


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever an event says
    return value if isinstance(value, (str, int, float)) else str(value)


def _adding(always: dict[str, str]) -> Processor:
    def add(_: object, __: str, line: EventDict) -> EventDict:
        return {**always, **line}

    return add


def _as_json(_: object, __: str, line: EventDict) -> str:
    """One line of ASCII: what it escapes, a reader of JSON gets back as it was."""
    return json.dumps(line, default=str).replace("\x7f", "\\u007f")


def _made_safe(_: object, __: str, line: EventDict) -> EventDict:
    """Every text on one line and fit for a terminal; structlog quotes what could be taken for several."""
    shown = {safe(str(name)): _shown(value) for name, value in line.items() if name != "event"}
    if "exception" in shown:
        # By its own name it would be shown on lines of its own.
        shown["traceback"] = shown.pop("exception")
    return {"event": safe(str(line.get("event", ""))), **shown}


def _shown(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float)) else safe(str(value))
