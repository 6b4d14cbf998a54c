"""What the console makes of one observation after another: a past for charts, and the findings that hold."""

from datetime import timedelta

from streamops.model.observation import Observation
from streamops.present.alerts import AlertRow
from streamops.tui.alerting import Alerts
from streamops.tui.past.memory import Past


class Noticing:
    """The memory of one context, made once the first rows are on the screen.

    Attributes:
        past: What was observed before.
        firing: The findings that hold, in the order to look at them.
    """

    def __init__(self) -> None:
        self.past = Past()
        self.firing: tuple[AlertRow, ...] = ()
        self._alerts = Alerts()

    def take(self, observation: Observation, every: timedelta | None) -> None:
        """Note an observation; those are asked for with so much time between them."""
        self.past.take(observation, every)
        self.firing = self._alerts.take(observation)
