"""Entry trace: everything that Redis knows about one entry, read within bounds."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from streamops.errors import ServerError, StreamopsError
from streamops.model.acting import Action
from streamops.model.dead_letters import DeadLetter
from streamops.model.entries import LAST_ID, EntryId, StreamEntry
from streamops.model.streams import StreamReading, StreamRole
from streamops.monitor.context import ServerContext
from streamops.monitor.dead_letters import DeadLetterReader
from streamops.monitor.delayed import DelayedReader
from streamops.monitor.entry_trace import (
    EntryTrace,
    InGroup,
    TraceEvent,
    acted_on,
    added,
    dead_lettered,
    gone,
    in_group,
    never_known,
    origin_of,
    removed_by,
    replay_of,
    replayed,
    retry,
    waiting_retry,
)
from streamops.monitor.inspection import read_newest, read_stream
from streamops.operations.audit import ActionQuery, find_actions, read_action, read_actions, state_before
from streamops.operations.packing import unpack
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.wire.batches import Request
from streamops.wire.faults import Fault
from streamops.wire.keys import attempts_key, dead_letter_key, retry_key, stream_role
from streamops.wire.pending import PendingRange, read_pending
from streamops.wire.reads import read_by_id, read_clock
from streamops.wire.replies import number

LOOKED_AT: Final = 1_000
"""Dead letters, retries, delayed messages and entries that are looked at, the newest."""
ACTIONS: Final = 20
"""Actions on the stream that are looked into, the newest."""
GROUPS: Final = 20
"""Groups whose retry streams are looked into."""
MOST_BYTES: Final = 1 << 20
"""Bytes of each stream that are looked through for retries and replays."""


class _Replay(NamedTuple):
    """An entry that a replay added: its stream, and the dead letter that it was added for."""

    stream: str
    entry: StreamEntry
    replay_of: EntryId


class EntryTracer:
    """Traces entries on one server."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place
        self._server = place.server
        self._delayed = DelayedReader(place)
        self._letters = DeadLetterReader(place)

    async def trace(self, stream: str, entry_id: EntryId) -> EntryTrace:
        """What became of an entry.

        Raises:
            NotFound: There is no such stream.
            ServerError: It could not be read.
        """
        reading, _ = await read_stream(self._server, stream)
        found = await read_by_id(self._server, stream, [entry_id])
        entry = found[0] if found else None
        ids = {entry_id, origin_of(entry) or entry_id}
        now = await read_clock(self._server, stream)
        groups = await self._groups(reading, entry_id)
        unknown: list[str] = []
        letters = await self._dead_letters(stream, ids, unknown)
        died = {letter.group for letter in letters}
        was_there = bool(letters) or any(group.row is not None for group in groups)
        replays = await self._replays(stream, ids, entry_id, unknown)
        if entry is None:
            first, last = reading.first_id, reading.last_generated_id
            was_replayed = any(one.replay_of == entry_id for one in replays)
            events = [gone(stream, entry_id, first, last, was_there=was_there, was_replayed=was_replayed)]
        else:
            events = [*added(stream, entry)]
        for group in groups:
            events += in_group(
                entry_id,
                group,
                now,
                dead_lettered=group.group in died,
                is_gone=entry is None,
                was_there=was_there,
            )
        later = [
            *await self._actions(stream, entry_id, unknown, is_gone=entry is None),
            *await self._waiting(stream, entry_id, unknown),
            *await self._retries(reading, entry_id, unknown),
            *map(dead_lettered, sorted(letters, key=lambda one: one.id)),
            *(replayed(one.stream, one.entry) for one in replays),
        ]
        events += sorted(later, key=lambda event: (event.at is None, event.at))
        unknown += never_known(events, groups)
        return EntryTrace(stream=stream, id=entry_id, events=tuple(events), unknown=tuple(unknown), now=now)

    async def _groups(self, reading: StreamReading, entry_id: EntryId) -> list[InGroup]:
        stream, names = reading.name, [group.name for group in reading.groups]
        if not names:
            return []
        after = entry_id.previous() if entry_id > EntryId(0, 0) else None
        rows = await read_pending(self._server, [PendingRange(stream, name, after, 1) for name in names])
        keys = [attempts_key(stream, name) for name in names]
        marks = await self._server.batch([Request(key, ("HGET", key, str(entry_id))) for key in keys])
        return [
            InGroup(
                group=group.name,
                position=group.last_delivered_id,
                row=None
                if isinstance(page, Fault)
                else next((row for row in page if row.id == entry_id), None),
                marks=0 if mark is None else number(mark) if isinstance(mark, bytes) else None,
                problem=page.reason if isinstance(page, Fault) else "",
            )
            for group, page, mark in zip(reading.groups, rows, marks.replies, strict=True)
        ]

    async def _waiting(self, stream: str, entry_id: EntryId, unknown: list[str]) -> list[TraceEvent]:
        try:
            page = await self._delayed.page(stream, LOOKED_AT)
        except StreamopsError as error:
            unknown.append(f"Whether a retry waits: {error.message}.")
            return []
        if page.queue.messages > len(page.messages):
            unknown.append(
                f"Whether a retry waits beyond the first {LOOKED_AT:,} of {page.queue.messages:,} delayed messages."
            )
        origin = str(entry_id)
        return [
            waiting_retry(one)
            for one in page.messages
            if one.body is not None and one.body.origin_id == origin
        ]

    async def _retries(
        self, reading: StreamReading, entry_id: EntryId, unknown: list[str]
    ) -> list[TraceEvent]:
        events = []
        for group in reading.groups[:GROUPS]:
            key = retry_key(reading.name, group.name)
            entries = await self._newest(key, entry_id, unknown)
            events += [retry(key, group.name, entry) for entry in entries if origin_of(entry) == entry_id]
        if len(reading.groups) > GROUPS:
            unknown.append(f"Whether a retry is pending for groups beyond the first {GROUPS} groups.")
        return events

    async def _dead_letters(self, stream: str, ids: set[EntryId], unknown: list[str]) -> list[DeadLetter]:
        found: list[DeadLetter] = []
        for name in dict.fromkeys((dead_letter_key(stream, self._place.dead_letters), f"{stream}:dlq")):
            try:
                page = await self._letters.newest(name, count=LOOKED_AT)
            except StreamopsError as error:
                unknown.append(f"Whether it is in {name}: {error.message}.")
                continue
            if page.more:
                unknown.append(
                    f"Whether it was dead-lettered before: only the newest {len(page.letters):,} dead "
                    f"letters of {name} were searched."
                )
            found += [one for one in page.letters if ids & {one.origin_id, one.born_id}]
        return found

    async def _replays(
        self, stream: str, ids: set[EntryId], entry_id: EntryId, unknown: list[str]
    ) -> "list[_Replay]":
        """Replays of an entry in its stream; of a dead letter, in the stream that its queue belongs to."""
        role, source = stream_role(stream, self._place.dead_letters)
        searched = source if role is StreamRole.DEAD_LETTERS and source else stream
        entries = await self._newest(searched, entry_id.next(), unknown) if entry_id < LAST_ID else ()
        replays = [
            _Replay(searched, one, letter)
            for one in entries
            if (letter := replay_of(one)) is not None and (letter == entry_id or origin_of(one) in ids)
        ]
        return sorted(replays, key=lambda one: one.entry.id)

    async def _newest(self, key: str, since: EntryId, unknown: list[str]) -> Sequence[StreamEntry]:
        """Entries of a stream since an entry was added; nothing of a stream that is not there."""
        try:
            found = await read_newest(
                self._server, key, LOOKED_AT, first=since, most_bytes=MOST_BYTES, what=key
            )
        except ServerError as error:
            unknown.append(f"What is in {error.message}.")
            return ()
        if found.more:
            unknown.append(
                f"What is in {key} before its newest {len(found.entries):,} entries: older ones were not searched."
            )
        return found.entries

    async def _actions(
        self, stream: str, entry_id: EntryId, unknown: list[str], *, is_gone: bool
    ) -> list[TraceEvent]:
        query = ActionQuery(target=stream, start=EntryId(entry_id.ms, 0), limit=ACTIONS + 1)
        events: list[TraceEvent] = []
        try:
            actions = await find_actions(lambda count, after: read_actions(self._server, count, after), query)
            for action in actions[:ACTIONS]:
                first = action.first
                before = state_before(await read_action(self._server, EntryId.parse(first.begun_id)))
                what = f"{first.operation} of {first.target} by {first.actor}"
                events += [
                    acted_on(what, row, first.at, first.undone_by)
                    for row in before.rows
                    if row.id == entry_id
                ]
                if is_gone:
                    events += _removal(action, what, entry_id)
        except StreamopsError as error:
            unknown.append(f"Operators' actions on it: {error.message}.")
            return []
        if len(actions) > ACTIONS:
            unknown.append(f"Operators' actions on it before the last {ACTIONS} actions on {stream}.")
        return events[::-1]


def _removal(action: Action, what: str, entry_id: EntryId) -> list[TraceEvent]:
    """That an action removed the entry, or may have, where it removed any."""
    outcome = action.last.outcome if action.last else None
    if outcome is None or not outcome.applied:
        return []
    named = action.first.operation == DeleteIntent.operation
    if named and entry_id not in unpack(DeleteIntent, action.first.intent).ids:
        return []
    if not named and action.first.operation != TrimIntent.operation:
        return []
    if outcome.removed_below and entry_id >= EntryId.parse(outcome.removed_below):
        return []
    return [removed_by(what, action.first.at, outcome, named=named)]
