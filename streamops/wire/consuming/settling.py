"""Settling what failed: a mark before another start, the delayed queue, or the dead letters. Never nothing.

Each is one script that looks first whether the entry is still ours; so a call that is repeated after a lost reply
does nothing twice. If the server is out of memory, nothing is done and the entry stays pending.

No script can write a dead letter together with settling its entry where the queue is in another slot, and where an entry
has more fields than a script can hand to XADD: such a one is written once, and marked.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from streamops.model.deliveries import DeadLetterDraft, ScheduledRetry, Settled, Start
from streamops.model.streams import Mode
from streamops.wire.batches import Request
from streamops.wire.consuming.subscription import (
    Subscription,
    is_own_payload,
    key_of,
    mark_prefix,
    run_for_group,
)
from streamops.wire.faults import required
from streamops.wire.keys import encoded_part, moved_key, same_slot
from streamops.wire.node import Argument, Command, Reply
from streamops.wire.script_calls import MOST_PARTS, Call, lua_value, write_script
from streamops.wire.scripts import load_script
from streamops.wire.server import Server

MARKERS_KEPT_MS: Final = 7 * 24 * 3600 * 1000
"""For how long it is remembered which dead letters were written."""

ABOUT_PARTS: Final = 18
"""Names and values at a dead letter's end, which say what it is about."""


async def _place_all(
    server: Server,
    sub: Subscription,
    letters: Sequence[DeadLetterDraft],
    fields: Sequence[Sequence[bytes]],
    *,
    retries: bool,
) -> int:
    """Write dead letters to the queue, each once as long as it stands there; how many from the first on stand there now.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    source = f"{encoded_part(sub.stream)}:{encoded_part(sub.group)}:{mark_prefix(retries=retries)}"
    markers = [moved_key(sub.dead_letters, f"{source}{letter.entry_id.decode()}") for letter in letters]
    wide = next((at for at, parts in enumerate(fields) if len(parts) > MOST_PARTS), len(letters))
    if wide:
        return await _place(server, sub, markers[:wide], fields[:wide])
    await _place_wide(server, sub, markers[0], fields[0])
    return 1


async def _place(
    server: Server, sub: Subscription, markers: Sequence[str], fields: Sequence[Sequence[bytes]]
) -> int:
    queue = sub.dead_letters
    call = Call(queue, (MARKERS_KEPT_MS, lua_value(fields)), int, tuple(markers))
    return await write_script(server, "consume_place", call, f"dead-letter queue {queue}")


async def _place_wide(server: Server, sub: Subscription, marker: str, parts: Sequence[bytes]) -> None:
    """Write a dead letter and its marker in one transaction, which has no limit of fields as a script has."""
    queue, what = sub.dead_letters, f"dead-letter queue {sub.dead_letters}"
    if await write_script(server, "consume_is_placed", Call(queue, (), bool, (marker,)), what):
        return
    script = load_script("consume_placed").source
    marking: Command = ("EVAL", script, 2, queue, marker, MARKERS_KEPT_MS, *parts[-ABOUT_PARTS:])
    commands: tuple[Command, ...] = (("MULTI",), ("XADD", queue, "*", *parts), marking, ("EXEC",))
    answers = await server.batch([Request(queue, command) for command in commands])
    # An error from before EXEC says more than the one of EXEC itself.
    for reply in answers.replies:
        if answers.failures and isinstance(reply, Exception):
            raise server.error(reply)
        required(reply, what)
    for reply in answers.replies[-1]:
        required(reply, what)


MARKS_KEPT: Final = timedelta(days=7)
"""How long marks of starts are kept after the last one."""

BATCH: Final = 100
"""Entries that one call settles, or fewer where they are large."""

_MILLISECOND: Final = timedelta(milliseconds=1)
_UNMARKED: Final = {-1: Settled.NOT_OURS, -2: Settled.SUPERSEDED}

Row = TypeVar("Row", ScheduledRetry, DeadLetterDraft)


async def mark_starts(
    server: Server, sub: Subscription, *, retries: bool, rows: Sequence[Start], ttl: timedelta = MARKS_KEPT
) -> list[int | Settled]:
    """Mark a start of each of some hundred entries; the number of marks of each, or why it was not marked.

    Raises:
        ServerError: The server did not answer, or is out of memory.
    """
    prefix = mark_prefix(retries=retries)
    each = (part for row in rows for part in (row.id, row.marks, row.digest))
    arguments = (sub.group, sub.consumer, ttl // _MILLISECOND, prefix, *each)
    call = Call(key_of(sub, retries=retries), arguments, _marks, (sub.attempts,))
    marks: list[int | Settled] | None = await run_for_group(server, sub, "consume_mark", call)
    return [Settled.GROUP_GONE for _ in rows] if marks is None else marks


async def retry_all(
    server: Server, sub: Subscription, *, retries: bool, rows: Sequence[ScheduledRetry]
) -> list[Settled]:
    """Move entries to the delayed queue; the result for each.

    Raises:
        ServerError: The server did not answer, or is out of memory. Some may have been moved; if the call is repeated,
            these are done, or not ours once they have come due.
    """
    name = f"{encoded_part(sub.group)}:"

    async def write(batch: Sequence[ScheduledRetry]) -> list[Settled] | None:
        beside = _NumberedKeys(sub, 4)
        rows = [
            (row.id, row.delay_ms, row.attempt, row.origin_id, beside.payload(row.payload_key), row.digest)
            for row in batch
        ]
        arguments = (*_who(sub, retries=retries), name, sub.retries, *(part for row in rows for part in row))
        keys = (sub.attempts, sub.delayed, sub.bodies, *beside.keys)
        call = Call(key_of(sub, retries=retries), arguments, _settled, keys)
        settled: list[Settled] | None = await run_for_group(server, sub, "consume_retry", call)
        return settled

    return await _in_batches(rows, write)


async def dead_letter_all(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    rows: Sequence[DeadLetterDraft],
    min_idle: timedelta = timedelta(),
) -> list[Settled]:
    """Dead-letter entries that are idle for ``min_idle``; the result for each.

    On a cluster whose dead-letter queue is in another slot, and for entries of more than 3,891 fields, dead letters are
    written before the entries are acknowledged; a marker keeps a repeated call from writing second ones. If another
    consumer claims such an entry between the two steps, its dead letter stays although the entry is tried again.

    Raises:
        ServerError: The server did not answer, or is out of memory. Some may have been dead-lettered; if the call is
            repeated, these are not ours.
    """
    far = server.options.mode is Mode.CLUSTER and not same_slot(sub.stream, sub.dead_letters)

    async def write(batch: Sequence[DeadLetterDraft]) -> list[Settled] | None:
        return await _dead_letter_rows(
            server, sub, batch, "consume_dead_letter", (sub.dead_letters,), retries=retries, min_idle=min_idle
        )

    async def write_far(batch: Sequence[DeadLetterDraft]) -> list[Settled] | None:
        return await _dead_letter_far(server, sub, batch, retries=retries, min_idle=min_idle)

    if far:
        return await _in_batches(rows, write_far)
    became = await _in_batches(rows, write)
    wide = [at for at, word in enumerate(became) if word is Settled.TOO_WIDE]
    for at, word in zip(wide, await _in_batches([rows[at] for at in wide], write_far), strict=True):
        became[at] = word
    return became


async def _dead_letter_far(
    server: Server, sub: Subscription, batch: Sequence[DeadLetterDraft], *, retries: bool, min_idle: timedelta
) -> list[Settled] | None:
    """Read the entries, write their dead letters, and acknowledge the entries, in three calls.

    The first renews the leases, so that no other consumer claims the entries meanwhile.
    """
    who = _gives_up(sub, retries=retries, min_idle=min_idle)
    arguments = (*who, *_script_arguments(batch, _NumberedKeys(sub, 0), keys=False))
    call = Call(key_of(sub, retries=retries), arguments, _draft_arguments, (sub.attempts,))
    read: list[tuple[Settled, list[bytes]]] | None = await run_for_group(server, sub, "consume_tell", call)
    if read is None:
        return None
    became = [word for word, _ in read]
    found = [at for at, (_, fields) in enumerate(read) if fields]
    if found:
        letters, fields = [batch[at] for at in found], [read[at][1] for at in found]
        placed = await _place_all(server, sub, letters, fields, retries=retries)
        words = await _dead_letter_rows(
            server, sub, letters[:placed], "consume_dead_letter_placed", (), retries=retries
        )
        if words is None:
            return None
        for at, word in zip(found, words, strict=False):
            became[at] = word
        if len(words) < len(found):
            # The rest comes with the next batch.
            became = became[: found[len(words)]]
    return became


async def _dead_letter_rows(
    server: Server,
    sub: Subscription,
    batch: Sequence[DeadLetterDraft],
    script: str,
    queue: tuple[str, ...],
    *,
    retries: bool,
    min_idle: timedelta = timedelta(),
) -> list[Settled] | None:
    beside = _NumberedKeys(sub, 2 + len(queue))
    who = _gives_up(sub, retries=retries, min_idle=min_idle)
    arguments = (*who, *_script_arguments(batch, beside, keys=True))
    call = Call(key_of(sub, retries=retries), arguments, _settled, (sub.attempts, *queue, *beside.keys))
    settled: list[Settled] | None = await run_for_group(server, sub, script, call)
    return settled


def _script_arguments(
    letters: Sequence[DeadLetterDraft], beside: "_NumberedKeys", *, keys: bool
) -> Iterator[Argument]:
    """Script arguments of dead letters: with ``keys`` the numbers of their keys, else 0."""
    for one in letters:
        yield from (one.entry_id, one.reason, one.error, one.deliveries, one.attempt)
        yield beside.number(one.guard_key) if keys else 0
        yield beside.payload(one.payload_key) if keys else 0
        yield one.origin_id
        yield one.digest


async def _in_batches(
    rows: Sequence[Row], write: Callable[[Sequence[Row]], Awaitable[list[Settled] | None]]
) -> list[Settled]:
    """Settle all rows, in batches as large as the script takes."""
    became: list[Settled] = []
    while len(became) < len(rows):
        batch = rows[len(became) : len(became) + BATCH]
        words = await write(batch)
        became += [Settled.GROUP_GONE for _ in batch] if words is None else words
    return became


class _NumberedKeys:
    """Further keys of a call, which a script's arguments refer to by their numbers.

    Attributes:
        keys: The keys, after those that every call has.
    """

    def __init__(self, sub: Subscription, first: int) -> None:
        self.keys: list[str] = []
        self._sub = sub
        self._first = first

    def payload(self, key: str | None) -> int:
        """The number of a payload's key; 0 if it is no payload of this stream."""
        return self.number(key) if is_own_payload(self._sub, key) else 0

    def number(self, key: str | None) -> int:
        """The number of a key; 0 for None."""
        if key is None:
            return 0
        self.keys.append(key)
        return self._first + len(self.keys)


def _who(sub: Subscription, *, retries: bool) -> tuple[Argument, ...]:
    return sub.group, sub.consumer, int(retries), mark_prefix(retries=retries)


def _gives_up(sub: Subscription, *, retries: bool, min_idle: timedelta) -> tuple[Argument, ...]:
    return *_who(sub, retries=retries), sub.stream, -(-min_idle // _MILLISECOND)


def _marks(reply: Reply) -> list[int | Settled]:
    return [_UNMARKED.get(number, number) for number in reply]


def _draft_arguments(reply: Reply) -> list[tuple[Settled, list[bytes]]]:
    return [(Settled(word.decode()), parts[0] if parts else []) for word, *parts in reply]


def _settled(reply: Reply) -> list[Settled]:
    return [Settled(word.decode()) for word in reply]


__all__ = [
    "DeadLetterDraft",
    "ScheduledRetry",
    "Settled",
    "dead_letter_all",
    "mark_starts",
    "retry_all",
]
