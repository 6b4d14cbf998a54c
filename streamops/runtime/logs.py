"""Structured logs of workers: one line an event, all workers in one stream."""

import logging
import sys
from enum import StrEnum
from typing import Any, Final

import msgspec
import structlog

from streamops.runtime.events import (
    Adopted,
    ConsumerRemoved,
    DeadLettered,
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
}


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


def configure_logs(form: LogFormat, level: int, **always: str) -> None:
    """Write logs to standard error.

    Args:
        form: How they look.
        level: From which of ``logging``'s levels on.
        always: What stands in every line: the worker's ID.
    """
    render: Any = (
        structlog.processors.JSONRenderer(
            serializer=lambda line, **_: msgspec.json.encode(line, enc_hook=str).decode()
        )
        if form is LogFormat.JSON
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**always)


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
