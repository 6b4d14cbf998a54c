"""What an operator sets for a pool, and every constant of the policy."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct


class Tuning(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every constant of the policy, found by simulation: unit, meaning, and why it is no other.

    Attributes:
        half_life: Seconds; of the mean of arrivals. Three readings: one odd interval moves it little, a step is half seen
            before workers that were ordered at once are there.
        rate_samples: Count; the rate of one worker is their median, which two odd ones do not move.
        rate_entries: Entries that an interval must have handled to tell a rate; fewer are chance.
        rate_busy: Share of time; workers less busy tell nothing about their rate, as a quotient of two small numbers.
        start_weight: Share of the newest start-up in their mean: half, because images and nodes change.
        stuck_after: Seconds without an acknowledgement until more workers are thought useless: longer than most handlers.
        not_starting: Start-up times until workers that were ordered are given up: one may be slow, three are a fault.
        ahead_share: Share of the objective; a predicted wait above it calls for workers while half the time is left.
        now_share: Share of the objective that the wait must have reached by then: shorter queues drain by themselves.
        use: Share of their time that workers are meant to be busy: the rest takes up noise.
        pressed_use: Arrivals over capacity from which the pool is too small even without a backlog.
        pressed_for: Seconds that they must stay above it: chance seldom lasts as long.
        factor: Times the workers; no decision orders more: rates may be wrong at first.
        addition: Workers; or so many more, lest small pools grow too slowly.
        safe_share: Share of the objective that the wait of a replay, or of a peak like earlier ones, may reach.
        look_back: Seconds of the past that a replay of fewer workers takes.
        least_look: Seconds that must be known before any worker is let go.
        memory: Seconds that peaks are remembered, and that a replay takes once peaks recur.
        cooldown: Seconds between a change and a scale-down: what was ordered must have shown.
        recurring: Peaks remembered that make a replay take all that is remembered.
        excusing: Earlier peaks that were worked off, which excuse another one like them.
        alike: Share of this peak's height that an earlier one must have had.
        idle: Seconds of work; a backlog below it is none, but entries on their way.
        trial_readings: Readings with a standing queue before a scale-up is judged.
        trial_doubtful: Readings after which it is, though they differ too much to be sure.
        trial_error: Standard errors that a gain must be short by to be called too small.
        patience: Seconds after the start-up until a trial without a verdict is given up.
        gain: Share of added capacity that must show, else the pool is saturated.
        knee: Times what is handled at saturation that the cap allows, so that the cap is not what limits.
        retry: Seconds until a saturated pool is tried again; doubled each time.
        retry_most: Seconds; the longest of these pauses.
        retry_step: Times the cap that is tried.
        clear: Seconds without a backlog that forget a saturation.
    """

    half_life: float = 15.0
    rate_samples: int = 5
    rate_entries: int = 10
    rate_busy: float = 0.02
    start_weight: float = 0.5
    stuck_after: float = 45.0
    not_starting: float = 3.0
    ahead_share: float = 0.5
    now_share: float = 0.25
    use: float = 0.85
    pressed_use: float = 0.95
    pressed_for: float = 25.0
    factor: int = 4
    addition: int = 4
    safe_share: float = 0.8
    look_back: float = 120.0
    least_look: float = 60.0
    memory: float = 900.0
    cooldown: float = 45.0
    recurring: int = 2
    excusing: int = 3
    alike: float = 0.9
    idle: float = 0.5
    trial_readings: int = 3
    trial_doubtful: int = 8
    trial_error: float = 2.0
    patience: float = 60.0
    gain: float = 0.3
    knee: float = 1.02
    retry: float = 300.0
    retry_most: float = 3600.0
    retry_step: float = 1.25
    clear: float = 300.0


Workers = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]


class ScalingConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and objective of a pool. ``ValueError`` where they contradict each other.

    Attributes:
        minimum: Workers there are at least; 0 lets a pool go to zero.
        maximum: Maximum workers.
        objective: Target lag age: the longest that an entry should wait.
        start_up: From ordering a worker to its first entry, until that is learned.
        idle_for: A pool that may go to zero does so after this long without arrivals.
        prefetch: Entries that keep one worker busy; more workers than work has portions are of no use.
        by_arrivals: Whether arrivals alone may call for workers while the lag is unknown.
        tuning: The policy's own numbers.
    """

    minimum: Workers = 1
    maximum: Some = 10
    objective: timedelta = timedelta(seconds=30)
    start_up: timedelta = timedelta(seconds=20)
    idle_for: timedelta = timedelta(minutes=5)
    prefetch: Some = 1
    by_arrivals: bool = True
    tuning: Tuning = Tuning()

    def __post_init__(self) -> None:
        if self.minimum > self.maximum:
            raise ValueError("minimum must not be above maximum")
        if self.objective <= timedelta(0) or self.start_up < timedelta(0) or self.idle_for < timedelta(0):
            raise ValueError("objective must be longer than zero, start_up and idle_for not negative")
