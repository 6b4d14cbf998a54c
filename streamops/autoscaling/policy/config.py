"""What an operator sets for a pool, and the numbers of the policy that were found by simulation, not asked of anybody."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct


class Tuning(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shares are of the objective where not said otherwise; times are seconds.

    Attributes:
        half_life: Of the mean of arrivals.
        fresh: How far arrivals above the mean are believed to go on, where the last two intervals agree.
        horizon: Readings that a slope of arrivals is taken from.
        recent_peak: A forecast is at most this many times the highest mean within the horizon.
        rates: How many samples the rate of one worker is the median of.
        stuck_after: Nothing acknowledged for this long.
        not_starting: Times the start-up within which one worker should have come.
        ahead_share: A predicted wait from which a backlog calls for workers.
        now_share: The wait it must have reached by then.
        drain_share: How soon a backlog should be worked off once workers are there, where it is late already.
        use: Share of their time that workers are meant to be busy.
        pressed_use: Forecast arrivals over capacity from which workers are ordered.
        pressed_for: How long they must stay above it.
        came: The share of capacity that must have come in meanwhile.
        factor: At most so many times the workers in one decision.
        addition: Or so many more.
        safe_share: A wait that a replay, or an earlier peak, may reach.
        down_use: Share of their time that fewer workers may be busy.
        look_back: How much of the past a replay takes at first.
        least_look: Nor is anything let go before so much of it is known.
        memory: How much it takes at most, and how long peaks are remembered.
        cooldown: Between a change and a scale-down at first.
        flap: An up this soon after a down doubles the cooldown and the look back.
        damping: How often flaps may double them.
        recurring: Peaks remembered that make a replay look at everything that is remembered.
        patience: After the start-up, so long may it take to see whether a scale-up helped.
        gain: The least share of added capacity that must show, else the pool is saturated.
        retry: After so long a saturated pool is tried again; doubled each time.
        retry_most: The longest of these pauses.
        clear: No lag for this long forgets a saturation.
        calm: A backlog of less than so many seconds of work is none.
    """

    half_life: float = 15.0
    fresh: float = 0.8
    horizon: float = 180.0
    recent_peak: float = 1.0
    rates: int = 5
    stuck_after: float = 45.0
    not_starting: float = 3.0
    ahead_share: float = 0.5
    now_share: float = 0.25
    drain_share: float = 0.7
    use: float = 0.85
    pressed_use: float = 0.95
    pressed_for: float = 25.0
    came: float = 0.5
    factor: int = 4
    addition: int = 4
    safe_share: float = 0.8
    down_use: float = 0.85
    look_back: float = 120.0
    least_look: float = 60.0
    memory: float = 900.0
    cooldown: float = 45.0
    flap: float = 600.0
    damping: int = 3
    recurring: int = 2
    patience: float = 60.0
    gain: float = 0.3
    retry: float = 300.0
    retry_most: float = 3600.0
    clear: float = 300.0
    calm: float = 0.5


Workers = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]


class ScalingConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and objective of a pool. ``ValueError`` where they contradict each other.

    Attributes:
        minimum: Workers there are at least; 0 lets a pool go to zero.
        maximum: Workers there are at most.
        objective: The longest an entry should wait.
        start_up: From ordering a worker to its first entry, until that is learned.
        idle_for: A pool that may go to zero does so after this long without arrivals.
        prefetch: Entries that keep one worker busy; more workers than work has portions are of no use.
        lanes: Shards or ordering lanes, where work may only be split so far; none where it may be split at will.
        by_arrivals: Whether arrivals alone may call for workers while the lag is unknown.
        tuning: The policy's own numbers.
    """

    minimum: Workers = 1
    maximum: Some = 10
    objective: timedelta = timedelta(seconds=30)
    start_up: timedelta = timedelta(seconds=20)
    idle_for: timedelta = timedelta(minutes=5)
    prefetch: Some = 1
    lanes: Some | None = None
    by_arrivals: bool = True
    tuning: Tuning = Tuning()

    def __post_init__(self) -> None:
        if self.minimum > self.maximum:
            raise ValueError("minimum must not be above maximum")
        if self.objective <= timedelta(0) or self.start_up < timedelta(0) or self.idle_for < timedelta(0):
            raise ValueError("objective must be longer than zero, start_up and idle_for not negative")
