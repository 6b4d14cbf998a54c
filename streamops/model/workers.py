"""Worker processes, by their heartbeats."""

from enum import StrEnum

from msgspec import Struct


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
    """One worker process as it tells of itself.

    Attributes:
        id: Its ID: its consumers' name, unless they were given one.
        host: The machine's name.
        pid: The process.
        app: The application: ``module:app`` where it is known.
        pool: The pool that it is one of.
        consumers: ``stream group`` pairs that it reads, with its consumer's name in each.
        slots: How many entries it handles at once.
        busy: How many it handles now.
        state: What it is doing.
        worked: Seconds that its handlers have worked since it started; zero where that is not told.
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
