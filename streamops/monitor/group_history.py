"""What is remembered of one group."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.lag import Lag
from streamops.monitor.losses import losses, lost_before
from streamops.monitor.rates import acknowledgements, arrivals, deliveries
from streamops.monitor.samples import Column, GroupSample, Tick

RATE_SPACING = timedelta(seconds=5)
RATE_LENGTH = 7
TREND_LENGTH = 64


class GroupHistory(Struct, frozen=True, gc=False):
    """What is remembered of one group since it was first seen, or since its position moved back.

    Attributes:
        began: When that was.
        recent: The last seven readings at least five seconds apart, for rates.
        trend: The last 64 lags, spaced to span ``lag_growing_for``; none where a lag was not known.
        position_since: The first reading at the present position: nothing was delivered since.
        waiting_since: The first reading since which entries have waited without a break; none where
            none is known to wait.
        clear_at: The last reading at which nothing waited, or at which the position moved back; none
            where there was no such reading. Nothing has waited for longer than since then.
        unacked_since: The last reading up to which something may have been acknowledged, or at which
            nothing was pending: no entry was acknowledged since.
        lost: Entries proven to have been trimmed away undelivered since the group was first seen.
        lost_known: Whether every change since then let that be told, so that ``lost`` is the whole.
        lost_before: The most entries that can have been trimmed away undelivered before that; none without a bound.
        lost_at: The last reading that added to ``lost``; none where nothing did.
        rewound_at: The last reading at which the position had moved back; none where it never did.
        rewound_from: The position before that, or an earlier one not caught up with when it moved back again.
    """

    began: datetime
    recent: Column[GroupSample]
    trend: Column[int | None]
    position_since: datetime
    waiting_since: datetime | None
    clear_at: datetime | None
    unacked_since: datetime
    lost: int = 0
    lost_known: bool = True
    lost_at: datetime | None = None
    rewound_at: datetime | None = None
    rewound_from: EntryId | None = None
    lost_before: int | None = 0

    @property
    def lag(self) -> int | None:
        """The newest lag; none unless ``exact`` or ``reported``."""
        return self.trend.values[-1]


class GroupTicks(Struct, frozen=True):
    """The instant of a reading, for each of a group's columns.

    Attributes:
        at: The instant.
        recent: For ``recent``.
        trend: For ``trend``.
    """

    at: datetime
    recent: Tick
    trend: Tick


def group_ticks(at: datetime, trend_span: timedelta) -> GroupTicks:
    """The ticks for groups read at ``at``, whose trends are to span at least ``trend_span`` when full."""
    # A few readings more than the span needs: polls do not come exactly when the spacing asks.
    spacing = max(RATE_SPACING, trend_span / (TREND_LENGTH - 4))
    return GroupTicks(at, Tick(at, RATE_SPACING, RATE_LENGTH), Tick(at, spacing, TREND_LENGTH))


def begin_group(sample: GroupSample, lag: Lag, ticks: GroupTicks, *, created: bool = False) -> GroupHistory:
    """The history of a group seen for the first time; ``created`` since its stream was last read without it."""
    now = ticks.at
    return GroupHistory(
        began=now,
        recent=ticks.recent.begin(sample),
        trend=ticks.trend.begin(sample.lag),
        position_since=now,
        waiting_since=now if waits(lag) else None,
        clear_at=now if lag.upper == 0 else None,
        unacked_since=now,
        lost_before=0 if created else lost_before(sample),
    )


def advance_group(past: GroupHistory, sample: GroupSample, lag: Lag, ticks: GroupTicks) -> GroupHistory:
    """The history of a group with one more reading of it, of the same stream.

    Args:
        past: Its history so far.
        sample: What to remember of the reading.
        lag: The lag as read, with its bounds.
        ticks: When it was read.
    """
    last, now = past.recent.values[-1], ticks.at
    acked: int | None = 0
    lost: int | None = 0
    moved = False
    if sample == last and sample.stream.first_id is not None:
        sample = last
    elif sample.last_delivered_id < last.last_delivered_id:
        return _rewind_group(past, sample, lag, ticks)
    else:
        added = arrivals(last.stream, sample.stream)
        acked = acknowledgements(last, sample, deliveries(last, sample, added), past.rewound_from)
        lost = losses(last, sample, added)
        moved = sample.last_delivered_id != last.last_delivered_id
    return GroupHistory(
        past.began,
        ticks.recent.append(past.recent, sample),
        ticks.trend.append(past.trend, sample.lag),
        now if moved else past.position_since,
        (past.waiting_since or now) if waits(lag) else None,
        now if lag.upper == 0 else past.clear_at,
        now if acked != 0 or sample.pending == 0 else past.unacked_since,
        past.lost + (lost or 0),
        lost is not None and past.lost_known,
        now if lost else past.lost_at,
        past.rewound_at,
        past.rewound_from,
        past.lost_before,
    )


def waits(lag: Lag) -> bool:
    """Whether an entry is known to wait for the group."""
    return lag.lower is not None and lag.lower > 0


def _rewind_group(past: GroupHistory, sample: GroupSample, lag: Lag, ticks: GroupTicks) -> GroupHistory:
    """The history of a group whose position moved back: rates and trend begin anew, losses stay counted."""
    origin = past.recent.values[-1].last_delivered_id
    return replace(
        begin_group(sample, lag, ticks),
        clear_at=ticks.at,
        lost=past.lost,
        lost_known=past.lost_known,
        lost_at=past.lost_at,
        lost_before=past.lost_before,
        rewound_at=ticks.at,
        rewound_from=origin if past.rewound_from is None else max(origin, past.rewound_from),
    )
