"""Counting entries within a budget of server time, in rounds that serve many groups at once."""

from collections.abc import Sequence

from msgspec import Struct

from streamops.model.ids import ZERO_ID, EntryId
from streamops.wire.faults import Fault
from streamops.wire.reads import Count, CountRange, count_entries
from streamops.wire.server import Server
from streamops.wire.stream_reader import SCRIPTED, Depth

FIRST_PAGE = 100
"""Entries of the first page of a range: most lags are small, and so many groups share a round trip."""

FIRST_SHIPPED = 10
"""The same where entries travel here to be counted."""

LIGHT = 256
"""Bytes that an entry may have without being a surprise, where the stream's first and last are smaller."""


class CountBudget(Struct, frozen=True):
    """How much counting one collection may ask of the servers.

    A script counts about 700,000 small entries a second and walks over about 250 MB of payload a second, so
    that the defaults cost at most some 30 ms of server time a collection, in slices of about a millisecond.
    A single entry larger than the budget of bytes is a slice of its own, and the last one. The last slice of a range
    that waits for a group may count three times: it tells what was removed meanwhile, and what waits now.

    Attributes:
        per_range: Entries counted in one range at most.
        per_collection: Entries counted in one collection at most, all ranges together.
        per_page: Entries counted by one call.
        bytes_per_page: Bytes of payload after which one call stops.
        bytes_per_collection: Bytes of payload after which all counting stops.
        rounds: Round trips in one collection at most.
        cheap: Lags up to so many are counted anew rather than carried on from an older count.
    """

    per_range: int = 10_000
    per_collection: int = 20_000
    per_page: int = 1_000
    bytes_per_page: int = 256 << 10
    bytes_per_collection: int = 4 << 20
    rounds: int = 50
    cheap: int = 1_000


class Span(Struct):
    """One range under count.

    Attributes:
        stream: The stream.
        after: Where to go on, exclusive.
        until: Where to stop, inclusive.
        entry_bytes: What an entry may weigh.
        length: How many entries the stream had when ``until`` was its end; none where it does not matter.
        group: Whom the entries wait for, where that is to be looked at anew.
        counted: Entries counted so far.
        walked: Bytes of payload that those have.
        complete: Whether the whole range has been counted.
        failed: Whether the server refused.
        gone: Entries that the stream had lost when the count was complete; none where that is not known.
        now: What waited for the group at that instant, where some were gone; none where that is not known.
    """

    stream: str
    after: EntryId
    until: EntryId
    entry_bytes: int
    length: int | None = None
    group: str = ""
    counted: int = 0
    walked: int = 0
    complete: bool = False
    failed: bool = False
    gone: int | None = None
    now: int | None = None

    @property
    def weight(self) -> int:
        """Bytes that the next entries are expected to have, each; at least one."""
        return max(1, self.entry_bytes, self.walked // max(1, self.counted))


class Counter:
    """Counts spans until they or the budget end.

    Attributes:
        left: Entries that the budget still allows.
        bytes_left: Bytes of payload that it still allows.
        rounds_left: Round trips that it still allows.
    """

    def __init__(self, server: Server, budget: CountBudget) -> None:
        self._server = server
        self._budget = budget
        self.left = budget.per_collection
        self.bytes_left = budget.bytes_per_collection
        self.rounds_left = budget.rounds

    async def count(self, spans: Sequence[Span], depth: Depth) -> None:
        """Count the spans in place, one page of each a round trip, the first ones first."""
        active = list(spans)
        scripts = depth in SCRIPTED
        while active and self.rounds_left > 0 and (pages := self._pages(active, scripts=scripts)):
            self.rounds_left -= 1
            counts = await count_entries(
                self._server, pages, scripts=scripts, read_only=depth is Depth.READ_ONLY_SCRIPT
            )
            for span, page, found in zip(active, pages, counts, strict=False):
                self._note(span, page, found)
            active = [span for span in active if not (span.complete or span.failed or self.is_spent(span))]

    def is_spent(self, span: Span) -> bool:
        """Whether a range has had all that one range may have, whatever the others needed."""
        return span.counted >= self._budget.per_range or span.walked >= self._budget.bytes_per_collection

    def is_final(self, ahead: Span | None, behind: Span | None) -> bool:
        """Whether counting a position's two sides again, with nothing changed, would find no more."""
        if ahead is None or not self.is_spent(ahead):
            return False
        both = behind is not None and self.is_spent(behind)
        return both or ahead.walked >= self._budget.bytes_per_collection

    def allows(self, entries: int, entry_bytes: int) -> bool:
        """Whether a range of so many entries of that size could be counted whole."""
        within = min(self.left, self._budget.per_range)
        return self.rounds_left > 0 and entries <= within and entries * entry_bytes <= self.bytes_left

    def _pages(self, spans: Sequence[Span], *, scripts: bool) -> list[CountRange]:
        """The next page of each span, as far as the budget goes if each costs the most it may."""
        pages = []
        left, bytes_left = self.left, self.bytes_left
        for span in spans:
            times = _counts(span) if scripts else 1
            if left < times or bytes_left < times:
                break
            page = self._page(span, left // times, bytes_left // times, scripts=scripts)
            left -= times * page.limit
            bytes_left -= times * page.max_bytes
            pages.append(page)
        return pages

    def _page(self, span: Span, left: int, bytes_left: int, *, scripts: bool) -> CountRange:
        budget = self._budget
        wanted = budget.per_page if span.counted else FIRST_PAGE
        if not scripts:
            # What is counted here travels here: the entries seen must vouch for the size of the next ones.
            wanted = max(FIRST_SHIPPED, 4 * span.counted)
        limit = min(wanted, budget.per_page, left, budget.per_range - span.counted)
        max_bytes = min(budget.bytes_per_page, bytes_left, limit * max(span.weight, LIGHT))
        return CountRange(
            *(span.stream, span.after, span.until, limit, max_bytes, span.weight),
            length=span.length,
            group=span.group,
        )

    def _note(self, span: Span, page: CountRange, found: Count | Fault) -> None:
        if isinstance(found, Fault):
            span.failed = True
            self.left -= page.limit
            self.bytes_left -= page.max_bytes
            return
        self.left -= found.entries + found.besides
        self.bytes_left -= found.walked + found.walked_besides
        span.counted += found.entries
        span.walked += found.walked
        span.after = found.last_id
        span.complete = found.complete or span.after >= span.until
        span.gone, span.now = found.gone, found.now


def span_ahead(stream: str, position: EntryId, last_id: EntryId, entry_bytes: int) -> Span:
    """The entries that a group at ``position`` is still to be given."""
    return Span(stream, position, last_id, entry_bytes)


def span_behind(stream: str, position: EntryId, entry_bytes: int) -> Span:
    """The entries up to and including ``position``."""
    return Span(stream, ZERO_ID, position, entry_bytes)


def _counts(span: Span) -> int:
    """How often a script may count as much as a page allows."""
    return 1 + (span.length is not None) + bool(span.group)
