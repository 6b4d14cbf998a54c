"""A source that also tells of workers and delayed messages, and a past to draw."""

from collections.abc import Callable
from datetime import timedelta
from math import sin

from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.delayed import DelayedQueue
from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.monitor.delayed import DelayedQueues
from streamops.monitor.pools import ServerWorkers
from streamops.tui.history.memory import MetricsHistory
from tests.support.invented import NOW, minutes, seconds
from tests.support.tui import sample
from tests.support.tui.invented_beside import Beside, InventedWorkers
from tests.support.tui.source import InventedSource

UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "not counted")


def worker(number: int, state: WorkerState = WorkerState.RUNNING, pool: str = "billing") -> WorkerHeartbeat:
    return WorkerHeartbeat(
        id=f"host-{number}-{number}", host=f"host-{number}", pid=number, app="shop:app", pool=pool,
        consumers=(("orders", "billing", f"host-{number}"),), slots=10, busy=number, state=state, beat_ms=0,
    )  # fmt: skip


MANY_GROUPS = ServerWorkers((worker(1), worker(2), worker(3, WorkerState.PAUSED)), NOW)
DELAYED = DelayedQueues(
    (DelayedQueue("orders", 12, 2, NOW - seconds(4), 12), DelayedQueue("emails", 3, 0, NOW + minutes(9), 3)),
    (),
    NOW,
    complete=True,
)


class Workers(InventedWorkers):
    """Says who works."""

    def __init__(self, crowd: ServerWorkers | StreamopsError) -> None:
        super().__init__(Beside())
        self.crowd = crowd
        self.asked = 0

    async def with_pools(self, share: float = 1.0) -> ServerWorkers:
        del share
        self.asked += 1
        if isinstance(self.crowd, StreamopsError):
            raise self.crowd
        return self.crowd

    async def again(self, known: ServerWorkers) -> ServerWorkers:
        del known
        return await self.with_pools()


class PulseSource(InventedSource):
    """Says what it was told to, workers and delayed messages included."""

    def __init__(
        self,
        observation: Observation | StreamopsError,
        crowd: ServerWorkers | StreamopsError = MANY_GROUPS,
        delayed: DelayedQueues | StreamopsError = DELAYED,
    ) -> None:
        super().__init__(observation, sample.entries(), sample.pending_rows())
        self.crew = Workers(crowd)
        self.queues = delayed

    @property
    def workers(self) -> Workers:
        return self.crew

    async def find_delayed(self) -> DelayedQueues:
        if isinstance(self.queues, StreamopsError):
            raise self.queues
        return self.queues


def waves(base: Observation, count: int = 140, apart: float = 2.0) -> list[Observation]:
    """Observations before one, the oldest first: lags rise to it, rates go up and down, a while is not known."""
    return [
        replace(
            base,
            streams=tuple(
                _before(stream, number / count, unknown=0.3 < number / count < 0.38)
                for stream in base.streams
            ),
            snapshot=replace(base.snapshot, collected_at=NOW - seconds((count - number) * apart)),
        )
        for number in range(count)
    ]


def fed(base: Observation, count: int = 140, apart: float = 2.0) -> Callable[[], MetricsHistory]:
    """Makes a past that has seen waves before an observation."""

    def past() -> MetricsHistory:
        made = MetricsHistory()
        for observation in waves(base, count, apart):
            made.take(observation, seconds(apart))
        return made

    return past


def _before(stream: StreamView, share: float, *, unknown: bool) -> StreamView:
    groups = tuple(
        _group_before(group, share, place, unknown=unknown) for place, group in enumerate(stream.groups)
    )
    added = None if stream.added_per_second is None else stream.added_per_second * _wave(share, 0)
    return replace(stream, groups=groups, added_per_second=added)


def _group_before(view: GroupView, share: float, place: int, *, unknown: bool) -> GroupView:
    group, rates = view.group, view.rates
    lag = UNKNOWN if unknown else _lag_before(group.lag, share)
    return replace(
        view,
        group=replace(
            group,
            lag=lag,
            oldest_pending_age=_scaled(group.oldest_pending_age, share),
            time_lag=replace(group.time_lag, age=_scaled(group.time_lag.age, share)),
        ),
        rates=replace(
            rates,
            added_per_second=None
            if rates.added_per_second is None
            else rates.added_per_second * _wave(share, 0),
            acked_per_second=None
            if rates.acked_per_second is None
            else rates.acked_per_second * _wave(share, 1 + place),
        ),
    )


def _lag_before(lag: Lag, share: float) -> Lag:
    if lag.known:
        entries = int((lag.entries or 0) * share + 4 + 4 * sin(share * 15))
        return replace(lag, entries=entries, lower=entries, upper=entries)
    return lag if lag.upper is None else replace(lag, upper=int(lag.upper * (1 + share) / 2))


def _wave(share: float, place: int) -> float:
    return 1 + 0.2 * sin(share * 20 + place)


def _scaled(span: timedelta | None, share: float) -> timedelta | None:
    return None if span is None else span * share
