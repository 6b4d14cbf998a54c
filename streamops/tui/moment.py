"""What the console knows at one moment: the one thing that is passed down to screens."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from streamops.model.observation import Health, Observation
from streamops.present.views import View
from streamops.tui.deed import Deed
from streamops.tui.pace import Pace
from streamops.tui.source import ContextInfo

if TYPE_CHECKING:  # The first rows are drawn without a past.
    from streamops.present.alerts import AlertRow
    from streamops.tui.past.memory import Past


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


class Stranger(Struct, frozen=True):
    """Another server answers at the address than did before, until the person accepts it.

    Attributes:
        known: Replication IDs of the one that is known.
        answers: Replication IDs of the one that answers.
    """

    known: tuple[str, ...]
    answers: tuple[str, ...]


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
        views: Saved views, by name.
        stranger: Which other server answers here than did before; none where it is the same.
        typed: What was typed in prompts, by their signs, the oldest first.
        deeds: What is being done to the server, and what was done last, newest last.
        past: What was observed before, for charts; it grows with each observation, and screens only read it. None
            before the first rows are drawn.
        alerts: The findings that hold, in the order to look at them.
        keymap: Keys of the person's own, by the names of bindings.
    """

    context: ContextInfo
    pace: Pace
    observation: Observation | None = None
    arrived: float = 0.0
    loss: Loss | None = None
    frozen: bool = False
    contexts: tuple[ContextInfo, ...] = ()
    tally: dict[Health, int] = {}
    views: Mapping[str, View] = {}
    typed: Mapping[str, tuple[str, ...]] = {}
    stranger: Stranger | None = None
    deeds: tuple[Deed, ...] = ()
    past: "Past | None" = None
    alerts: "tuple[AlertRow, ...]" = ()
    keymap: Mapping[str, str] = {}

    @property
    def read_only(self) -> bool:
        """Whether nothing may be changed: the context says so, or another server answers than the one first seen."""
        return self.context.read_only or self.stranger is not None

    @property
    def may_plan(self) -> bool:
        """Whether plans may be made, if only to be looked at."""
        return not self.read_only or self.context.shows_plans
