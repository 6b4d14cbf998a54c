"""How many groups are in each health, counted again only where something changed."""

from collections.abc import Sequence

from streamops.model.observation import Health, Observation, StreamView


class Tally:
    """Counts groups by health; a stream without groups counts for itself."""

    def __init__(self) -> None:
        self._streams: Sequence[StreamView] = ()
        self._counts = [0] * len(Health)

    def count(self, observation: Observation) -> dict[Health, int]:
        """The groups of an observation by health; nothing of a health that none is in."""
        before, self._streams = self._streams, observation.streams
        if len(before) == len(self._streams):
            # Two observations share every stream that did not change, at the same place.
            for old, new in zip(before, self._streams, strict=True):
                if old is not new:
                    self._add(old, -1)
                    self._add(new, 1)
        else:
            self._counts = [0] * len(Health)
            for stream in self._streams:
                self._add(stream, 1)
        return {health: number for health, number in zip(Health, self._counts, strict=True) if number}

    def _add(self, stream: StreamView, number: int) -> None:
        if not stream.groups:
            self._counts[stream.health] += number
        for group in stream.groups:
            self._counts[group.health] += number
