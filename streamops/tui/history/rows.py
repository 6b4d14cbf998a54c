"""From an observation to the rows that are remembered of it."""

from array import array
from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import nan
from typing import Final, NamedTuple

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import GroupView, StreamView
from streamops.model.streams import StreamRole
from streamops.resources.charts.scale import Mark
from streamops.tui.history.rings import RingShape
from streamops.tui.rows.ordering import PerItemCache

GROUP_SHAPE: Final = RingShape(greatest=2, means=3)
FRACTION: Final = 1 << 20
TOTAL_SHAPE: Final = RingShape(greatest=1, means=4)


def group_row(view: GroupView) -> "array[float]":
    """Lag, its mark, time lag, pending age, rates of arrival, acknowledgement and delivery."""
    group, rates = view.group, view.rates
    lag, mark = lag_value(group.lag)
    age = timedelta(0) if group.pending == 0 else group.oldest_pending_age
    return array(
        "f",
        (
            lag,
            mark,
            _seconds(group.time_lag.age),
            _seconds(age),
            *_mean(rates.added_per_second),
            *_mean(rates.acked_per_second),
            *_mean(rates.delivered_per_second),
        ),
    )


def lag_value(lag: Lag) -> tuple[float, Mark]:
    """A lag as a number with what it rests on; not a number if nothing is known."""
    if lag.known:
        return _number(lag.entries), Mark.KNOWN
    match lag.basis:
        case LagBasis.UPPER:
            return _number(lag.upper), Mark.AT_MOST
        case LagBasis.LOWER:
            return _number(lag.lower), Mark.AT_LEAST
        case LagBasis.ESTIMATED:
            return _number(lag.entries), Mark.ABOUT
    return nan, Mark.KNOWN


class Totals(NamedTuple):
    """Sums over streams and their groups; each sum is of what is known, beside how many are not.

    Attributes:
        streams: Streams of events.
        groups: Their groups.
        added: Entries added to them, a second.
        arrived: The same, each entry once for each group that is to be given it.
        delivered: Entries given to their groups for the first time, a second.
        acked: Entries that their groups were done with, a second.
        waiting: Lags that are known.
        pending: Entries delivered and not acknowledged.
        untold_added: Streams whose rate is not known.
        untold_rates: Groups whose rates are not known.
        untold_lags: Groups whose lag is not known itself.
        queues: Dead-letter queues with letters in them.
        letters: Their letters.
    """

    streams: int = 0
    groups: int = 0
    added: float = 0.0
    arrived: float = 0.0
    delivered: float = 0.0
    acked: float = 0.0
    waiting: int = 0
    pending: int = 0
    untold_added: int = 0
    untold_rates: int = 0
    untold_lags: int = 0
    queues: int = 0
    letters: int = 0


def stream_totals(view: StreamView) -> Totals:
    """What one stream adds to the totals. Retries count as part of what they retry."""
    state = view.stream
    if state.role is StreamRole.DEAD_LETTERS:
        return Totals(queues=int(state.length > 0), letters=state.length)
    if state.role is StreamRole.RETRY:
        return Totals()
    arrived = delivered = acked = 0.0
    waiting = pending = untold_rates = untold_lags = 0
    for group in view.groups:
        rates, lag = group.rates, group.group.lag
        arrived += rates.added_per_second or 0.0
        delivered += rates.delivered_per_second or 0.0
        acked += rates.acked_per_second or 0.0
        pending += group.group.pending
        untold_rates += rates.acked_per_second is None
        if lag.known:
            waiting += lag.entries or 0
        else:
            untold_lags += 1
    return Totals(
        streams=1,
        groups=len(view.groups),
        added=_exact(view.added_per_second or 0.0),
        arrived=_exact(arrived),
        delivered=_exact(delivered),
        acked=_exact(acked),
        waiting=waiting,
        pending=pending,
        untold_added=int(view.added_per_second is None),
        untold_rates=untold_rates,
        untold_lags=untold_lags,
    )


class RunningTotals:
    """The totals of all streams, kept up by what changed from one observation to the next."""

    def __init__(self) -> None:
        self._of_stream = PerItemCache[StreamView, Totals](stream_totals)
        self._parts: Sequence[Totals] = ()
        self._whole = Totals()

    def take(self, streams: Sequence[StreamView]) -> Totals:
        """The totals of an observation."""
        before, self._parts = self._parts, self._of_stream.values(streams)
        if len(before) != len(self._parts):
            self._whole = together(self._parts)
            return self._whole
        changed = [(old, new) for old, new in zip(before, self._parts, strict=True) if old is not new]
        if changed:
            less, more = (together(parts) for parts in zip(*changed, strict=True))
            sums = zip(self._whole, less, more, strict=True)
            self._whole = Totals._make(whole - old + new for whole, old, new in sums)
        return self._whole


def together(totals: Sequence[Totals]) -> Totals:
    """The sum of totals."""
    return Totals(*map(sum, zip(*totals, strict=True))) if totals else Totals()


def totals_row(totals: Totals) -> "array[float]":
    """Lags as a whole, their mark, dead letters, and the four rates; a rate is unknown if no part of it is known."""
    mark = Mark.AT_LEAST if totals.untold_lags else Mark.KNOWN
    known_added = totals.streams > totals.untold_added
    known_rates = totals.groups > totals.untold_rates
    return array(
        "f",
        (
            totals.waiting,
            mark,
            totals.letters,
            *_mean(totals.added if known_added else None),
            *_mean(totals.arrived if known_rates else None),
            *_mean(totals.delivered if known_rates else None),
            *_mean(totals.acked if known_rates else None),
        ),
    )


def nothing(shape: RingShape) -> "array[float]":
    """A row of which nothing is known."""
    return array("f", [nan]) * shape.width


def _exact(rate: float) -> float:
    """A rate to a millionth, as a fraction of which floating point adds and subtracts any number without an error."""
    return round(rate * FRACTION) / FRACTION


def _mean(value: float | None) -> Iterable[float]:
    """A value that means are made of, and how many readings it stands for."""
    return (nan, nan) if value is None else (max(value, 0.0), 1.0)


def _number(value: int | None) -> float:
    return nan if value is None else float(value)


def _seconds(span: timedelta | None) -> float:
    return nan if span is None else max(span.total_seconds(), 0.0)
