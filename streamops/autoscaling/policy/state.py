"""What the policy remembers of a pool between two readings. All times are seconds by the server's clock."""

from msgspec import Struct

from streamops.model.scaling import ScaleDecision


class Sample(Struct, frozen=True, gc=False):
    """One reading, as far as later ones need it.

    Attributes:
        at: When.
        added: Entries ever added.
        acked: Entries ever acknowledged.
        waiting: Entries not delivered; none where unknown.
        ready: Workers that worked.
        ordered: Workers asked for.
        level: Mean of arrivals a second at the time.
        arrivals: Arrivals a second since the reading before.
        handled: Entries acknowledged a second since the reading before.
    """

    at: float
    added: int
    acked: int
    waiting: int | None
    ready: int
    ordered: int
    level: float
    arrivals: float
    handled: float


class Peak(Struct, frozen=True, gc=False):
    """A backlog that rose and was worked off, or is still there.

    Attributes:
        at: When it was last seen.
        height: The most entries that waited.
        wait: The longest wait it meant, in seconds.
        workers: The most workers there were.
    """

    at: float
    height: int
    wait: float
    workers: int


class Trial(Struct, frozen=True):
    """Whether workers that were ordered made a difference.

    Attributes:
        before: Entries handled a second before.
        rate: What one worker handled a second before.
        workers: How many worked before.
        target: How many were asked for.
        until: When it is given up, should they not all come or no queue stand.
        handled: What was handled a second in the readings since, while all worked and a queue stood.
    """

    before: float
    rate: float
    workers: int
    target: int
    until: float
    handled: tuple[float, ...] = ()

    @property
    def expected(self) -> float:
        """Entries a second that those who were added should handle."""
        return (self.target - self.workers) * self.rate

    @property
    def after(self) -> float:
        """The mean of what has been handled a second since; 0 where no reading told."""
        return sum(self.handled) / len(self.handled) if self.handled else 0.0

    @property
    def gain(self) -> float:
        """The share of added capacity that has shown so far."""
        return (self.after - self.before) / self.expected


class Cap(Struct, frozen=True, gc=False):
    """More workers than this do not help.

    Attributes:
        workers: That number.
        handled: Entries a second that they handle.
        gain: The share of added capacity that showed when it was found.
        since: When it was found.
        pause: How long until it is tried again.
    """

    workers: int
    handled: float
    gain: float
    since: float
    pause: float


class ScalingState(Struct, frozen=True, kw_only=True):
    """The memory of ``decide``; a new one has none.

    Attributes:
        samples: The readings of the last minutes, oldest first.
        rates: The last samples of what one worker handles a second.
        starting: When each worker that is not ready was ordered, oldest first.
        start_up: How long workers take to start, once learned.
        stalled_since: Since when nothing has been acknowledged though there is work.
        pressed_since: Since when forecast arrivals have been above capacity.
        calm_since: Since when no backlog has been known.
        arrived_at: When something was last added.
        changed_at: When a change was last decided.
        direction: Which way: 1, -1, or 0 for none yet.
        damping: How often flaps have doubled the cooldown.
        climb: The backlog that is there.
        peaks: Backlogs that were worked off.
        trial: A scale-up whose effect is not known yet.
        cap: What saturation has taught.
        last: The last decision.
    """

    samples: tuple[Sample, ...] = ()
    rates: tuple[float, ...] = ()
    starting: tuple[float, ...] = ()
    start_up: float | None = None
    stalled_since: float | None = None
    pressed_since: float | None = None
    calm_since: float | None = None
    arrived_at: float | None = None
    changed_at: float | None = None
    direction: int = 0
    damping: int = 0
    climb: Peak | None = None
    peaks: tuple[Peak, ...] = ()
    trial: Trial | None = None
    cap: Cap | None = None
    last: ScaleDecision | None = None

    @property
    def rate(self) -> float | None:
        """What one worker handles a second; none where that has not been seen."""
        return sorted(self.rates)[len(self.rates) // 2] if self.rates else None
