"""Events of workers as log lines, all workers in one stream."""

import logging
from typing import Any, Final

import structlog

from streamops.runtime.events import (
    Abandoned,
    Adopted,
    BacklogSkipped,
    ConsumerRemoved,
    DeadLettered,
    DelayedDeadLettered,
    DelayedForeign,
    DelayedRefused,
    DelayedStrays,
    Duplicate,
    Event,
    Events,
    GroupRestored,
    HookFailed,
    Lost,
    NotHandled,
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
    NotHandled: (logging.WARNING, "entry read with noack was not handled"),
    Lost: (logging.ERROR, "entry was deleted while it was pending"),
    Stuck: (logging.ERROR, "entry can neither be handled nor given up"),
    Reclaimed: (logging.INFO, "entries taken over"),
    Adopted: (logging.WARNING, "entries adopted whose delivery was lost"),
    ConsumerRemoved: (logging.INFO, "dead consumer removed"),
    BacklogSkipped: (
        logging.WARNING,
        'group is new and is not given what the stream had before; start="all" would begin with it',
    ),
    GroupRestored: (logging.WARNING, "group was gone and has been created again"),
    Troubled: (logging.WARNING, "server cannot be asked"),
    Overran: (logging.WARNING, "leases ran out, others took entries over"),
    Abandoned: (logging.ERROR, "handler does not end, its entry stays pending"),
    DelayedDeadLettered: (logging.ERROR, "delayed message given up"),
    DelayedRefused: (logging.WARNING, "delayed messages cannot be moved"),
    DelayedForeign: (
        logging.WARNING,
        "the delayed queue has members that are no delayed messages; they stay untouched",
    ),
    DelayedStrays: (logging.WARNING, "bodies of delayed messages that their queue does not name"),
}


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
