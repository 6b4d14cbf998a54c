"""How many groups are in each health, counted again only where something changed."""

from streamops.model.observation import Health, Observation, StreamView
from streamops.tui.remember import Remembered

HEALTHS = tuple(Health)


class Tally:
    """Counts groups by health; a stream without groups counts for itself."""

    def __init__(self) -> None:
        self._of_stream = Remembered[StreamView, tuple[int, ...]](_count)

    def count(self, observation: Observation) -> dict[Health, int]:
        """The groups of an observation by health."""
        counts = self._of_stream.values(observation.streams)
        return dict(zip(HEALTHS, map(sum, zip(*counts, strict=True)), strict=False))


def _count(stream: StreamView) -> tuple[int, ...]:
    counts = [0] * len(HEALTHS)
    for health in [group.health for group in stream.groups] or [stream.health]:
        counts[health] += 1
    return tuple(counts)
