"""Movement between samples: what arrived, was delivered, acknowledged and lost, how the lag slopes, and whether it grows.

What waited, plus what arrived, less what was delivered, less what waits now, was lost: trimmed away before the group was given
it. Source: the conservation of undelivered entries; it equals ``(added - length - read) - bias`` while the position is before
the first entry, with ``bias = added - read - lag`` when the lag was last known.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from operator import mul

from msgspec import Struct

from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.observation import Rates
from streamops.monitor.samples import GroupSample, SampleSeries, StreamSample

NO_RATES = Rates()
LINE = 2
"""Points that make a line."""


def arrivals(earlier: StreamSample, later: StreamSample) -> int | None:
    """Entries added between two samples.

    Redis 6.2 does not count additions. There the growth in length stands for them, and only while the
    first entry stayed, which rules trimming out. An XDEL further in leaves no trace on 6.2 and would
    hide as many additions as it deleted entries.
    """
    if earlier.entries_added is None or later.entries_added is None:
        return _arrivals_by_length(earlier, later)
    added = later.entries_added - earlier.entries_added
    return added if added >= 0 else None


def _arrivals_by_length(earlier: StreamSample, later: StreamSample) -> int | None:
    if earlier.last_generated_id is None or later.last_generated_id is None:
        return None
    if earlier.last_generated_id == later.last_generated_id:
        return 0
    grown = later.length - earlier.length
    if earlier.first_id is None or later.first_id != earlier.first_id or grown <= 0:
        return None
    return grown


def deliveries(earlier: GroupSample, later: GroupSample, added: int | None) -> int | None:
    """Entries given to the group for the first time between two samples.

    A position that stayed is proof of none. Otherwise the read counter tells, and so does what arrived
    less what the lag grew. Each of them takes entries for delivered, on some servers, that were trimmed
    away unread, so the smaller is right. The counter may do so at any time after they were trimmed away,
    whenever the server looks again where the position is: alone, it is not believed as long as it may.

    Args:
        earlier: The group before.
        later: The group after; its position not before the earlier one.
        added: What ``arrivals`` said of the same two samples.
    """
    if earlier.last_delivered_id == later.last_delivered_id:
        return 0
    by_counter = counted_reads(earlier, later)
    if added is None or earlier.lag is None or later.lag is None:
        return None if _may_jump(earlier, later.stream) else by_counter
    by_lag = earlier.lag + added - later.lag
    if by_lag < 0 or (by_counter is not None and by_counter < by_lag):
        return by_counter
    return by_lag


def _may_jump(earlier: GroupSample, later: StreamSample) -> bool:
    """Whether the read counter may come to count entries that were gone before: more are than it had counted.

    If that was not known, it is not either; who never learns it sees no more than the counter, which then counts each once.
    """
    added, read = earlier.stream.entries_added, earlier.entries_read
    if added is None or read is None:
        return later.entries_added is not None
    return read < added - earlier.stream.length


def counted_reads(earlier: GroupSample, later: GroupSample) -> int | None:
    """How far the server's read counter moved; None if it was missing or went back."""
    if earlier.entries_read is None or later.entries_read is None:
        return None
    read = later.entries_read - earlier.entries_read
    return read if read >= 0 else None


def acknowledgements(
    earlier: GroupSample, later: GroupSample, delivered: int | None, rewound_from: EntryId | None
) -> int | None:
    """Entries the group was done with between two samples: what it was given less what pending grew.

    None also if that is negative: acknowledged entries were revived (XCLAIM FORCE) meanwhile.

    Args:
        earlier: The group before.
        later: The group after.
        delivered: What ``deliveries`` said of the same two samples.
        rewound_from: Where the position once moved back from; None if it never did. Up to there
            entries may be delivered again that are pending already, and the pending count does not show it.
    """
    if delivered is None:
        return None
    if delivered and rewound_from is not None and earlier.last_delivered_id < rewound_from:
        return None
    acked = delivered - (later.pending - earlier.pending)
    return acked if acked >= 0 else None


def losses(earlier: GroupSample, later: GroupSample, added: int | None) -> int | None:
    """Entries lost to the group between two samples; None if it is not known.

    Deleting an undelivered entry with XDEL is a decision and not a loss, but takes part in the
    sum; so the sum counts only if no entry beyond the earlier position was ever deleted.

    Args:
        earlier: The group before.
        later: The group after; its position not before the earlier one.
        added: What ``arrivals`` said of the same two samples.
    """
    stream, position = later.stream, earlier.last_delivered_id
    first = stream.first_id
    # Nothing beyond the earlier position went from the stream's head.
    if first is None:
        if earlier.lag == 0 and stream.last_generated_id == earlier.stream.last_generated_id:
            return 0
    elif first <= position or first == earlier.stream.first_id:
        return 0
    deleted = stream.max_deleted_id
    if deleted is None or deleted > position:
        return None
    moved = position != later.last_delivered_id
    delivered = counted_reads(earlier, later) if moved else 0
    if added is None or delivered is None or earlier.lag is None or later.lag is None:
        return None
    # A server that counts skipped entries as read makes this negative, never too great.
    return max(0, earlier.lag + added - delivered - later.lag)


def lost_before(first: GroupSample) -> int | None:
    """The most entries after a group's position that were gone when it was first read; none without a bound.

    Zero where the stream still begins at or before the position: trimming has not overtaken it there. Otherwise
    what was added, less what is there, less what the group had read; of a group that has read nothing, all of it.
    """
    stream, position = first.stream, first.last_delivered_id
    if any(one is not None and one <= position for one in (stream.first_id, stream.last_generated_id)):
        return 0
    read = 0 if position == ZERO_ID else first.entries_read
    if stream.entries_added is None or read is None:
        return None
    return max(0, stream.entries_added - stream.length - read)


def trimmed(earlier: StreamSample, later: StreamSample) -> bool:
    """Whether trimming, and not XDEL, provably took entries from the stream's head between two samples.

    Never provable on Redis 6.2, which does not report the highest deleted ID.
    """
    first, deleted = earlier.first_id, later.max_deleted_id
    if first is None or deleted is None or deleted >= first:
        return False
    return later.length == 0 if later.first_id is None else later.first_id > first


def rates_over(readings: SampleSeries[GroupSample], rewound_from: EntryId | None) -> Rates:
    """The movement from the first to the last reading of a group; ``rewound_from`` as above."""
    window = readings.span
    seconds = window.total_seconds()
    if seconds <= 0:
        return NO_RATES
    first, last = readings.values[0], readings.values[-1]
    added = arrivals(first.stream, last.stream)
    delivered = deliveries(first, last, added)
    acked = acknowledgements(first, last, delivered, rewound_from)
    return Rates(
        None if added is None else added / seconds,
        None if delivered is None else delivered / seconds,
        None if acked is None else acked / seconds,
        slope(readings.times, [sample.lag for sample in readings.values]),
        window,
    )


def arrival_rate(readings: SampleSeries[StreamSample]) -> float | None:
    """Entries added a second from the first to the last reading of a stream."""
    seconds = readings.span.total_seconds()
    added = arrivals(readings.values[0], readings.values[-1]) if seconds > 0 else None
    return None if added is None else added / seconds


def slope(times: tuple[datetime, ...], values: Sequence[int | None]) -> float | None:
    """Least-squares slope in units a second over the known values; none with fewer than two.

    The least squares weigh every reading, so that one burst between two polls does not decide alone.
    """
    if values.count(values[0]) == len(values):
        # Most groups, most of the time: nothing to fit.
        return 0.0 if values[0] is not None and len(values) > 1 else None
    if None in values:
        times = tuple(at for at, value in zip(times, values, strict=True) if value is not None)
        values = [value for value in values if value is not None]
    if len(values) < LINE:
        return None
    per_second: float = sum(map(mul, _weights(times), values))
    return per_second


# The groups of a snapshot were read at the same times, so nearly all of them share their weights.
@lru_cache(maxsize=256)
def _weights(times: tuple[datetime, ...]) -> tuple[float, ...]:
    """What each value at these times adds to the slope of a least-squares line, for a unit of value."""
    offsets = [(at - times[-1]).total_seconds() for at in times]
    centre = sum(offsets) / len(offsets)
    spread = sum((offset - centre) ** 2 for offset in offsets)
    return tuple((offset - centre) / spread for offset in offsets)


STEPS = 8
"""Steps that a judgement needs at least: fewer would call luck a trend."""
SIGNIFICANCE = 2.5


class Growth(Struct, frozen=True):
    """How a lag moved over a span.

    Attributes:
        began: The lag at its beginning.
        span: How long it was.
        steady: Whether the steps were up so consistently that chance does not explain them.
    """

    began: int
    span: timedelta
    steady: bool


def lag_growth(trend: SampleSeries[int | None], over: timedelta) -> Growth | None:
    """How the lag moved over the last ``over``, or the last eight steps where those took longer.

    The test is Student's t on the steps, each divided by its time. A test of the lags themselves (such
    as Mann-Kendall's) would be wrong: a lag adds up its steps, so even without any trend it drifts, and
    such tests call a third of aimless walks growing, where this one calls one in a hundred.

    Returns:
        None if the lag has been known for less than that.
    """
    known = [(at, lag) for at, lag in zip(trend.times, trend.values, strict=True) if lag is not None]
    if len(known) <= STEPS or known[-1][0] - known[0][0] < over:
        return None
    first = min(
        bisect_right(known, known[-1][0] - over, key=lambda point: point[0]) - 1, len(known) - 1 - STEPS
    )
    points = known[first:]
    rates = [
        (lag - lag_before) / (at - at_before).total_seconds()
        for (at_before, lag_before), (at, lag) in pairwise(points)
    ]
    return Growth(points[0][1], points[-1][0] - points[0][0], _rising(rates))


def _rising(rates: list[float]) -> bool:
    mean = sum(rates) / len(rates)
    variance = sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1)
    return mean > SIGNIFICANCE * sqrt(variance / len(rates))
