"""Dead-letter queues: which there are, what they hold, which of their entries a selection means, and those out into a file."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import NotFound, Refused, SettingsError
from streamops.model.acting import StreamIdentity
from streamops.model.dead_letters import (
    DeadLetter,
    DeadLetterCounts,
    DeadLetterKind,
    QueueSummary,
    counts_of,
    dead_letter_document,
    kind_of,
    ordered_kinds,
    read_dead_letter,
)
from streamops.model.entries import EPOCH, LAST_ID, MAX_PART, ZERO_ID, EntryId, StreamEntry
from streamops.model.fields import Instant
from streamops.model.selections import DeadLetterSelection, SelectedDeadLetters
from streamops.model.streams import ReadError, StreamReading, StreamRole
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import read_newest, read_stream
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import stream_role
from streamops.wire.reads import count_dead_letters, read_by_id, read_clock, read_page
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader

FIRST_PAGE: Final = 16
PAGE: Final = 1_000
PAGE_BYTES: Final = 1 << 20
"""Letters and bytes that are read at once."""

COUNTED: Final = 10_000
"""Letters that are counted by kind where the length of the queue shows how many there are."""

SAMPLE: Final = 10
"""Letters of a selection that are shown."""

NEWEST: Final = 200
NEWEST_BYTES: Final = 1 << 20
"""Letters and bytes of each queue, the newest, that reasons are counted over."""


class DeadLetterFilter:
    """Which letters a selection means, apart from where they stand.

    Attributes:
        met: How many letters it was asked about whose IDs are among the selection's.
    """

    def __init__(self, selection: DeadLetterSelection) -> None:
        """Compile it; raises ``SettingsError`` if its expression is none."""
        self._ids = frozenset(selection.ids)
        self._because = selection.because
        self.met = 0
        self._where = None
        if selection.where is not None:
            # Only filters with an expression pay for the library behind it.
            from streamops.model.expressions import DEAD_LETTER_ROOTS, Expression  # noqa: PLC0415

            self._where = Expression(selection.where, DEAD_LETTER_ROOTS)

    def narrow(self, after: EntryId, last: EntryId) -> tuple[EntryId, EntryId]:
        """The part of a range where letters can be that it takes: after one ID and up to another."""
        if not self._ids:
            return after, last
        first = min(self._ids)
        return max(after, first.previous() if first > ZERO_ID else first), min(last, max(self._ids))

    def takes(self, letter: DeadLetter) -> bool:
        """Whether a letter is meant; raises ``SettingsError`` if the expression cannot say."""
        if self._ids:
            if letter.id not in self._ids:
                return False
            self.met += 1
        if self._because is not None and letter.reason != self._because:
            return False
        if self._where is None:
            return True
        return self._where.holds(dead_letter_document(letter, with_json=self._where.wants_json))


async def dead_letter_pages(
    server: Server, queue: str, source: str | None, after: EntryId, last: EntryId
) -> AsyncIterator[list[DeadLetter]]:
    """The letters after one ID and up to another, page by page; raises ``ServerError``."""
    size = FIRST_PAGE
    while after < last:
        page = await read_page(server, queue, after.next(), last, size, what=f"queue {queue}")
        if page:
            yield [read_dead_letter(entry, queue, source) for entry in page]
            after = page[-1].id
        if len(page) < size:
            return
        size = _next_size(page)


async def chosen_dead_letters(
    server: Server,
    queue: str,
    source: str | None,
    chosen_by: DeadLetterFilter,
    *,
    after: EntryId,
    last: EntryId,
) -> AsyncIterator[tuple[list[DeadLetter], EntryId]]:
    """Of every page the letters that a filter takes, and the last ID looked at."""
    async for page in dead_letter_pages(server, queue, source, *chosen_by.narrow(after, last)):
        yield [letter for letter in page if chosen_by.takes(letter)], page[-1].id


class _Range(NamedTuple):
    """Where the letters of a selection are: after one ID and up to another, at most so many; and what is made of them."""

    server: Server
    queue: str
    source: str | None
    after: EntryId
    last: EntryId | None
    most: int | None

    async def pages(self, chosen_by: DeadLetterFilter) -> AsyncIterator[list[DeadLetter]]:
        """Those that a filter takes, page by page, the oldest first."""
        server, queue, source, after, last, left = self
        if last is None:
            return
        async for page, _ in chosen_dead_letters(server, queue, source, chosen_by, after=after, last=last):
            taken = page if left is None else page[:left]
            if taken:
                yield taken
            left = None if left is None else left - len(taken)
            if left == 0:
                return

    async def count_unread(self) -> DeadLetterCounts | None:
        """Count all of them without reading them; None if that is not permitted."""
        server, queue, source, after, last, most = self
        if last is None:
            return DeadLetterCounts(0)
        try:
            found = await count_dead_letters(server, queue, after, last, MAX_PART if most is None else most)
        except Refused:
            return None
        kinds: Counter[DeadLetterKind] = Counter()
        for kind, number in found.kinds:
            kinds[replace(kind, stream=kind.stream or source or "")] += number
        return replace(found, kinds=ordered_kinds(kinds))

    async def pick(self, chosen_by: DeadLetterFilter, sample: list[DeadLetter]) -> DeadLetterCounts:
        """Count those that a filter takes, which takes reading all of them, and keep the first few."""
        kinds: Counter[DeadLetterKind] = Counter()
        letters, payloads, at = 0, 0, None
        async for page in self.pages(chosen_by):
            letters += len(page)
            payloads += sum(letter.payload_key is not None for letter in page)
            kinds.update(map(kind_of, page))
            at = page[-1].id
            sample += page[: SAMPLE - len(sample)]
        return DeadLetterCounts(letters, ordered_kinds(kinds), payloads, at)


class DeadLetterSurvey(NamedTuple):
    """What the server says about a selection.

    Attributes:
        identity: Which queue it is.
        letters: Which letters are meant.
        sample: The first few of them.
        is_queue: Whether its name or the configuration says that it is a dead-letter queue.
        waiting: Groups that read it and have entries of it pending or unread.
    """

    identity: StreamIdentity
    letters: SelectedDeadLetters
    sample: tuple[DeadLetter, ...]
    is_queue: bool
    waiting: tuple[str, ...]


async def _read_queue(server: Server, queue: str) -> tuple[StreamReading, StreamIdentity]:
    """A queue as the stream that it is, and its identity; raises as ``read_stream`` does."""
    try:
        return await read_stream(server, queue)
    except NotFound as error:
        raise NotFound(error.message, "`streamops dlq ls` lists the dead-letter queues.") from None


async def survey_dead_letters(place: ServerContext, selection: DeadLetterSelection) -> DeadLetterSurvey:
    """Find out which letters a selection means: how many, of what kinds, between which IDs.

    Raises:
        NotFound: There is no such queue.
        SettingsError: The expression is none, or cannot say of some letter.
        ServerError: The queue cannot be read.
    """
    server, queue = place.server, selection.queue
    reading, identity = await _read_queue(server, queue)
    role, source = stream_role(queue, place.dead_letters)
    after, last = await selection_bounds(server, selection, reading)
    chosen_by, sample = DeadLetterFilter(selection), list[DeadLetter]()
    whole = after == ZERO_ID and last == reading.last_id and selection.count is None and not selection.filters
    among = _Range(server, queue, source, after, last, COUNTED if whole else selection.count)
    tally = None if selection.filters else await among.count_unread()
    if tally is None:
        tally = await among.pick(chosen_by, sample)
    elif tally.last_id is not None:
        with suppress(Refused):
            first = await read_page(server, queue, after.next(), tally.last_id, SAMPLE)
            sample += [read_dead_letter(one, queue, source) for one in first]
    is_more = whole and tally.letters == COUNTED
    letters = SelectedDeadLetters(
        length=reading.length,
        count=reading.length if is_more else tally.letters,
        tally=tally,
        after=after,
        last=last if is_more else tally.last_id,
        source=source,
        groups=tuple((group.name, group.pending) for group in reading.groups),
        absent=_absent(selection, chosen_by.met),
    )
    is_queue = role is StreamRole.DEAD_LETTERS
    return DeadLetterSurvey(identity, letters, tuple(sample), is_queue, groups_with_work(reading))


def groups_with_work(reading: StreamReading) -> tuple[str, ...]:
    """Groups with entries of a stream pending or unread; where its last ID is not known, all that may have any."""
    return tuple(
        group.name
        for group in reading.groups
        if group.pending
        or (reading.last_id is not None and group.last_delivered_id < reading.last_id)
        or (not reading.bounds_read and reading.length)
    )


def _absent(selection: DeadLetterSelection, met: int) -> int:
    """How many of the IDs asked for are not in the queue; none is told where not all were looked for."""
    bounds = (selection.since, selection.until, selection.count, selection.last)
    if selection.after != ZERO_ID or any(bound is not None for bound in bounds):
        return 0
    return len(set(selection.ids)) - met


async def selection_bounds(
    server: Server, selection: DeadLetterSelection, reading: StreamReading
) -> tuple[EntryId, EntryId | None]:
    """Where a selection begins, exclusive, and the last ID it can hold; None if it can hold none."""
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


def _milliseconds(moment: Instant, now: datetime | None) -> int:
    if isinstance(moment, timedelta):
        if now is None:
            raise SettingsError(
                "how long ago is unknown: this user may not run TIME",
                "Write a time: 2026-03-01T14:00:00Z.",
            )
        moment = now - moment
    return max(0, (moment - EPOCH) // timedelta(milliseconds=1))


def _next_size(page: Sequence[StreamEntry]) -> int:
    weight = sum(entry.size for entry in page)
    return max(1, min(PAGE, PAGE_BYTES * len(page) // (weight + 1)))


class DeadLetterQueues(Struct, frozen=True):
    """Dead-letter queues.

    Attributes:
        queues: Those that are there, by name.
        gaps: Those that could not be read.
    """

    queues: tuple[QueueSummary, ...]
    gaps: tuple[ReadError, ...]


class DeadLetterPage(Struct, frozen=True):
    """Letters of a queue.

    Attributes:
        letters: The letters, the oldest first unless it says otherwise.
        more: Whether there may be more of them.
        now: The server's clock; None if it may not be asked.
        is_queue: Whether its name or the configuration says that the stream is a dead-letter queue.
    """

    letters: tuple[DeadLetter, ...]
    more: bool
    now: datetime | None
    is_queue: bool


def queues_among(names: Iterable[str], dead_letters: Mapping[str, str]) -> list[str]:
    """Those streams that are dead-letter queues, by their names or as the configuration has it."""
    return [name for name in names if stream_role(name, dead_letters)[0] is StreamRole.DEAD_LETTERS]


class DeadLetterReader:
    """Reads the dead-letter queues of one server."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place
        self._server = place.server

    async def queues(self, streams: Iterable[str]) -> DeadLetterQueues:
        """Those of the streams, and of the configuration, that are dead-letter queues; raises ``ServerError``."""
        configured = self._place.dead_letters
        named = {one for one in streams if stream_role(one, configured)[0] is StreamRole.DEAD_LETTERS}
        names = sorted(named | {*configured.values()})
        readings = await StreamReader(self._server).read(names) if names else None
        queues, gaps = [], []
        for name, reading in zip(names, readings.streams if readings else (), strict=True):
            if isinstance(reading, Fault):
                if reading.kind is not FaultKind.MISSING:
                    gaps.append(ReadError(reading.reason, stream=name))
                continue
            try:
                queues.append(await self._summary(reading))
            except Refused as error:
                gaps.append(ReadError(error.message.removeprefix(f"queue {name}: "), stream=name))
        return DeadLetterQueues(tuple(queues), tuple(gaps))

    async def queue(self, name: str) -> QueueSummary:
        """One queue as a whole; raises ``NotFound`` if there is none."""
        reading, _ = await _read_queue(self._server, name)
        return await self._summary(reading)

    async def page(self, selection: DeadLetterSelection, limit: int) -> DeadLetterPage:
        """The first letters that a selection means; raises ``StreamopsError`` if they cannot be read."""
        letters: list[DeadLetter] = []

        def keep(page: Sequence[DeadLetter]) -> bool:
            letters.extend(page)
            return len(letters) <= limit

        await self.walk(selection, keep)
        now = await read_clock(self._server, selection.queue)
        return DeadLetterPage(
            tuple(letters[:limit]), len(letters) > limit, now, self.is_queue(selection.queue)
        )

    async def newest(self, queue: str, *, before: EntryId | None = None, count: int = 100) -> DeadLetterPage:
        """The newest letters of a queue, the newest first; raises ``StreamopsError`` if they cannot be read.

        Args:
            queue: The queue.
            before: Only those before this ID.
            count: At most so many, and fewer where they are large; ``more`` says whether there are others.
        """
        last = LAST_ID if before is None else before.previous()
        found = await read_newest(self._server, queue, count, last=last, what=f"queue {queue}")
        letters = tuple(read_dead_letter(entry, queue, self._source(queue)) for entry in found.entries)
        return DeadLetterPage(letters, found.more, await self.clock(queue), self.is_queue(queue))

    async def read_many(self, queue: str, ids: Sequence[EntryId]) -> list[DeadLetter]:
        """Those of some letters that are in the queue; raises ``StreamopsError`` if it cannot be read."""
        source = self._source(queue)
        return [
            read_dead_letter(entry, queue, source) for entry in await read_by_id(self._server, queue, ids)
        ]

    def is_queue(self, stream: str) -> bool:
        """Whether its name or the configuration says that a stream is a dead-letter queue."""
        return stream_role(stream, self._place.dead_letters)[0] is StreamRole.DEAD_LETTERS

    async def read_one(self, queue: str, entry_id: EntryId) -> DeadLetter:
        """One letter; raises ``NotFound`` if it is not in the queue."""
        await _read_queue(self._server, queue)
        found = await self.read_many(queue, [entry_id])
        if not found:
            raise NotFound(
                f"queue {queue} has no dead letter {entry_id}",
                f"List them with `streamops dlq ls {queue}`; it may have been replayed.",
            )
        return found[0]

    async def clock(self, queue: str) -> datetime | None:
        """The clock of the server of a queue; None if it may not be asked."""
        return await read_clock(self._server, queue)

    async def walk(
        self, selection: DeadLetterSelection, handle: Callable[[Sequence[DeadLetter]], bool]
    ) -> int:
        """Hand on the letters that a selection means, page by page, the oldest first; how many there were.

        Args:
            selection: Which letters.
            handle: Is given each page; returns whether it wants another.

        Raises:
            NotFound: There is no such queue.
            SettingsError: The expression is none, or cannot say of some letter.
            ServerError: The queue cannot be read.
        """
        reading, _ = await _read_queue(self._server, selection.queue)
        after, last = await selection_bounds(self._server, selection, reading)
        source, letters = self._source(selection.queue), 0
        among = _Range(self._server, selection.queue, source, after, last, selection.count)
        async for page in among.pages(DeadLetterFilter(selection)):
            letters += len(page)
            if not handle(page):
                break
        return letters

    async def export(
        self, selection: DeadLetterSelection, write: Callable[[Sequence[StreamEntry]], None]
    ) -> int:
        """Hand on the letters that a selection means byte for byte; how many. Raises as ``walk`` does."""

        def give(page: Sequence[DeadLetter]) -> bool:
            write([letter.entry for letter in page])
            return True

        return await self.walk(selection, give)

    async def _summary(self, reading: StreamReading) -> QueueSummary:
        name, source = reading.name, self._source(reading.name)
        weight = max(1, reading.entry_bytes or 1)
        size = max(1, min(NEWEST, NEWEST_BYTES // weight))
        page = await read_page(
            self._server, name, ZERO_ID, LAST_ID, size, newest_first=True, what=f"queue {name}"
        )
        letters = [read_dead_letter(entry, name, source) for entry in reversed(page)]
        return QueueSummary(
            queue=name,
            length=reading.length,
            source=source,
            oldest_id=reading.first_id,
            newest_id=reading.last_id,
            tally=counts_of(letters),
            now=await read_clock(self._server, name),
        )

    def _source(self, queue: str) -> str | None:
        return stream_role(queue, self._place.dead_letters)[1]
