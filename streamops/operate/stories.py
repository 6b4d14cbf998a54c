"""One entry's story: everything that Redis knows about it, read within bounds."""

from collections.abc import Sequence
from typing import Final

from streamops.analysis.letters import REPLAY_OF
from streamops.analysis.stories import born_as, tell_story
from streamops.errors import StreamopsError
from streamops.model.delayed import DelayedMessage
from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, EntryId
from streamops.model.letters import DeadLetter
from streamops.model.readings import StreamReading
from streamops.model.stories import Acted, InGroup, Story, StoryFacts
from streamops.operate.acting.action_search import ActionQuery, find_actions
from streamops.operate.acting.actions import read_actions
from streamops.operate.acting.audit import read_action
from streamops.operate.acting.before import state_before
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import read_stream
from streamops.operate.dead_letters import DeadLetterReader
from streamops.operate.delayed import DelayedReader
from streamops.operate.newest import read_newest
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import dead_letter_key, retry_key
from streamops.wire.reads import read_by_id, read_clock
from streamops.wire.stories import read_marks, read_owners

LOOKED_AT: Final = 1_000
"""Letters, retries, delayed messages and entries that are looked at, the newest."""
ACTIONS: Final = 20
"""Actions on the stream that are looked into, the newest."""
GROUPS: Final = 20
"""Groups whose retry streams are looked into."""
MOST_BYTES: Final = 1 << 20
"""Bytes of each stream that are looked through for its other lives."""


class StoryReader:
    """Reads stories on one server."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._server = place.server
        self._delayed = DelayedReader(place)
        self._letters = DeadLetterReader(place)

    async def read(self, stream: str, entry_id: EntryId) -> Story:
        """What became of an entry.

        Raises:
            NotFound: There is no such stream.
            ServerError: It could not be read.
        """
        reading, _ = await read_stream(self._server, stream)
        found = await read_by_id(self._server, stream, [entry_id])
        entry = found[0] if found else None
        unknown: list[str] = []
        born = born_as(entry) or entry_id
        return tell_story(
            StoryFacts(
                stream=stream,
                id=entry_id,
                entry=entry,
                first_id=reading.first_id,
                last_generated_id=reading.last_generated_id,
                groups=await self._groups(reading, entry_id),
                waiting=await self._waiting(stream, entry_id, unknown),
                retried=await self._retried(reading, entry_id, unknown),
                letters=await self._letters_of(stream, {entry_id, born}, unknown),
                copies=await self._copies(stream, {entry_id, born}, entry_id, unknown),
                actions=await self._actions(stream, entry_id, unknown),
                unknown=tuple(unknown),
                now=await read_clock(self._server, stream),
            )
        )

    async def _groups(self, reading: StreamReading, entry_id: EntryId) -> tuple[InGroup, ...]:
        names = [group.name for group in reading.groups]
        owners = await read_owners(self._server, reading.name, names, entry_id) if names else []
        marks = await read_marks(self._server, reading.name, names, entry_id) if names else []
        return tuple(
            InGroup(
                group=group.name,
                position=group.last_delivered_id,
                row=None if isinstance(row, Fault) else row,
                marks=mark,
                problem=row.reason if isinstance(row, Fault) else "",
            )
            for group, row, mark in zip(reading.groups, owners, marks, strict=True)
        )

    async def _waiting(
        self, stream: str, entry_id: EntryId, unknown: list[str]
    ) -> tuple[DelayedMessage, ...]:
        try:
            page = await self._delayed.page(stream, LOOKED_AT)
        except StreamopsError as error:
            unknown.append(f"Whether a retry waits: {error.message}.")
            return ()
        if page.queue.messages > len(page.messages):
            unknown.append(
                f"Whether a retry is beyond the first {LOOKED_AT:,} of {page.queue.messages:,} delayed messages."
            )
        wanted = str(entry_id)
        return tuple(one for one in page.messages if one.body is not None and one.body.origin_id == wanted)

    async def _retried(
        self, reading: StreamReading, entry_id: EntryId, unknown: list[str]
    ) -> tuple[tuple[str, str, Entry], ...]:
        found = []
        for group in reading.groups[:GROUPS]:
            key = retry_key(reading.name, group.name)
            entries = await self._newest(key, entry_id, unknown)
            found += [(key, group.name, entry) for entry in entries if born_as(entry) == entry_id]
        if len(reading.groups) > GROUPS:
            unknown.append(f"Whether a retry is under way for others than the first {GROUPS} groups.")
        return tuple(found)

    async def _letters_of(self, stream: str, ids: set[EntryId], unknown: list[str]) -> tuple[DeadLetter, ...]:
        queue = dead_letter_key(stream, self._place.dead_letters)
        plain = f"{stream}:dlq"
        found: list[DeadLetter] = []
        for name in dict.fromkeys((queue, plain)):
            try:
                page = await self._letters.newest(name, count=LOOKED_AT)
            except StreamopsError as error:
                unknown.append(f"Whether it is in {name}: {error.message}.")
                continue
            if page.more:
                unknown.append(
                    f"Whether it died before: only the newest {len(page.letters):,} letters of {name} were looked at."
                )
            found += [one for one in page.letters if ids & {one.origin_id, one.born_id}]
        return tuple(found)

    async def _copies(
        self, stream: str, ids: set[EntryId], entry_id: EntryId, unknown: list[str]
    ) -> tuple[Entry, ...]:
        entries = await self._newest(stream, entry_id.next(), unknown) if entry_id < LAST_ID else ()
        return tuple(one for one in entries if born_as(one) in ids and REPLAY_OF in dict(one.fields))

    async def _newest(self, key: str, since: EntryId, unknown: list[str]) -> Sequence[Entry]:
        """Entries of a stream since an entry was added; nothing of a stream that is not there."""
        found = await read_newest(self._server, key, LOOKED_AT, first=since, most_bytes=MOST_BYTES)
        if isinstance(found, Fault):
            if found.kind is not FaultKind.MISSING:
                unknown.append(f"What is in {key}: {found.reason}.")
            return ()
        if found.more:
            unknown.append(
                f"Whether {key} has it again: only its newest {len(found.entries):,} entries were looked at."
            )
        return found.entries

    async def _actions(self, stream: str, entry_id: EntryId, unknown: list[str]) -> tuple[Acted, ...]:
        query = ActionQuery(target=stream, start=EntryId(entry_id.ms, 0), limit=ACTIONS + 1)
        try:
            actions = await find_actions(lambda count, after: read_actions(self._server, count, after), query)
            acted = []
            for action in actions[:ACTIONS]:
                first = action.first
                before = state_before(await read_action(self._server, EntryId.parse(first.begun_id)))
                acted += [
                    Acted(
                        audit_id=first.begun_id,
                        at=first.at,
                        operation=first.operation,
                        target=first.target,
                        actor=str(first.actor),
                        row=row,
                    )
                    for row in before.rows
                    if row.id == entry_id
                ]
        except StreamopsError as error:
            unknown.append(f"What operators did to it: {error.message}.")
            return ()
        if len(actions) > ACTIONS:
            unknown.append(f"What operators did to it before the last {ACTIONS} actions on {stream}.")
        return tuple(reversed(acted))
