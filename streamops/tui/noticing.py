"""What the console makes of one observation after another: a past for charts, and the findings that hold."""

from collections.abc import Callable
from datetime import datetime, timedelta

from streamops.errors import SettingsError
from streamops.model.observation import Observation
from streamops.model.silences import FindingKey, Silence
from streamops.present.alerts import AlertRow
from streamops.tui.alerting import Alerts
from streamops.tui.past.memory import Past
from streamops.tui.source import SilenceStore


class Noticing:
    """The memory of one context, made once the first rows are on the screen.

    Args:
        store: Where silences are kept; none where they end with the console.
        complain: Says what is wrong with that place.

    Attributes:
        past: What was observed before.
        firing: The findings that hold, in the order to look at them.
    """

    def __init__(self, store: SilenceStore | None, complain: Callable[[SettingsError], object]) -> None:
        self.past = Past()
        self.firing: tuple[AlertRow, ...] = ()
        self._alerts = Alerts()
        self._store = store
        self._complain = complain
        self.read_silences()

    @property
    def silences_at(self) -> str:
        """The file where silences are kept; empty where they end with the console."""
        return "" if self._store is None else self._store.where

    def take(self, observation: Observation, every: timedelta | None) -> None:
        """Note an observation; those are asked for with so much time between them."""
        self.past.take(observation, every)
        self.firing = self._alerts.take(observation)

    def read_silences(self) -> None:
        """Look what is silenced: another console of the same person may have silenced more."""
        if self._store is None:
            return
        try:
            self.firing = self._alerts.replace(self._store.read())
        except SettingsError as error:
            self._complain(error)

    def silence(self, key: FindingKey, until: datetime | None) -> None:
        """Silence a finding until an instant, or no longer."""

        def edit(kept: tuple[Silence, ...]) -> tuple[Silence, ...]:
            self._alerts.replace(kept)
            self._alerts.silence(key, until)
            return self._alerts.silences

        if self._store is not None:
            try:
                self._store.update(edit)
            except SettingsError as error:
                self._complain(error)
        self.firing = self._alerts.silence(key, until)
