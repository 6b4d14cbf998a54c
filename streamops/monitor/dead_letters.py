"""Dead-letter queues: which there are, what they hold, and their letters out into a file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.errors import NotFound, Refused
from streamops.model.dead_letter_fields import read_letter, tally_of
from streamops.model.dead_letters import DeadLetter, QueueSummary
from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.model.readings import StreamReading
from streamops.model.selections import LetterSelection
from streamops.model.snapshot import Gap
from streamops.model.streams import StreamRole
from streamops.monitor.context import Place
from streamops.monitor.dead_letter_pages import LetterFilter, chosen_letters, letters_by_id, selection_bounds
from streamops.monitor.inspection import read_stream
from streamops.monitor.newest import read_newest
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import stream_role
from streamops.wire.reads import read_clock, read_page
from streamops.wire.stream_reader import StreamReader

SAMPLE: Final = 200
SAMPLE_BYTES: Final = 1 << 20
"""Letters and bytes of each queue, the newest, that reasons are counted over."""


class DeadLetterQueues(Struct, frozen=True):
    """Dead-letter queues.

    Attributes:
        queues: Those that are there, by name.
        gaps: Those that could not be read.
    """

    queues: tuple[QueueSummary, ...]
    gaps: tuple[Gap, ...]


class LetterPage(Struct, frozen=True):
    """Letters of a queue.

    Attributes:
        letters: The letters, the oldest first unless it says otherwise.
        more: Whether there may be more of them.
        now: The server's clock; none where it may not be asked.
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

    def __init__(self, place: Place) -> None:
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
                    gaps.append(Gap(reading.reason, stream=name))
                continue
            try:
                queues.append(await self._summary(reading))
            except Refused as error:
                gaps.append(Gap(error.message.removeprefix(f"queue {name}: "), stream=name))
        return DeadLetterQueues(tuple(queues), tuple(gaps))

    async def queue(self, name: str) -> QueueSummary:
        """One queue as a whole; raises ``NotFound`` where there is none."""
        reading, _ = await read_stream(self._server, name)
        return await self._summary(reading)

    async def page(self, selection: LetterSelection, limit: int) -> LetterPage:
        """The first letters that a selection means; raises ``StreamopsError`` where they cannot be read."""
        letters: list[DeadLetter] = []

        def keep(page: Sequence[DeadLetter]) -> bool:
            letters.extend(page)
            return len(letters) <= limit

        await self.walk(selection, keep)
        now = await read_clock(self._server, selection.queue)
        return LetterPage(tuple(letters[:limit]), len(letters) > limit, now, self.is_queue(selection.queue))

    async def newest(self, queue: str, *, before: EntryId | None = None, count: int = 100) -> LetterPage:
        """The newest letters of a queue, the newest first; raises ``StreamopsError`` where they cannot be read.

        Args:
            queue: The queue.
            before: Only those before this ID.
            count: At most so many, and fewer where they are large; ``more`` says whether there are others.
        """
        last = LAST_ID if before is None else before.previous()
        found = await read_newest(self._server, queue, count, last=last, what=f"queue {queue}")
        letters = tuple(read_letter(entry, queue, self._source(queue)) for entry in found.entries)
        return LetterPage(letters, found.more, await self.clock(queue), self.is_queue(queue))

    async def letters(self, queue: str, ids: Sequence[EntryId]) -> list[DeadLetter]:
        """Those of some letters that are in the queue; raises ``StreamopsError`` where it cannot be read."""
        return await letters_by_id(self._server, queue, self._source(queue), ids)

    def is_queue(self, stream: str) -> bool:
        """Whether its name or the configuration says that a stream is a dead-letter queue."""
        return stream_role(stream, self._place.dead_letters)[0] is StreamRole.DEAD_LETTERS

    async def letter(self, queue: str, entry_id: EntryId) -> DeadLetter:
        """One letter; raises ``NotFound`` where it is not in the queue."""
        await read_stream(self._server, queue)
        found = await letters_by_id(self._server, queue, self._source(queue), [entry_id])
        if not found:
            raise NotFound(
                f"queue {queue} has no letter {entry_id}",
                f"List them with `streamops dlq ls {queue}`; it may have been replayed.",
            )
        return found[0]

    async def clock(self, queue: str) -> datetime | None:
        """The clock of the server of a queue; none where it may not be asked."""
        return await read_clock(self._server, queue)

    async def walk(self, selection: LetterSelection, told: Callable[[Sequence[DeadLetter]], bool]) -> int:
        """Hand on the letters that a selection means, page by page, the oldest first; how many there were.

        Args:
            selection: Which letters.
            told: Is given each page; whether it wants another.

        Raises:
            NotFound: There is no such queue.
            SettingsError: The expression is none, or cannot say of some letter.
            ServerError: The queue cannot be read.
        """
        reading, _ = await read_stream(self._server, selection.queue)
        after, last = await selection_bounds(self._server, selection, reading)
        chosen_by, letters = LetterFilter(selection), 0
        if last is None:
            return 0
        pages = chosen_letters(
            self._server, selection.queue, self._source(selection.queue), chosen_by, after=after, last=last
        )
        async for page, _ in pages:
            taken = page if selection.count is None else page[: selection.count - letters]
            letters += len(taken)
            if (taken and not told(taken)) or letters == selection.count:
                break
        return letters

    async def export(self, selection: LetterSelection, write: Callable[[Sequence[Entry]], None]) -> int:
        """Hand on the letters that a selection means byte for byte; how many. Raises as ``walk`` does."""

        def give(page: Sequence[DeadLetter]) -> bool:
            write([letter.entry for letter in page])
            return True

        return await self.walk(selection, give)

    async def _summary(self, reading: StreamReading) -> QueueSummary:
        name, source = reading.name, self._source(reading.name)
        weight = max(1, reading.entry_bytes or 1)
        size = max(1, min(SAMPLE, SAMPLE_BYTES // weight))
        page = await read_page(
            self._server, name, ZERO_ID, LAST_ID, size, newest_first=True, what=f"queue {name}"
        )
        letters = [read_letter(entry, name, source) for entry in reversed(page)]
        return QueueSummary(
            queue=name,
            length=reading.length,
            source=source,
            oldest_id=reading.first_id,
            newest_id=reading.last_id,
            tally=tally_of(letters),
            now=await read_clock(self._server, name),
        )

    def _source(self, queue: str) -> str | None:
        return stream_role(queue, self._place.dead_letters)[1]
