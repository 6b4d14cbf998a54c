"""Counting entries within a budget of server time, in rounds that serve many ranges at once."""

from collections.abc import Sequence

from msgspec import Struct

from streamops.monitor.lag import RangeCount
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
    that waits for a group may count three times: what waited at the reading, what was removed since, and what waits now.

    Attributes:
        per_range: Entries counted in one range at most.
        per_collection: Entries counted in one collection at most, all ranges together.
        per_page: Entries counted by one call.
        bytes_per_page: Bytes of payload after which one call stops.
        bytes_per_collection: Bytes of payload after which all counting stops.
        rounds: Round trips in one collection at most.
        cheap: Lags up to so many are counted again rather than carried on from an older count.
    """

    per_range: int = 10_000
    per_collection: int = 20_000
    per_page: int = 1_000
    bytes_per_page: int = 256 << 10
    bytes_per_collection: int = 4 << 20
    rounds: int = 50
    cheap: int = 1_000


class Counter:
    """Counts ranges until they or the budget end.

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

    async def count(self, ranges: Sequence[RangeCount], depth: Depth) -> None:
        """Count the ranges in place, one page of each a round trip, the first ones first."""
        active = list(ranges)
        scripts = depth in SCRIPTED
        while active and self.rounds_left > 0 and (pages := self._pages(active, scripts=scripts)):
            self.rounds_left -= 1
            counts = await count_entries(
                self._server, pages, scripts=scripts, read_only=depth is Depth.READ_ONLY_SCRIPT
            )
            for one, page, found in zip(active, pages, counts, strict=False):
                self._note(one, page, found)
            active = [one for one in active if not (one.complete or one.failed or self.is_spent(one))]

    def is_spent(self, one: RangeCount) -> bool:
        """Whether a range has had all that one range may have, whatever the others needed."""
        return one.counted >= self._budget.per_range or one.walked >= self._budget.bytes_per_collection

    def is_final(self, ahead: RangeCount | None, behind: RangeCount | None) -> bool:
        """Whether counting a position's two sides again, with nothing changed, would find no more."""
        if ahead is None or not self.is_spent(ahead):
            return False
        both = behind is not None and self.is_spent(behind)
        return both or ahead.walked >= self._budget.bytes_per_collection

    def allows(self, entries: int, entry_bytes: int) -> bool:
        """Whether a range of so many entries of that size could be counted whole."""
        within = min(self.left, self._budget.per_range)
        return self.rounds_left > 0 and entries <= within and entries * entry_bytes <= self.bytes_left

    def _pages(self, ranges: Sequence[RangeCount], *, scripts: bool) -> list[CountRange]:
        """The next page of each range, as far as the budget goes if each costs the most it may."""
        pages = []
        left, bytes_left = self.left, self.bytes_left
        for one in ranges:
            # A script may count as much as a page allows up to three times.
            times = 1 + (one.length is not None) + bool(one.group) if scripts else 1
            if left < times or bytes_left < times:
                break
            page = self._page(one, left // times, bytes_left // times, scripts=scripts)
            left -= times * page.limit
            bytes_left -= times * page.max_bytes
            pages.append(page)
        return pages

    def _page(self, one: RangeCount, left: int, bytes_left: int, *, scripts: bool) -> CountRange:
        budget = self._budget
        wanted = budget.per_page if one.counted else FIRST_PAGE
        if not scripts:
            # What is counted here travels here: the entries seen must vouch for the size of the next ones.
            wanted = max(FIRST_SHIPPED, 4 * one.counted)
        limit = min(wanted, budget.per_page, left, budget.per_range - one.counted)
        max_bytes = min(budget.bytes_per_page, bytes_left, limit * max(one.weight, LIGHT))
        return CountRange(
            *(one.stream, one.after, one.until, limit, max_bytes, one.weight),
            length=one.length,
            group=one.group,
        )

    def _note(self, one: RangeCount, page: CountRange, found: Count | Fault) -> None:
        if isinstance(found, Fault):
            one.failed = True
            self.left -= page.limit
            self.bytes_left -= page.max_bytes
            return
        self.left -= found.entries + found.besides
        self.bytes_left -= found.walked + found.walked_besides
        one.counted += found.entries
        one.walked += found.walked
        one.after = found.last_id
        one.complete = found.complete or one.after >= one.until
        one.gone, one.now = found.gone, found.now
