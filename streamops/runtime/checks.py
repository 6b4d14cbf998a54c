"""What makes no sense in a declaration is refused where it is declared: in one line that says which word it is."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from streamops.errors import SettingsError
from streamops.model.entries import EntryId
from streamops.runtime.handlers import Handler, is_text, is_whole

MOST_SLOTS: Final = 10_000
SHORTEST: Final = timedelta(milliseconds=1)
"""What servers count in."""

Problem = tuple[str, str]
"""What is wrong, and what to write instead."""


def check_handler(handler: Handler) -> None:
    """Refuse a handler that could not work.

    Raises:
        SettingsError: Says why not.
    """
    for wrong, hint in _problems(handler):
        raise SettingsError(f"handler {handler.name}: {wrong}", hint)


def _problems(handler: Handler) -> Iterator[Problem]:
    yield from _place(handler)
    yield from _numbers(handler)
    yield from _durations(handler)
    yield from _functions(handler)


def _place(handler: Handler) -> Iterator[Problem]:
    if not is_text(handler.group):
        yield "has no group", 'Write @app.handler("orders:events", group="shipping").'
    if handler.start != "$" and not _is_id(handler.start):
        yield (
            f"start={handler.start!r}",
            "Write 'new' for what comes from now on, 'all' for what there is too, or an entry's ID.",
        )
    streams = [stream for stream, _ in handler.streams]
    if twice := next((stream for stream in streams if streams.count(stream) > 1), None):
        yield f"reads stream {twice} twice", "Name each stream once; a mapping gives weights."


def _numbers(handler: Handler) -> Iterator[Problem]:
    ranges = {
        "concurrency": (handler.concurrency, 1, MOST_SLOTS),
        "prefetch": (handler.prefetch, 1, 1_000_000),
        "prefetch_bytes": (handler.prefetch_bytes, 1, 1 << 40),
        "batch": (handler.batch, 1, 100_000),
        "max_attempts": (handler.retry.max_attempts, 1, 1_000_000),
    }
    for name, (value, least, most) in ranges.items():
        if not is_whole(value) or not least <= value <= most:
            yield f"{name}={value!r}", f"It must be a number from {least} to {most}."


def _durations(handler: Handler) -> Iterator[Problem]:
    key_ttl = handler.guard.ttl if handler.guard else None
    for name, duration in (("lease", handler.lease), ("timeout", handler.timeout), ("key_ttl", key_ttl)):
        if duration is not None and duration < SHORTEST:
            yield f"{name} must be longer than nothing", "Seconds: 30, 0.5."
    if handler.noack and handler.guard is not None:
        yield (
            "noack=True with a key",
            "What the server takes for acknowledged cannot be kept apart: leave out one of them.",
        )
    if handler.linger < timedelta():
        yield "linger is negative", "Seconds: 0.05; 0 waits for nothing."


def _functions(handler: Handler) -> Iterator[Problem]:
    key = handler.guard.key if handler.guard else None
    if key is not None and not (callable(key) or is_text(key)):
        yield f"key={key!r}", "Name a field, or give a function of the body."
    if handler.failed is not None and not callable(handler.failed):
        yield f"failed={handler.failed!r}", "Give a function that takes the entry and the error."
    for around in handler.middleware:
        if not callable(around):
            yield f"middleware={around!r}", "Give async functions that take the entry and the call inside."
    for kind in handler.retry.no_retry_on:
        if not _is_error(kind):
            yield f"no_retry_on={kind!r}", "Name error classes: no_retry_on=(ValueError, KeyError)."


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and EntryId.parse(value) is not None
    except ValueError:
        return False


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)
