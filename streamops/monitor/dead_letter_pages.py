"""Letters of a dead-letter queue: which of them a selection means, read page by page, and counted."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamops.errors import Refused, SettingsError
from streamops.model.acting import Identity
from streamops.model.dead_letter_fields import kind_of, letter_document, ordered_kinds, read_letter
from streamops.model.dead_letters import DeadLetter, LetterKind, LetterTally
from streamops.model.entries import Entry
from streamops.model.fields import Moment
from streamops.model.ids import EPOCH, LAST_ID, MAX_PART, ZERO_ID, EntryId
from streamops.model.readings import StreamReading
from streamops.model.selections import LetterSelection, SelectedLetters
from streamops.model.streams import StreamRole
from streamops.monitor.context import Place
from streamops.monitor.inspection import read_stream
from streamops.wire.keys import stream_role
from streamops.wire.letters import count_letters
from streamops.wire.reads import read_by_id, read_clock, read_page
from streamops.wire.server import Server

FIRST_PAGE: Final = 16
PAGE: Final = 1_000
PAGE_BYTES: Final = 1 << 20
"""Letters and bytes that are read at once."""

COUNTED: Final = 10_000
"""Letters that are counted by kind where the length of the queue tells how many there are."""

SAMPLE: Final = 10


class LetterFilter:
    """Which letters a selection means, apart from where they stand.

    Attributes:
        met: How many letters it was asked about whose IDs are among the selection's.
    """

    def __init__(self, selection: LetterSelection) -> None:
        """Compile it; raises ``SettingsError`` where its expression is none."""
        self._ids = frozenset(selection.ids)
        self._because = selection.because
        self.met = 0
        self._where = None
        if selection.where is not None:
            # Only filters with an expression pay for the library behind it.
            from streamops.model.expressions import LETTER_ROOTS, Expression  # noqa: PLC0415

            self._where = Expression(selection.where, LETTER_ROOTS)

    def narrow(self, after: EntryId, last: EntryId) -> tuple[EntryId, EntryId]:
        """The part of a range where letters can be that it takes: after one ID and up to another."""
        if not self._ids:
            return after, last
        first = min(self._ids)
        return max(after, first.previous() if first > ZERO_ID else first), min(last, max(self._ids))

    def takes(self, letter: DeadLetter) -> bool:
        """Whether a letter is meant; raises ``SettingsError`` where the expression cannot say."""
        if self._ids:
            if letter.id not in self._ids:
                return False
            self.met += 1
        if self._because is not None and letter.reason != self._because:
            return False
        if self._where is None:
            return True
        return self._where.holds(letter_document(letter, with_json=self._where.wants_json))


async def letter_pages(
    server: Server, queue: str, source: str | None, after: EntryId, last: EntryId
) -> AsyncIterator[list[DeadLetter]]:
    """The letters after one ID and up to another, page by page; raises ``ServerError``."""
    size = FIRST_PAGE
    while after < last:
        page = await read_page(server, queue, after.next(), last, size, what=f"queue {queue}")
        if page:
            yield [read_letter(entry, queue, source) for entry in page]
            after = page[-1].id
        if len(page) < size:
            return
        size = _next_size(page)


async def chosen_letters(
    server: Server, queue: str, source: str | None, chosen_by: LetterFilter, *, after: EntryId, last: EntryId
) -> AsyncIterator[tuple[list[DeadLetter], EntryId]]:
    """Of every page the letters that a filter takes, and the last ID looked at."""
    async for page in letter_pages(server, queue, source, *chosen_by.narrow(after, last)):
        yield [letter for letter in page if chosen_by.takes(letter)], page[-1].id


async def letters_by_id(
    server: Server, queue: str, source: str | None, ids: Sequence[EntryId]
) -> list[DeadLetter]:
    """Those of the IDs that are letters of the queue; raises where it cannot be read."""
    return [read_letter(entry, queue, source) for entry in await read_by_id(server, queue, ids)]


class Survey(NamedTuple):
    """What the server says about a selection.

    Attributes:
        identity: Which queue it is.
        letters: Which letters are meant.
        sample: The first few of them.
        is_queue: Whether its name or the configuration says that it is a dead-letter queue.
        waiting: Groups that read it and have entries of it pending or unread.
    """

    identity: Identity
    letters: SelectedLetters
    sample: tuple[DeadLetter, ...]
    is_queue: bool
    waiting: tuple[str, ...]


async def survey_letters(place: Place, selection: LetterSelection) -> Survey:
    """Find out which letters a selection means: how many, of what kinds, between which IDs.

    Raises:
        NotFound: There is no such queue.
        SettingsError: The expression is none, or cannot say of some letter.
        ServerError: The queue cannot be read.
    """
    reading, identity = await read_stream(place.server, selection.queue)
    role, source = stream_role(selection.queue, place.dead_letters)
    scan = _Scan(place.server, selection, source)
    after, last = await selection_bounds(place.server, selection, reading)
    if last is None:
        tally, count = LetterTally(0), 0
    elif selection.filters:
        tally = await scan.pick(after, last, selection.count)
        count, last = tally.letters, tally.last_id
    else:
        whole = after == ZERO_ID and last == reading.last_id and selection.count is None
        tally = await scan.count(after, last, COUNTED if whole else selection.count)
        if whole and tally.letters == COUNTED:
            count = reading.length
        else:
            count, last = tally.letters, tally.last_id
    groups = tuple((group.name, group.pending) for group in reading.groups)
    letters = SelectedLetters(
        length=reading.length,
        count=count,
        tally=tally,
        after=after,
        last=last,
        source=source,
        groups=groups,
        absent=_absent(selection, scan.met),
    )
    is_queue = role is StreamRole.DEAD_LETTERS
    return Survey(identity, letters, tuple(scan.sample), is_queue, groups_with_work(reading))


def groups_with_work(reading: StreamReading) -> tuple[str, ...]:
    """Groups with entries of a stream pending or unread; where its last ID is not known, all that may have any."""
    return tuple(
        group.name
        for group in reading.groups
        if group.pending
        or (reading.last_id is not None and group.last_delivered_id < reading.last_id)
        or (not reading.bounds_read and reading.length)
    )


def _absent(selection: LetterSelection, met: int) -> int:
    """How many of the IDs asked for are not in the queue; none is told where not all were looked for."""
    bounds = (selection.since, selection.until, selection.count, selection.last)
    if selection.after != ZERO_ID or any(bound is not None for bound in bounds):
        return 0
    return len(set(selection.ids)) - met


class _Scan:
    """Letters of a selection, counted by kind; the first few are kept."""

    def __init__(self, server: Server, selection: LetterSelection, source: str | None) -> None:
        self._server = server
        self._selection = selection
        self._source = source
        self.sample: list[DeadLetter] = []
        self.met = 0

    async def count(self, after: EntryId, last: EntryId, most: int | None) -> LetterTally:
        """Count all letters of a range, at most so many, without reading them."""
        queue = self._selection.queue
        try:
            found = await count_letters(self._server, queue, after, last, MAX_PART if most is None else most)
        except Refused:
            return await self.pick(after, last, most)
        if found.last_id is not None:
            with suppress(Refused):
                first = await read_page(self._server, queue, after.next(), found.last_id, SAMPLE)
                self.sample += [read_letter(entry, queue, self._source) for entry in first]
        kinds: Counter[LetterKind] = Counter()
        for kind, number in found.kinds.items():
            kinds[replace(kind, stream=kind.stream or self._source or "")] += number
        return LetterTally(found.letters, ordered_kinds(kinds), found.payloads, found.last_id)

    async def pick(self, after: EntryId, last: EntryId, most: int | None) -> LetterTally:
        """Count those that the selection's filters take, at most so many, which takes reading all of them."""
        selection, chosen_by = self._selection, LetterFilter(self._selection)
        kinds: Counter[LetterKind] = Counter()
        letters, payloads, at = 0, 0, None
        async for page, _ in chosen_letters(
            self._server, selection.queue, self._source, chosen_by, after=after, last=last
        ):
            taken = page if most is None else page[: most - letters]
            letters += len(taken)
            payloads += sum(letter.payload_key is not None for letter in taken)
            kinds.update(map(kind_of, taken))
            at = taken[-1].id if taken else at
            self.sample += taken[: SAMPLE - len(self.sample)]
            if letters == most:
                break
        self.met = chosen_by.met
        return LetterTally(letters, ordered_kinds(kinds), payloads, at)


async def selection_bounds(
    server: Server, selection: LetterSelection, reading: StreamReading
) -> tuple[EntryId, EntryId | None]:
    """Where a selection begins, exclusive, and the last ID it can hold; none where it can hold none."""
    after, last = selection.after, reading.last_id
    if not reading.bounds_read:
        with suppress(Refused):
            newest = await read_page(server, selection.queue, ZERO_ID, LAST_ID, 1, newest_first=True)
            last = newest[0].id if newest else None
    if last is None:
        return after, None
    now = await read_clock(server, selection.queue) if selection.since or selection.until else None
    if selection.since is not None:
        first = EntryId(_milliseconds(selection.since, now), 0)
        after = max(after, first.previous() if first > ZERO_ID else first)
    ends = [last, *(one for one in (selection.last,) if one is not None)]
    if selection.until is not None:
        ends.append(EntryId(_milliseconds(selection.until, now), MAX_PART))
    last = min(ends)
    return after, last if after < last else None


def _milliseconds(moment: Moment, now: datetime | None) -> int:
    if isinstance(moment, timedelta):
        if now is None:
            raise SettingsError(
                "how long ago cannot be told: the server's clock may not be asked",
                "Write a time: 2026-03-01T14:00:00Z.",
            )
        moment = now - moment
    return max(0, (moment - EPOCH) // timedelta(milliseconds=1))


def _next_size(page: Sequence[Entry]) -> int:
    weight = sum(entry.size for entry in page)
    return max(1, min(PAGE, PAGE_BYTES * len(page) // (weight + 1)))
