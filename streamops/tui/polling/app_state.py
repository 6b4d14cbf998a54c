"""What the console knows at one moment: the one thing that is passed down to screens."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from streamops.errors import StreamopsError
from streamops.model.acting import Outcome, Plan, Progress
from streamops.model.observation import Health, Observation, StreamView
from streamops.model.schedules import Backoff
from streamops.resources.groups import GroupRow
from streamops.resources.units import duration
from streamops.resources.views import SavedView
from streamops.tui.source import ContextInfo

if TYPE_CHECKING:  # The first rows are drawn without a past.
    from streamops.resources.findings import AlertRow
    from streamops.tui.history.memory import MetricsHistory


CHOICES: Final[tuple[timedelta | None, ...]] = (
    timedelta(seconds=1),
    timedelta(seconds=2),
    timedelta(seconds=5),
    timedelta(seconds=10),
    timedelta(seconds=30),
    None,
)
UNFOCUSED: Final = timedelta(seconds=10)
COST_FACTOR: Final = 4
RETRIES: Final = Backoff(1, 15)


class PollPace(Struct, frozen=True):
    """The time between two polls, and why it is what it is.

    Attributes:
        chosen: What the person chose; none for off.
        interval: What is used; none for off.
        reason: Why the two differ, in words; empty if they do not.
    """

    chosen: timedelta | None
    interval: timedelta | None
    reason: str = ""


def pace(chosen: timedelta | None, cost: timedelta, *, focused: bool) -> PollPace:
    """Stretch the chosen interval so that polls take at most a quarter of it, and relax it out of focus."""
    if chosen is None:
        return PollPace(None, None)
    if not focused and chosen < UNFOCUSED:
        return PollPace(chosen, max(UNFOCUSED, cost * COST_FACTOR), "out of focus")
    if cost * COST_FACTOR > chosen:
        return PollPace(chosen, cost * COST_FACTOR, f"stretched: a poll takes {duration(cost)}")
    return PollPace(chosen, chosen)


def slower(chosen: timedelta | None) -> timedelta | None:
    """The next slower choice; off stays off."""
    return next((choice for choice in CHOICES if _longer(choice, chosen)), None)


def faster(chosen: timedelta | None) -> timedelta | None:
    """The next faster choice; the fastest stays."""
    return next((choice for choice in reversed(CHOICES) if _longer(chosen, choice)), CHOICES[0])


def retry_delay(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: doubling from one second to fifteen."""
    return timedelta(seconds=RETRIES.pause(max(failures, 1)))


def _longer(one: timedelta | None, other: timedelta | None) -> bool:
    if other is None:
        return False
    return one is None or one > other


class RunningOperation(Struct, frozen=True, kw_only=True):
    """What became of a plan so far.

    Attributes:
        number: Which one it is, counted from the start of the console.
        plan: The plan.
        prepared: What the engine prepared it as.
        progress: How far it is; none before its first batch.
        job: The job's ID; empty if it is none.
        stopping: Whether the person asked it to stop after the batch under way.
        outcome: What became of it; none while it runs, and where nothing was done.
        error: Why it ended early, or never began; None if it did neither.
    """

    number: int
    plan: Plan
    prepared: Any
    progress: Progress | None = None
    job: str = ""
    stopping: bool = False
    outcome: Outcome | None = None
    error: StreamopsError | None = None

    @property
    def running(self) -> bool:
        """Whether it is still under way."""
        return self.outcome is None and self.error is None

    @property
    def undo_id(self) -> str | None:
        """The audit record of what can be undone; none if nothing can, or not yet."""
        outcome = self.outcome
        if outcome is None or not (outcome.audit_id and outcome.applied and self.plan.undo):
            return None
        return outcome.audit_id

    @property
    def name(self) -> str:
        """What is done to what. Not yet safe to show."""
        return f"{self.plan.operation} {self.plan.target}"


class Loss(Struct, frozen=True):
    """Why there is no fresh data.

    Attributes:
        message: What is wrong.
        hint: What to do about it; may be empty.
        retry_at: When it is tried again, on this machine's monotonic clock; None if it is not.
    """

    message: str
    hint: str
    retry_at: float | None


class ServerMismatch(Struct, frozen=True):
    """Another server answers at the address than did before, until the person accepts it.

    Attributes:
        known: Replication IDs of the one that is known.
        answers: Replication IDs of the one that answers.
    """

    known: tuple[str, ...]
    answers: tuple[str, ...]


class AppState(Struct, frozen=True):
    """The newest observation and how fresh it is.

    Attributes:
        context: Where it comes from.
        pace: How often it is renewed.
        observation: The newest observation that may be shown; none before the first.
        streams: Its streams as lists show them: retry streams with the groups that they belong to.
        arrived: When it came, on this machine's monotonic clock.
        loss: Why no newer one came; none while all is well.
        frozen: Whether the person froze the screen.
        contexts: All contexts there are.
        tally: Groups by health.
        views: Saved views, by name.
        mismatch: Which other server answers here than did before; None if it is the same.
        typed: What was typed in prompts, by their signs, the oldest first.
        deeds: What is being done to the server, and what was done last, newest last.
        past: What was observed before, for charts; it grows with each observation, and screens only read it. None
            before the first rows are drawn.
        alerts: The findings that hold, in the order to look at them.
        keymap: Keys of the person's own, by the names of bindings.
    """

    context: ContextInfo
    pace: PollPace
    observation: Observation | None = None
    streams: Sequence[StreamView] = ()
    arrived: float = 0.0
    loss: Loss | None = None
    frozen: bool = False
    contexts: tuple[ContextInfo, ...] = ()
    tally: dict[Health, int] = {}
    views: Mapping[str, SavedView] = {}
    typed: Mapping[str, tuple[str, ...]] = {}
    mismatch: ServerMismatch | None = None
    deeds: tuple[RunningOperation, ...] = ()
    past: "MetricsHistory | None" = None
    alerts: "tuple[AlertRow, ...]" = ()
    keymap: Mapping[str, str] = {}

    @property
    def observed(self) -> Sequence[StreamView]:
        """The streams as they were observed; none before the first observation."""
        return () if self.observation is None else self.observation.streams

    @property
    def now(self) -> datetime | None:
        """The server's clock when the observation was made; None before the first one."""
        return None if self.observation is None else self.observation.snapshot.collected_at

    def find_stream(self, name: str) -> StreamView | None:
        """A stream as it was observed; None if it was not."""
        return next((view for view in self.observed if view.stream.name == name), None)

    def find_group(self, stream: str, group: str) -> GroupRow | None:
        """A group as it was observed, with its stream; None if it was not."""
        if (view := self.find_stream(stream)) is None:
            return None
        found = next((one for one in view.groups if one.group.name == group), None)
        return None if found is None else GroupRow(view, found)

    def missing(self, what: str) -> str:
        """That something is not there, or not there yet."""
        return "not read yet" if self.observation is None else f"{what} does not exist (any more)"

    @property
    def read_only(self) -> bool:
        """Whether nothing may be changed: the context says so, or another server answers than the one first seen."""
        return self.context.read_only or self.mismatch is not None

    @property
    def may_plan(self) -> bool:
        """Whether plans may be made, if only to be looked at."""
        return not self.read_only or self.context.shows_plans
