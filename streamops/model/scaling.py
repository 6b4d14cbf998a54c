"""How much work a pool of workers has before it, and what was decided about their number."""

from enum import StrEnum

from msgspec import Struct

from streamops.model.lag import Lag


class Demand(Struct, frozen=True, kw_only=True, gc=False):
    """One reading of a group's work and of the pool that does it. Times are seconds.

    Attributes:
        at: When it was read, in seconds by the server's clock.
        added: Entries ever added to the stream; always known.
        lag: Entries not yet delivered, with what that rests on.
        head_age: How long the first of them has waited; none where unknown.
        pending: Entries delivered and not acknowledged.
        acked: Entries ever acknowledged.
        ordered: Workers asked for, ready or not.
        ready: Workers that heartbeat.
        busy: Mean share of their slots that was busy since the last reading; none where they do not tell.
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

    @property
    def waiting(self) -> int | None:
        """Entries that wait; none where no count can be trusted.

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
