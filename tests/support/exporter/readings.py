"""Readings invented for tests, and Hypothesis strategies for them."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from streamops.exporter.shown import ExporterHealth, ScrapeReading
from streamops.model.observation import (
    NO_QUEUE_METRICS,
    Observation,
    QueueCount,
    QueueMetrics,
)
from streamops.model.pools import Lead, Pool, PoolDecision, ScaleCode, Signals, WorkerHeartbeat, WorkerState
from streamops.model.streams import Consumer, Snapshot
from streamops.monitor.history import History, advance
from streamops.monitor.observe import assess
from streamops.monitor.thresholds import Thresholds
from tests.support import strategies as some
from tests.support.invented import NOW

THRESHOLDS = Thresholds()
HOSTILE = ('"', "\\", "\n", "\\n", '\\"', "a\nb", "\\xff", "\udcff", "x{y}", "é", "\u2028", "\ufeff", "", " ")
GREATEST = 2**63 - 1


def observed(*snapshots: Snapshot) -> Observation:
    """The observation of the last of some snapshots, one after the other."""
    return assess(snapshots[-1], counted(*snapshots), THRESHOLDS)


def counted(*snapshots: Snapshot, since: History | None = None) -> History:
    """What is remembered after some snapshots, one after the other."""
    history = since
    for snapshot in snapshots:
        history = advance(history, snapshot, THRESHOLDS)
    assert history is not None
    return history


def reading(
    *snapshots: Snapshot, extras: QueueMetrics = NO_QUEUE_METRICS, health: ExporterHealth | None = None
) -> ScrapeReading:
    """The reading of the last of some snapshots."""
    return ScrapeReading(observed(*snapshots), extras, health or ExporterHealth())


def hostile_names() -> SearchStrategy[str]:
    """Names that a label has to escape, and any others."""
    return st.one_of(st.sampled_from(HOSTILE), some.names())


def numbers() -> SearchStrategy[int]:
    return st.one_of(some.counts(), st.sampled_from([0, 999_999, 1_000_000, 10**16, 2**53 + 1, GREATEST]))


def extras() -> SearchStrategy[QueueMetrics]:
    moments = some.spans().map(lambda span: NOW + span)
    return st.builds(
        QueueMetrics,
        queues=st.lists(
            st.builds(QueueCount, hostile_names(), numbers(), st.none() | numbers(), st.none() | moments),
            max_size=3,
            unique_by=lambda one: one.queue,
        ).map(tuple),
        memory=st.dictionaries(hostile_names(), numbers(), max_size=3),
        workers=st.lists(_workers(), max_size=3).map(tuple),
        paused=st.dictionaries(hostile_names(), st.booleans(), max_size=3),
        max_lengths=st.dictionaries(hostile_names(), numbers(), max_size=3),
        pools=st.lists(_pools(), max_size=3, unique_by=lambda one: one.name).map(tuple),
        pools_at=st.none() | moments,
    )


def _pools() -> SearchStrategy[Pool]:
    moments = some.spans().map(lambda span: NOW + span)
    sizes = st.none() | numbers()
    speeds = st.none() | st.floats(0, 1e300)
    signals = st.builds(Signals, arrivals=speeds, rate=speeds, predicted=speeds, busy=speeds, cap=sizes)
    decisions = st.builds(
        PoolDecision,
        at=moments,
        code=st.sampled_from(ScaleCode),
        text=st.just(""),
        ordered=numbers(),
        ready=numbers(),
        target=numbers(),
        signals=signals,
    )
    return st.builds(
        Pool,
        name=hostile_names(),
        lead=st.none() | st.builds(Lead, holder=st.just("c"), until=moments, term=st.just(1)),
        minimum=sizes,
        maximum=sizes,
        last=st.none() | decisions,
        decisions=st.dictionaries(st.tuples(hostile_names(), hostile_names()), numbers(), max_size=2),
        errors=numbers(),
    )


def healths() -> SearchStrategy[ExporterHealth]:
    words = st.sampled_from(["collect", "judge", "render"])
    return st.builds(
        ExporterHealth,
        up=st.booleans(),
        phases=st.dictionaries(words, st.floats(0, 1e300)),
        commands=st.none() | numbers(),
        errors=st.dictionaries(words, numbers()),
        omitted=st.dictionaries(st.just(("stream", "max_streams")), st.integers(1, 9)),
        discovered=st.none() | numbers(),
        version=hostile_names(),
    )


def readings() -> SearchStrategy[ScrapeReading]:
    """Readings of servers gone mad, one after the other, and of none at all."""
    return st.one_of(
        st.builds(_reading, st.lists(_snapshots(), min_size=1, max_size=3), extras(), healths()),
        st.builds(lambda health: ScrapeReading(None, health=health), healths()),
    )


def _reading(snapshots: Sequence[Snapshot], beside: QueueMetrics, health: ExporterHealth) -> ScrapeReading:
    return reading(*sorted(snapshots, key=lambda one: one.collected_at), extras=beside, health=health)


def _snapshots() -> SearchStrategy[Snapshot]:
    consumers = st.lists(
        st.builds(
            Consumer,
            hostile_names(),
            numbers(),
            some.spans(),
            st.none() | some.spans(),
            oldest_delivered=st.none() | some.spans(),
        ),
        max_size=3,
        unique_by=lambda one: one.name,
    )
    group = st.builds(
        lambda group, members: replace(group, members=tuple(members)),
        some.groups(name=hostile_names()),
        consumers,
    )
    return some.snapshots(
        stream=some.streams(name=hostile_names(), group=group),
        collected_after=st.timedeltas(timedelta(0), timedelta(hours=1)),
    )


def _workers() -> SearchStrategy[WorkerHeartbeat]:
    return st.builds(
        WorkerHeartbeat,
        id=some.names(),
        host=st.just("host"),
        pid=st.just(1),
        app=hostile_names(),
        pool=hostile_names(),
        consumers=st.just(()),
        slots=numbers(),
        busy=numbers(),
        state=st.sampled_from(WorkerState),
    )
