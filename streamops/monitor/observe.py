"""The observer: snapshots in, observations out, a bounded memory in between."""

from streamops.model.observation import Observation
from streamops.model.snapshot import Snapshot
from streamops.monitor.assess import assess
from streamops.monitor.history import History, advance
from streamops.monitor.thresholds import Thresholds


class Observer:
    """Remembers what snapshots showed and judges each in that light.

    Not safe for use from several threads or of several servers: one observer watches one server.

    Args:
        rates: Whether its observations tell rates, beyond what the rules need of them.

    Attributes:
        thresholds: When the health rules speak; may be exchanged between snapshots.
    """

    def __init__(self, thresholds: Thresholds, *, rates: bool = True) -> None:
        self.thresholds = thresholds
        self._rates = rates
        self._history: History | None = None

    def observe(self, snapshot: Snapshot, *, partial: bool = False) -> Observation:
        """Remember a snapshot and judge it.

        Streams and groups that vanished are forgotten; those absent because of a gap are not.

        Args:
            snapshot: What was collected, later than the one before.
            partial: Whether it was collected of some streams only; the others are then not forgotten.
        """
        self._history = advance(self._history, snapshot, self.thresholds, partial=partial)
        return assess(snapshot, self._history, self.thresholds, rates=self._rates)

    def with_rates(self, observation: Observation) -> Observation:
        """The last observation with rates, where it was made without them."""
        if self._rates or self._history is None:
            return observation
        return assess(observation.snapshot, self._history, self.thresholds)
