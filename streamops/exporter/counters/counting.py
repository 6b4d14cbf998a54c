"""Counters that Redis does not keep: what moved from one observation to the next, added up. Pure; none ever falls.

What was counted of a stream or a group is kept while its counters are set, while it is made anew, and for a
quarter of an hour after it was last seen. A step that cannot be told adds nothing, and is itself counted.
"""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Final

from msgspec import Struct

from streamops.exporter.counters.streams import (
    Absent,
    Step,
    StreamCount,
    advance_stream,
    begin_stream,
)
from streamops.model.observation import Observation

MOST_AWAY: Final = 20_000
"""Streams out of sight that are remembered at once; the longest gone are forgotten first."""


class Counters(Struct, frozen=True):
    """What was counted so far.

    Attributes:
        streams: Of the streams of the last observation, by name.
        away: Of streams that were not in it, by name, the longest gone first.
        at: The server's clock at the last observation; none before the first.
    """

    streams: Mapping[str, StreamCount] = {}
    away: Mapping[str, Absent[StreamCount]] = {}
    at: datetime | None = None


NO_COUNTERS: Final = Counters()


def advance(counters: Counters | None, observation: Observation) -> Counters:
    """The counters with one more observation; those of streams that did not change are the same objects."""
    past = counters or NO_COUNTERS
    step = Step.of(observation.snapshot, past.at)
    known, streams = past.streams, {}
    for view in observation.streams:
        state = view.stream
        name = state.name
        before = known.get(name)
        if before is None and name in past.away:
            before = past.away[name].count
        streams[name] = begin_stream(state) if before is None else advance_stream(before, state, step)
    return Counters(streams, _away(past, streams, step), step.now)


def _away(
    past: Counters, streams: Mapping[str, StreamCount], step: Step
) -> Mapping[str, Absent[StreamCount]]:
    """The streams that are out of sight now, and have not been for too long."""
    away = {
        name: absent
        for name, absent in past.away.items()
        if name not in streams and step.remembers(absent.since)
    }
    if not past.streams.keys() <= streams.keys():
        away.update(
            (name, Absent(step.now, count)) for name, count in past.streams.items() if name not in streams
        )
    surplus = len(away) - MOST_AWAY
    return dict(islice(away.items(), surplus, None)) if surplus > 0 else away
