"""Counting entries within a budget of server time, in rounds that serve many groups at once."""

from collections.abc import Sequence

from msgspec import Struct

from streamops.model.ids import ZERO_ID, EntryId
from streamops.wire.faults import Fault
from streamops.wire.reads import Count, EntryRange, count_entries
from streamops.wire.server import Server
from streamops.wire.stream_reader import SCRIPTED, Depth


class CountBudget(Struct, frozen=True):
    """How much counting one collection may ask of the servers.

    A script counts about a million small entries a second, so that the defaults cost at most 20 ms of
    server time a collection, in slices of a millisecond.

    Attributes:
        per_range: Entries counted in one range at most.
        per_collection: Entries counted in one collection at most, all ranges together.
        per_page: Entries counted by one call.
        bytes_per_page: Bytes of payload that one call may have to walk over.
        cheap: Lags up to so many are counted anew rather than carried on from an older count.
    """

    per_range: int = 10_000
    per_collection: int = 20_000
    per_page: int = 1_000
    bytes_per_page: int = 1 << 20
    cheap: int = 1_000

    def page_size(self, entry_bytes: int) -> int:
        """Entries of that size that one call may count; at least one."""
        return max(1, min(self.per_page, self.bytes_per_page // max(1, entry_bytes)))


class Span(Struct):
    """One range under count.

    Attributes:
        stream: The stream.
        after: Where to go on, exclusive.
        until: Where to stop, inclusive.
        entry_bytes: What an entry may weigh.
        counted: Entries counted so far.
        complete: Whether the whole range has been counted.
        failed: Whether the server refused.
    """

    stream: str
    after: EntryId
    until: EntryId
    entry_bytes: int
    counted: int = 0
    complete: bool = False
    failed: bool = False


class Counter:
    """Counts spans until they or the budget end."""

    def __init__(self, server: Server, budget: CountBudget) -> None:
        self._server = server
        self._budget = budget
        self.left = budget.per_collection

    async def count(self, spans: Sequence[Span], depth: Depth) -> None:
        """Count the spans in place, one page of each a round trip, the first ones first."""
        active = list(spans)
        while active and self.left > 0:
            pages = []
            for span in active:
                size = min(self._page_size(span), self.left)
                if size <= 0:
                    break
                self.left -= size
                pages.append(EntryRange(span.stream, span.after, span.until, size))
            served = active[: len(pages)]
            counts = await count_entries(
                self._server, pages, scripts=depth in SCRIPTED, read_only=depth is Depth.READ_ONLY_SCRIPT
            )
            for span, page, found in zip(served, pages, counts, strict=True):
                self._note(span, page, found)
            active = [
                span for span in active if not span.complete and not span.failed and self._page_size(span) > 0
            ]

    def _page_size(self, span: Span) -> int:
        return min(self._budget.page_size(span.entry_bytes), self._budget.per_range - span.counted)

    def _note(self, span: Span, page: EntryRange, found: Count | Fault) -> None:
        if isinstance(found, Fault):
            span.failed = True
            return
        self.left += page.limit - found.entries
        span.counted += found.entries
        span.after = found.last_id or span.after
        span.complete = found.entries < page.limit or span.after >= span.until


def span_ahead(stream: str, position: EntryId, last_id: EntryId, entry_bytes: int) -> Span:
    """The entries that a group at ``position`` is still to be given."""
    return Span(stream, position, last_id, entry_bytes)


def span_behind(stream: str, position: EntryId, entry_bytes: int) -> Span:
    """The entries up to and including ``position``."""
    return Span(stream, ZERO_ID, position, entry_bytes)
