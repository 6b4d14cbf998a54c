"""Pools of workers: the processes, the work before them, and how many there are to be, by whose decision and why."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from streamops.model.fields import Passing
from streamops.model.lag import Lag


class WorkerState(StrEnum):
    """What a worker process is doing."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    DRAINING = "draining"
    STALLED = "stalled"
    """Its event loop does not turn: a handler blocks it."""
    OTHER = "other"
    """What a later version has a word for."""


_STATES = frozenset(WorkerState)


def worker_state(word: str) -> WorkerState:
    """A state by its word; ``OTHER`` where this version has none of that name: the worker lives all the same."""
    return WorkerState(word) if word in _STATES else WorkerState.OTHER


class WorkerHeartbeat(Struct, frozen=True, kw_only=True):
    """One worker process as in its heartbeat.

    Attributes:
        id: Its ID: its consumers' name, unless they were given one.
        host: The machine's name.
        pid: The process.
        app: The application: ``module:app`` if it is known.
        pool: The pool that it is one of.
        consumers: ``stream group`` pairs that it reads, with its consumer's name in each.
        slots: How many entries it handles at once.
        busy: How many it handles now.
        state: What it is doing.
        worked: Seconds that its handlers have worked since it started; zero if that is not told.
        beat_ms: When that was so, in milliseconds by the server's clock.
    """

    id: str
    host: str
    pid: int
    app: str
    pool: str
    consumers: tuple[tuple[str, str, str], ...]
    slots: int
    busy: int
    state: WorkerState
    worked: float = 0.0
    beat_ms: int = 0


class Demand(Struct, frozen=True, kw_only=True, gc=False):
    """One reading of a group's work and of the pool that does it. Times are seconds.

    Attributes:
        at: When it was read, in seconds by the server's clock.
        added: Entries ever added to the stream; always known.
        lag: Entries not yet delivered, with what that rests on.
        head_age: How long the first of them has waited; None if unknown.
        pending: Entries delivered and not acknowledged.
        acked: Entries ever acknowledged.
        ordered: Workers asked for, ready or not.
        ready: Workers that heartbeat; where none ever did, those that are ordered have to be believed.
        ready_known: Whether heartbeats or the target show how many live.
        busy: Mean share of their slots that was busy since the last reading; None if they do not report it.
        probed_empty: Whether a look behind the last delivered entry found nothing, whatever the lag says.
    """

    at: float
    added: int
    lag: Lag
    head_age: float | None
    pending: int
    acked: int
    ordered: int
    ready: int
    busy: float | None = None
    probed_empty: bool = False
    ready_known: bool = True

    @property
    def waiting(self) -> int | None:
        """Entries that wait; None if no count can be trusted.

        A lag with nothing behind the last delivered entry is a phantom, and nothing waits; the same where at most
        none do.
        """
        if self.probed_empty or self.lag.upper == 0:
            return 0
        return self.lag.entries if self.lag.known else None

    @property
    def backlog(self) -> int:
        """Entries that wait for certain."""
        if self.probed_empty:
            return 0
        known = self.waiting
        return known if known is not None else self.lag.lower or 0

    @property
    def phantom(self) -> bool:
        """Whether the lag counts entries that are not there."""
        return self.probed_empty and bool(self.lag.entries)


KEDA = "KEDA"
"""The target of a pool, in words, whose controller is ``autoscale keda``: KEDA scales it, and tells no number of workers."""


class ScaleCode(StrEnum):
    """Why a pool has the workers it has: the rule that decided, or what stood above the rules."""

    WARMUP = "warmup"
    SUSPECT = "suspect"
    STUCK = "stuck"
    NOT_STARTING = "not_starting"
    NO_RATE = "no_rate"
    LAG_UNKNOWN = "lag_unknown"
    SATURATED = "saturated"
    BACKLOG = "backlog"
    TREND = "trend"
    """Written by earlier versions only."""
    ARRIVALS = "arrivals"
    SAWTOOTH = "sawtooth"
    DRAINING = "draining"
    STARTING = "starting"
    IDLE = "idle"
    WAKE = "wake"
    LIMIT = "limit"
    STEADY = "steady"
    OVERRIDE = "override"
    PAUSED = "paused"
    BUDGET = "budget"
    UNREADABLE = "unreadable"


class ScaleDecision(Struct, frozen=True, gc=False):
    """How many workers a pool is to have.

    Attributes:
        target: That number, always within the limits.
        code: The rule that decided.
        text: Why, in a sentence with numbers.
    """

    target: int
    code: ScaleCode
    text: str


class PoolSize(Struct, frozen=True, kw_only=True):
    """How many workers a target has.

    Attributes:
        ordered: Workers asked for, ready or not.
        ready: Workers that work; None if the target does not report it.
        version: What the target calls this state of things, for a precondition; empty if it has no word for it.
    """

    ordered: int
    ready: Passing[int | None] = None
    version: Passing[str] = ""


class PoolMode(StrEnum):
    """What the workers of a pool were told."""

    RUNNING = "running"
    PAUSED = "paused"


class Order(Struct, frozen=True, kw_only=True):
    """How many workers a pool was last asked to have.

    Attributes:
        workers: That many.
        by: Who said so; empty if that is not known.
        at: When; None if that is not known.
        reason: Why.
    """

    workers: int
    by: str = ""
    at: datetime | None = None
    reason: str = ""


class PoolOverrides(Struct, frozen=True, kw_only=True):
    """People's settings for the controller of a pool.

    Attributes:
        paused: Whether it may change nothing.
        override: Workers that the pool is to have whatever the policy says; none for none.
        until: When pause or override end by themselves; none for never.
        minimum: The least there may be, instead of what the configuration says; none for that.
        maximum: The most, the same.
        by: Who said so last; empty if none did.
        at: When; None if that is not known.
        reason: Why.
    """

    paused: bool = False
    override: int | None = None
    until: datetime | None = None
    minimum: int | None = None
    maximum: int | None = None
    by: str = ""
    at: datetime | None = None
    reason: str = ""


FREE: PoolOverrides = PoolOverrides()
"""The controller was given no override, limits or pause."""


class Lead(Struct, frozen=True, kw_only=True):
    """Who decides about a pool.

    Attributes:
        holder: Its controller.
        until: When it loses that, unless it says that it lives.
        term: How often the lead has changed hands.
    """

    holder: str
    until: datetime
    term: int


class Signals(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a decision rests on; None if it was not known.

    Attributes:
        lag: Entries not delivered.
        at_least: A lower bound, if the number is not known.
        pending: Entries delivered and not acknowledged.
        arrivals: Entries added a second.
        coming: The same by the time that workers ordered now would be there: they are expected to go on.
        rate: Entries that one worker handles a second.
        wait: Seconds that the entry added last waits, by those that work.
        predicted: The same by all that are ordered, or for one that comes when workers ordered now are there.
        objective: The longest an entry should wait, in seconds.
        busy: Share of the workers' slots that was busy.
        start_up: Seconds from ordering a worker to its work.
        cap: More workers than this do not help.
    """

    lag: int | None = None
    at_least: int | None = None
    pending: int | None = None
    arrivals: float | None = None
    coming: float | None = None
    rate: float | None = None
    wait: float | None = None
    predicted: float | None = None
    objective: float | None = None
    busy: float | None = None
    start_up: float | None = None
    cap: int | None = None


class Applied(StrEnum):
    """What became of a decision."""

    KEPT = "kept"
    """It asked for what there was."""
    DONE = "done"
    ADVISED = "advised"
    """It was only said."""
    WAITING = "waiting"
    """The target failed before, and is left in peace for a while."""
    CHANGED = "changed"
    """The target was no longer as it was read."""
    FAILED = "failed"


class PoolDecision(Struct, frozen=True, kw_only=True):
    """One decision about a pool, and what became of it.

    Attributes:
        at: When, by the server's clock.
        code: The rule that decided.
        text: Why, in a sentence with numbers.
        ordered: Desired workers before it.
        ready: Workers that worked; as many as were ordered if that was not known.
        ready_known: Whether it was: by heartbeats, or by what the target told.
        target: Desired workers after it.
        outcome: What became of it.
        problem: What was wrong, where something was.
        signals: What it rests on.
        outlook: What would change it, in sentences.
        by: The controller.
    """

    at: datetime
    code: ScaleCode
    text: str
    ordered: int
    ready: int
    target: int
    outcome: Applied = Applied.KEPT
    problem: str = ""
    signals: Signals = Signals()
    outlook: tuple[str, ...] = ()
    by: str = ""
    ready_known: bool = True

    @property
    def was_read(self) -> bool:
        """Whether its numbers were read; else they are older numbers, which are not shown."""
        return self.code is not ScaleCode.UNREADABLE

    @property
    def direction(self) -> str:
        """``up``, ``down`` or ``hold``."""
        if self.target == self.ordered:
            return "hold"
        return "up" if self.target > self.ordered else "down"


class Pool(Struct, frozen=True, kw_only=True):
    """A pool as the server knows it.

    Attributes:
        name: Its name.
        mode: What its workers were told: ``running``, ``paused``; empty if they were told nothing.
        updated_by: Who told them.
        updated_at: When.
        reason: Why.
        order: How many workers it is to have; none if no number was set.
        steering: People's settings for its controller.
        lead: Who decides about it; none if none ever did.
        stream: The stream that its workers read, where a controller said so.
        group: Their group, the same.
        target: What runs them, in words, the same.
        minimum: The least workers in force, the same.
        maximum: The most, the same.
        last: The last decision; None if there was none.
        decisions: How many there were, by direction and code.
        errors: How often its target failed.
        problem: Why it could not be read; empty if it could. Nothing but its name is known then.
    """

    name: str
    mode: str = ""
    updated_by: str = ""
    updated_at: datetime | None = None
    reason: str = ""
    order: Order | None = None
    steering: PoolOverrides = FREE
    lead: Passing[Lead | None] = None
    stream: str = ""
    group: str = ""
    target: str = ""
    minimum: int | None = None
    maximum: int | None = None
    last: Passing[PoolDecision | None] = None
    decisions: Passing[Mapping[tuple[str, str], int]] = {}
    errors: Passing[int] = 0
    problem: str = ""

    @property
    def controller_command(self) -> str:
        """The command that decides about it: ``streamops autoscale keda`` where that did last."""
        return f"streamops autoscale {'keda' if self.target == KEDA else 'run'}"


class RegisteredWorker(Struct, frozen=True, kw_only=True):
    """One worker on the roster of its pool.

    Attributes:
        id: Its ID.
        at: When it last beat, by the server's clock.
        slots: How many entries it handles at once.
        busy: How many it handled then.
        worked: Seconds that its handlers have worked since it started.
        state: What it was doing.
    """

    id: str
    at: datetime
    slots: int
    busy: int
    worked: float
    state: WorkerState


class PoolSupervisor(Struct, frozen=True, kw_only=True):
    """One supervisor that runs workers of a pool, as many as the pool asks for.

    Attributes:
        id: Its ID.
        at: When it last said that it lives, by the server's clock.
        host: Its machine.
        pid: Its process.
        aim: Workers that it wants to have.
        alive: Worker processes that it has.
        ready: Those of them that work.
    """

    id: str
    at: datetime
    host: str
    pid: int
    aim: int
    alive: int
    ready: int


class FencingToken(Struct, frozen=True):
    """What a controller's decision holds under: its term, and what people had told it.

    Attributes:
        holder: The controller.
        term: In which term it led; a later leader has a higher one.
        lease: How long its lead holds unless it is kept.
        steered_at: When people told it something last; None if they never did.
    """

    holder: str
    term: int
    lease: timedelta
    steered_at: datetime | None = None
