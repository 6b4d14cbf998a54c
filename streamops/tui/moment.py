"""What the console knows at one moment: the one thing that is passed down to screens."""

from msgspec import Struct

from streamops.model.observation import Health, Observation
from streamops.tui.deed import Deed
from streamops.tui.pace import Pace
from streamops.tui.source import ContextInfo


class Loss(Struct, frozen=True):
    """Why there is no fresh data.

    Attributes:
        message: What is wrong.
        hint: What to do about it; may be empty.
        retry_at: When it is tried again, on this machine's monotonic clock; none where it is not.
    """

    message: str
    hint: str
    retry_at: float | None


class Moment(Struct, frozen=True):
    """The newest observation and how fresh it is.

    Attributes:
        context: Where it comes from.
        pace: How often it is renewed.
        observation: The newest observation that may be shown; none before the first.
        arrived: When it came, on this machine's monotonic clock.
        loss: Why no newer one came; none while all is well.
        frozen: Whether the person froze the screen.
        contexts: All contexts there are.
        tally: Groups by health.
        deeds: What is being done to the server, and what was done last, newest last.
    """

    context: ContextInfo
    pace: Pace
    observation: Observation | None = None
    arrived: float = 0.0
    loss: Loss | None = None
    frozen: bool = False
    contexts: tuple[ContextInfo, ...] = ()
    tally: dict[Health, int] = {}
    deeds: tuple[Deed, ...] = ()
