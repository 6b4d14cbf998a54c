"""Subjects for the tables of the rules, said in spans before now."""

from collections.abc import Sequence
from datetime import timedelta

from streamops.model.entries import EntryId
from streamops.model.observation import Rates
from streamops.model.streams import ConsumerGroup, StreamRole, StreamState
from streamops.monitor.history import GroupHistory, StreamHistory
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.samples import SampleSeries, StreamSample, sample_group, sample_stream
from tests.support.invented import NOW, group, stream

STEP = timedelta(seconds=10)


def group_subject(
    judged: ConsumerGroup | None = None,
    *,
    watched: timedelta = timedelta(0),
    undelivered: timedelta | None = None,
    unacked: timedelta | None = None,
    waiting: timedelta | None = None,
    clear: timedelta | None = None,
    lags: Sequence[int | None] = (),
    slope: float | None = None,
    lost: int = 0,
    lost_known: bool = True,
    lost_ago: timedelta | None = None,
    rewound_ago: timedelta | None = None,
    rewound_from: EntryId | None = None,
    trimmed_ago: timedelta | None = None,
    length: int = 100,
    sees_asking: bool = True,
) -> GroupEvidence:
    """A group as it stands now, after a past.

    Args:
        judged: The group; a healthy one unless given.
        watched: How long ago watching began.
        undelivered: How long the position has been watched to stay; as long as watched unless given.
        unacked: How long nothing has been watched to be acknowledged; as long as watched unless given.
        waiting: How long entries have been watched to wait; as long as watched unless given, where any wait.
        clear: How long ago nothing waited.
        lags: The lags before, ten seconds apart.
        slope: The slope of the lag.
        lost: Entries lost.
        lost_known: Whether that is all of them.
        lost_ago: When the last of them was lost.
        rewound_ago: When the position moved back.
        rewound_from: Where it was then.
        trimmed_ago: When the stream was trimmed.
        length: Of the stream, now and before.
        sees_asking: Whether idle times tell when consumers last asked.
    """
    judged = group() if judged is None else judged
    state = stream(groups=[judged], length=length)
    seen = stream_sample(length=length)
    past = tuple(lags)
    values = (*past, judged.lag.entries if judged.lag.known else None)
    times = tuple(NOW - STEP * (len(past) - place) for place in range(len(values)))
    newest = sample_group(judged, seen)
    recent = tuple(sample_group(group(lag=lag or 0), seen) for lag in past)
    history = GroupHistory(
        began=NOW - watched,
        recent=SampleSeries(times[-7:], (*recent, newest)[-7:]),
        trend=SampleSeries(times, values),
        position_since=NOW - (watched if undelivered is None else undelivered),
        waiting_since=NOW - (watched if waiting is None else waiting) if judged.lag.waits else None,
        clear_at=None if clear is None else NOW - clear,
        unacked_since=NOW - (watched if unacked is None else unacked),
        lost=lost,
        lost_known=lost_known,
        lost_at=None if lost_ago is None else NOW - lost_ago,
        rewound_at=None if rewound_ago is None else NOW - rewound_ago,
        rewound_from=rewound_from,
    )
    return GroupEvidence(
        stream=state,
        group=judged,
        history=history,
        trimmed_at=None if trimmed_ago is None else NOW - trimmed_ago,
        rates=Rates(lag_per_second=slope),
        now=NOW,
        members=judged.members,
        sees_asking=sees_asking,
    )


def stream_sample(*, length: int = 100, added: int | None = 100) -> StreamSample:
    return sample_stream(stream(length=length, entries_added=added))


def dead_letter_subject(
    length: int,
    *,
    before: int | None = None,
    over: timedelta = timedelta(minutes=5),
    counted: bool = True,
    role: StreamRole = StreamRole.DEAD_LETTERS,
    source: str | None = None,
) -> tuple[StreamState, StreamHistory]:
    """A dead-letter stream that had ``before`` entries ``over`` ago; ``counted`` where additions are."""
    state: StreamState = stream(
        "orders:dlq",
        length=length,
        entries_added=length if counted else None,
        role=role,
        source=source,
    )
    readings = [] if before is None else [stream_sample(length=before, added=before if counted else None)]
    times = (NOW - over, NOW) if readings else (NOW,)
    growth = SampleSeries(times, (*readings, sample_stream(state)))
    return state, StreamHistory(growth, growth, None, {})
