"""What a watcher showed, held against what was so at some instant of its own collection."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from traceback import extract_tb
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.streams import Snapshot, StreamState
from tests.chaos.histories.moving_truth import GroupTruth, check
from tests.chaos.watchers.truth import Journal, Reading
from tests.support.exporter.truth import Exposition, Labels

Journals = Mapping[str, Journal]

NEAR: Final = 0.1
"""Seconds by which an age may be off that is told by the clock of another command of one collection."""


class Window(Struct, frozen=True):
    """When a collection was under way, in seconds of the server's clock."""

    start: float
    end: float


def window_of(snapshot: Snapshot) -> Window:
    """When a snapshot was collected: the server's clock was asked first of all; where it was refused, ours, last of all."""
    at, took = snapshot.collected_at.timestamp(), snapshot.elapsed.total_seconds()
    refused = any(gap.part == "server clock" for gap in snapshot.gaps)
    return Window(at - took if refused else at, at + took)


def wrong_in_snapshot(snapshot: Snapshot, journals: Journals) -> Iterator[str]:
    """What a snapshot tells that was never so while it was collected."""
    window = window_of(snapshot)
    for stream in snapshot.streams:
        if stream.name in journals:
            readings = journals[stream.name].between(window.start, window.end)
            yield from _wrong_in_stream(snapshot, stream, readings)


def is_whole(snapshot: Snapshot, journals: Journals) -> bool:
    """Whether all there is of the streams is in a snapshot, and every number known; nothing may change meanwhile."""
    if snapshot.gaps:
        return False
    found = {stream.name: stream for stream in snapshot.streams}
    for name, journal in journals.items():
        truth, stream = journal.now.groups, found.get(name)
        groups = {group.name: group for group in stream.groups} if stream else {}
        if groups.keys() != truth.keys():
            return False
        if not all(
            group.lag.known and group.lag.entries == len(truth[one].waiting) for one, group in groups.items()
        ):
            return False
    return True


def wrong_on_page(page: Exposition, journals: Journals) -> Iterator[str]:
    """What a page of metrics tells that was never so while it was collected."""
    window, now = page_window(page), page.value("snapshot_timestamp_seconds")
    if window is None or now is None:
        return
    for name, journal in journals.items():
        readings = journal.between(window.start, window.end)
        yield from _wrong_of_stream(page, name, readings)
        for labels, _ in page.samples("group_pending_entries", stream=name):
            truths = [one.groups[labels["group"]] for one in readings if labels["group"] in one.groups]
            if has_holes(readings):
                continue
            yield from _wrong_of_group(page, {"stream": name, "group": labels["group"]}, truths, now)


def page_window(page: Exposition) -> Window | None:
    """When a page was collected; none where it tells of no collection."""
    start = page.value("snapshot_timestamp_seconds")
    took = page.value("scrape_duration_seconds", phase="collect")
    # Where the server's clock was refused, the page has ours, read last of all.
    return None if start is None else Window(start - (took or 0.0), start + (took or 0.0))


def has_holes(readings: Sequence[Reading]) -> bool:
    """Whether entries were deleted meanwhile, other than from the stream's beginning.

    Servers do not tell which ones: what is counted may then lack some that are not waited for any more.
    """
    return any(
        not set(now.ids).issuperset(before.ids[len(set(before.ids).difference(now.ids)) :])
        for before, now in pairwise(readings)
    )


def _wrong_in_stream(snapshot: Snapshot, stream: StreamState, readings: Sequence[Reading]) -> Iterator[str]:
    told = f"{stream.name} in [{', '.join(f'{one.at:.3f}' for one in readings)}]"
    for group in stream.groups:
        lags = [len(one.groups[group.name].waiting) for one in readings if group.name in one.groups]
        if group.lag.known and group.lag.entries not in lags and not has_holes(readings):
            yield f"{told} {group.name}: {group.lag} where {lags} were so"
    try:
        check(replace(snapshot, streams=(stream,)), [one.instant for one in readings])
    except AssertionError as error:
        if any(
            gap.denied or "permission" in gap.reason or gap.stream == stream.name for gap in snapshot.gaps
        ):
            # What could not be read is told, and missing; what is there was judged above.
            return
        yield f"{told}: {extract_tb(error.__traceback__)[-1].line}: {error}"


def _wrong_of_stream(page: Exposition, name: str, readings: Sequence[Reading]) -> Iterator[str]:
    there = [one for one in readings if one.there]
    allowed: dict[str, set[float]] = {
        "stream_length": {len(one.ids) for one in there},
        "stream_groups": {len(one.groups) for one in there},
    }
    for family, values in allowed.items():
        told = page.value(family, stream=name)
        if told is not None and told not in values:
            yield f"{family} of {name} is {told}, where {sorted(values)} were so"


def _wrong_of_group(
    page: Exposition, labels: Labels, truths: Sequence[GroupTruth], now: float
) -> Iterator[str]:
    lags = {len(one.waiting) for one in truths}
    oldest = [one.pending[0] for one in truths if one.pending]
    heads = {max(0.0, now - one.waiting[0].ms / 1000) if one.waiting else 0.0 for one in truths}
    allowed: dict[str, tuple[set[float], float]] = {
        "group_lag_entries": (set(map(float, lags)), 0.0),
        "group_pending_entries": ({len(one.pending) for one in truths}, 0.0),
        "group_consumers": ({len(one.members) for one in truths}, 0.0),
        "group_oldest_pending_entry_timestamp_seconds": ({one.ms / 1000 for one in oldest}, 0.0005),
        "group_time_lag_seconds": (heads, NEAR),
    }
    for family, (values, near) in allowed.items():
        told = page.value(family, **labels)
        if told is not None and not any(abs(told - one) <= near for one in values):
            yield f"{family} of {labels} is {told}, where {sorted(values)} were so"
    upper = page.value("group_lag_upper_bound_entries", **labels)
    if upper is not None and upper < min(lags, default=0):
        yield f"group_lag_upper_bound_entries of {labels} is {upper}, where {sorted(lags)} were so"
    known = page.value("group_lag_known", **labels)
    if bool(known) != (page.value("group_lag_entries", **labels) is not None):
        yield f"group_lag_known of {labels} is {known}, and the lag says otherwise"
    yield from _wrong_of_members(page, labels, truths)


def _wrong_of_members(page: Exposition, labels: Labels, truths: Sequence[GroupTruth]) -> Iterator[str]:
    for found, told in page.samples("consumer_pending_entries", **labels):
        values = {dict(one.members).get(found["consumer"]) for one in truths}
        if told not in values:
            yield f"consumer_pending_entries of {found} is {told}, where {values} were so"
