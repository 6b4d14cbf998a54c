"""Looking for entries and for pending entries: scans with a limit, which say how far they got and why they stopped."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol, Self

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, PendingEntry, StreamEntry


class EntryPage(Struct, frozen=True):
    """Entries of a stream in one direction.

    Attributes:
        entries: The entries, in the order asked for.
        next_id: Where to go on, exclusive; none at the end.
    """

    entries: tuple[StreamEntry, ...]
    next_id: EntryId | None


class PendingPage(Struct, frozen=True):
    """Rows of a pending entries list, by ID.

    Attributes:
        rows: The rows, lowest ID first.
        next_id: Where to go on, exclusive; none at the end.
        now: The server's clock when they were read; None if it may not be asked.
    """

    rows: tuple[PendingEntry, ...]
    next_id: EntryId | None
    now: datetime | None


class PendingSummary(Struct, frozen=True):
    """XPENDING's summary of one group.

    Attributes:
        pending: All pending entries.
        smallest_id: Smallest pending ID; None if none is pending.
        greatest_id: Greatest pending ID; None if none is pending.
        consumers: Pending entries by consumer, only consumers that have some.
    """

    pending: int
    smallest_id: EntryId | None
    greatest_id: EntryId | None
    consumers: tuple[tuple[str, int], ...]


NOT: Final = "!"
BETWEEN: Final = b"\0"
_PIECE: Final = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)(?:"|\\?\Z)|(?P<plain>[^\s"]+)')
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


class Piece(Struct, frozen=True):
    """A run of characters of a token, and whether it stood in quotes."""

    text: str
    quoted: bool = False


def split_quoted(text: str) -> list[tuple[Piece, ...]]:
    """The tokens of a line, each made of pieces without a space between them.

    What stands in quotes is one piece, whatever it holds; a quote that is not closed goes to the end of the line.
    """
    tokens: list[list[Piece]] = []
    end = -1
    for piece in _PIECE.finditer(text):
        if piece.start() != end:
            tokens.append([])
        quoted = piece["quoted"]
        tokens[-1].append(
            Piece(piece["plain"]) if quoted is None else Piece(_ESCAPED.sub(r"\1", quoted), quoted=True)
        )
        end = piece.end()
    return [tuple(token) for token in tokens]


def split_words(text: str) -> tuple[list[str], list[str]]:
    """The words of a line that are wanted, and those behind a ``!``, which are not."""
    words = [_word(token) for token in split_quoted(text)]
    return (
        [word for word, negated in words if word and not negated],
        [word for word, negated in words if word and negated],
    )


class EntryWords:
    """Words that an entry must hold somewhere in its ID, its names or its values; case is ignored.

    Values are searched as the bytes they are: what JSON escapes, or a packer compresses, is found as it stands there.

    Attributes:
        wanted: Words that must be there, case folded.
        unwanted: Words that must not.
    """

    def __init__(self, wanted: Iterable[str], unwanted: Iterable[str] = ()) -> None:
        """Look for these words; raises ``SettingsError`` if there is none."""
        self.wanted = tuple(word.casefold() for word in wanted if word)
        self.unwanted = tuple(word.casefold() for word in unwanted if word)
        if not (self.wanted or self.unwanted):
            raise SettingsError("no word to look for", "Write words, !word for one that must not be there.")
        self._plain = all(word.isascii() for word in (*self.wanted, *self.unwanted))
        self._wanted = [word.encode("utf-8", "surrogateescape") for word in self.wanted]
        self._unwanted = [word.encode("utf-8", "surrogateescape") for word in self.unwanted]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take ``billing !retry "two words"`` apart; raises ``SettingsError`` if there is no word."""
        return cls(*split_words(text))

    def __repr__(self) -> str:
        return f"EntryWords(wanted={self.wanted!r}, unwanted={self.unwanted!r})"

    def matches(self, entry: StreamEntry) -> bool:
        """Whether an entry holds all that is wanted, and nothing that is not."""
        # One text for all parts, with a separator that cannot be typed.
        parts = chain.from_iterable(entry.fields)
        text = _folded(BETWEEN.join((str(entry.id).encode(), *parts)), plain=self._plain)
        return all(word in text for word in self._wanted) and not any(word in text for word in self._unwanted)


def _word(token: tuple[Piece, ...]) -> tuple[str, bool]:
    first = token[0]
    negated = not first.quoted and first.text.startswith(NOT)
    text = "".join(piece.text for piece in token)
    return (text.removeprefix(NOT) if negated else text), negated


def _folded(text: bytes, *, plain: bool) -> bytes:
    """Case folded as text; where only ASCII is looked for, or is there, no decoding is needed, which costs more."""
    if plain or text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")


if TYPE_CHECKING:
    # Only searches with an expression pay for the library behind it.
    from streamops.model.expressions import Expression

PAGE_ENTRIES: Final = 1_000


class StopReason(StrEnum):
    """Why a search ended."""

    END = "end"
    LIMIT = "limit"
    MAX_SCAN = "max_scan"
    MAX_BYTES = "max_bytes"
    MAX_TIME = "max_time"


class Search(Struct, frozen=True):
    """What to look for, and where to stop.

    Attributes:
        start: The first ID to look at, inclusive.
        end: The last ID to look at, inclusive.
        fields: Name and value pairs that an entry must all have, byte for byte.
        where: An expression that must hold; none for no further condition.
        words: Words that must be there; none for no further condition.
        limit: Stop after this many matches.
        max_scan: Stop after this many entries looked at.
        max_bytes: Stop after a page with which so many bytes of entries were looked at; none for no such limit.
        max_time: Stop after a page that ended so long after the beginning; none for no such limit.
        newest_first: Go from the end to the start.
        page: Entries asked for at a time.
    """

    start: EntryId = ZERO_ID
    end: EntryId = LAST_ID
    fields: tuple[tuple[bytes, bytes], ...] = ()
    where: "Expression | None" = None
    words: EntryWords | None = None
    limit: int = 100
    max_scan: int = 1_000_000
    max_bytes: int | None = None
    max_time: timedelta | None = None
    newest_first: bool = False
    page: int = PAGE_ENTRIES

    def matches(self, entry: StreamEntry) -> bool:
        """Whether an entry meets every condition; raises ``SettingsError`` if the expression cannot say."""
        if any(pair not in entry.fields for pair in self.fields):
            return False
        if self.words is not None and not self.words.matches(entry):
            return False
        return self.where is None or self.where.matches(entry)


class SearchProgress(Struct, frozen=True):
    """How far a search is.

    Attributes:
        scanned: Entries looked at.
        matched: Matches among them.
        at: The last ID looked at.
    """

    scanned: int
    matched: int
    at: EntryId


class SearchResult(Struct, frozen=True):
    """What a search found.

    Attributes:
        entries: The matches, in the order they were met.
        scanned: Entries looked at.
        first_id: The first ID looked at; None if there was none.
        last_id: The last ID looked at; None if there was none.
        stopped: Why it ended.
        size: Bytes of the entries looked at.
    """

    entries: tuple[StreamEntry, ...]
    scanned: int
    first_id: EntryId | None
    last_id: EntryId | None
    stopped: StopReason
    size: int = 0


class ReadPage(Protocol):
    """Reads entries of one stream between two IDs, both inclusive; a page of large entries may be short."""

    async def __call__(self, *, start: EntryId, end: EntryId, count: int, newest_first: bool) -> EntryPage:
        """Read one page; raises ``ServerError``."""


async def search_entries(
    read_page: ReadPage,
    query: Search,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Scan page by page until the end of the range, the limit or a budget; at least one page, whatever the budgets.

    Raises:
        SettingsError: The expression compares values that have no order.
        ServerError: A page could not be read.
    """
    found: list[StreamEntry] = []
    scanned, size, first, last = 0, 0, None, None
    start, end = query.start, query.end
    began = monotonic()

    def result(stopped: StopReason) -> SearchResult:
        return SearchResult(tuple(found), scanned, first, last, stopped, size)

    while True:
        count = min(query.page, query.max_scan - scanned)
        page = await read_page(start=start, end=end, count=count, newest_first=query.newest_first)
        for entry in page.entries:
            scanned += 1
            size += entry.size
            first, last = first or entry.id, entry.id
            if query.matches(entry):
                found.append(entry)
                if len(found) >= query.limit:
                    return result(StopReason.LIMIT)
        if last is not None and progress is not None:
            progress(SearchProgress(scanned, len(found), last))
        rest = _rest(start, end, page, newest_first=query.newest_first)
        if rest is None:
            return result(StopReason.END)
        spent = _spent(query, scanned, size, timedelta(seconds=monotonic() - began))
        if spent is not None:
            return result(spent)
        start, end = rest


def _spent(query: Search, scanned: int, size: int, took: timedelta) -> StopReason | None:
    """The budget that is used up; None if none is."""
    if scanned >= query.max_scan:
        return StopReason.MAX_SCAN
    if query.max_bytes is not None and size >= query.max_bytes:
        return StopReason.MAX_BYTES
    return StopReason.MAX_TIME if query.max_time is not None and took >= query.max_time else None


def _rest(
    start: EntryId, end: EntryId, page: EntryPage, *, newest_first: bool
) -> tuple[EntryId, EntryId] | None:
    """The range after a page; None if nothing is left of it."""
    at = page.next_id
    if at is None or at == (start if newest_first else end):
        return None
    return (start, at.previous()) if newest_first else (at.next(), end)


PAGE_ROWS: Final = 1_000


class PendingSearch(Struct, frozen=True):
    """Which pending entries to look for, and where to stop.

    Attributes:
        after: Begin after this ID; none for the oldest.
        consumer: Only entries that this consumer owns; none for all.
        min_idle: Only entries that were not delivered for so long.
        min_deliveries: Only entries that were delivered so often.
        limit: Stop after this many matches.
        max_scan: Stop after this many rows looked at.
    """

    after: EntryId | None = None
    consumer: str | None = None
    min_idle: timedelta = timedelta(0)
    min_deliveries: int = 0
    limit: int = 100
    max_scan: int = 100_000

    @property
    def filters(self) -> bool:
        """Whether some rows may not match."""
        return bool(self.min_idle) or self.min_deliveries > 0

    def matches(self, entry: PendingEntry) -> bool:
        """Whether an entry is one that is looked for."""
        return entry.idle >= self.min_idle and entry.delivery_count >= self.min_deliveries


class PendingFound(Struct, frozen=True):
    """What was found.

    Attributes:
        rows: The matches, lowest ID first.
        scanned: Rows looked at.
        next_id: Where to go on, exclusive; none at the end.
        now: The server's clock when the last page was read; None if it may not be asked.
    """

    rows: tuple[PendingEntry, ...]
    scanned: int
    next_id: EntryId | None
    now: datetime | None


class ReadPending(Protocol):
    """Reads a page of one group's pending entries."""

    async def __call__(self, *, after: EntryId | None, count: int, consumer: str | None) -> PendingPage:
        """Read the page after an ID; raises ``ServerError``."""


async def search_pending(read_page: ReadPending, query: PendingSearch) -> PendingFound:
    """Page through a pending entries list until its end, the limit or the budget; raises ``ServerError``."""
    found: list[PendingEntry] = []
    scanned, after = 0, query.after
    while True:
        left = query.max_scan - scanned if query.filters else query.limit - len(found)
        page = await read_page(after=after, count=min(PAGE_ROWS, left), consumer=query.consumer)
        for entry in page.rows:
            scanned, after = scanned + 1, entry.id
            if query.matches(entry):
                found.append(entry)
                if len(found) >= query.limit:
                    break
        at_end = page.next_id is None and (not page.rows or after == page.rows[-1].id)
        if at_end or len(found) >= query.limit or scanned >= query.max_scan:
            return PendingFound(tuple(found), scanned, None if at_end else after, page.now)
