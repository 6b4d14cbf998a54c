"""Counters of the exporter, held against what was done."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tests.chaos.watchers.writer import GROUPS, STREAMS, Count, Writer
from tests.support.exporter.truth import Exposition

FAMILIES: Final = {
    "stream_entries_added_total": "added",
    "stream_removed_entries_total": "removed",
    "group_delivered_entries_total": "delivered",
    "group_acked_entries_total": "acked",
    "group_lost_entries_total": "lost",
    "group_rewinds_total": "rewinds",
}


def counters_on(page: Exposition) -> dict[Count, float]:
    """The counters of all streams and groups on a page."""
    return {
        (what, labels["stream"], labels.get("group", "")): value
        for family, what in FAMILIES.items()
        for labels, value in page.samples(family)
    }


class Reconciler:
    """Compares what counters rose by since the first time with what was done since then.

    Args:
        exactly: Whether nothing is done that cannot be told, on a server that counts: then counters tell all of it.
    """

    def __init__(self, *, exactly: bool) -> None:
        self._exactly = exactly
        self._first: dict[Count, float] | None = None
        self._before: Counter[Count] = Counter()
        self._highest: dict[Count, float] = {}

    def fallen(self, page: Exposition) -> Iterator[str]:
        """Counters that are lower on a page than on one before."""
        for key, value in counters_on(page).items():
            if value < self._highest.get(key, 0.0):
                yield f"{key} fell from {self._highest[key]:g} to {value:g}"
            self._highest[key] = value

    def wrong(self, page: Exposition, writer: Writer) -> Iterator[str]:
        """What the counters of a page say that was not done, or leave out; nothing changes meanwhile."""
        now = counters_on(page)
        if self._first is None:
            self._first, self._before = now, writer.done.copy()
            return
        for stream in STREAMS:
            told = self._told(now, stream, "")
            done = self._done(writer, stream, "")
            for what in ("added", "removed"):
                yield from self._compare(f"{what} of {stream}", told[what], done[what], done[what])
            for group in GROUPS:
                yield from self._wrong_of_group(page, writer, now, stream, group)

    def _wrong_of_group(
        self, page: Exposition, writer: Writer, now: dict[Count, float], stream: str, group: str
    ) -> Iterator[str]:
        who = f"{stream}/{group}"
        told, done = self._told(now, stream, group), self._done(writer, stream, group)
        # Of what is removed ahead of a group that moves on, some may be taken for delivered, and so for done with.
        skipped = done["skipped"]
        yield from self._compare(f"lost of {who}", told["lost"], 0, skipped)
        unknown = {
            labels["counter"]
            for labels, _ in page.samples("group_count_gaps_total", stream=stream, group=group)
        }
        if self._exactly and unknown - {"lost"}:
            yield f"of {who} was not counted: {unknown}"
        most = {"delivered": skipped, "acked": skipped + done["repeated"]}
        for what, more in most.items():
            yield from self._compare(f"{what} of {who}", told[what], done[what], done[what] + more)
        if self._exactly and not unknown and told["delivered"] + told["lost"] != done["delivered"] + skipped:
            yield f"of {who} {told} were told, where {done} were done"

    def _compare(self, what: str, told: float, least: float, most: float) -> Iterator[str]:
        if told > most or (self._exactly and told < least):
            yield f"{what} rose by {told:g}, where {least:g} to {most:g} were done"

    def _told(self, now: dict[Count, float], stream: str, group: str) -> Counter[str]:
        assert self._first is not None
        return Counter(
            {
                what: round(now.get((what, stream, group), 0.0) - self._first.get((what, stream, group), 0.0))
                for what in FAMILIES.values()
            }
        )

    def _done(self, writer: Writer, stream: str, group: str) -> Counter[str]:
        return Counter(
            {
                what: writer.done[what, stream, group] - self._before[what, stream, group]
                for what in (*FAMILIES.values(), "skipped", "repeated")
            }
        )
