"""Since when each finding holds, and the memory of one context."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.model.observation import Finding, Observation, StreamView
from streamops.resources.findings import AlertRow, FindingKey, worst_then_newest
from streamops.tui.history.memory import MetricsHistory
from streamops.tui.rows.ordering import PerItemCache

GRACE: Final = timedelta(minutes=1)
"""How long a finding may be out of sight and still be the same one when it is back."""

Found = tuple[FindingKey, Finding]


class _Seen(Struct):
    """When a finding was seen."""

    first: datetime
    last: datetime
    from_start: bool


class FindingsTracker:
    """The findings of one server, from observation to observation."""

    def __init__(self) -> None:
        self._sights: dict[tuple[FindingKey, EntryId | None], _Seen] = {}
        self._of_stream = PerItemCache[StreamView, tuple[Found, ...]](_found_about)
        self._found: Sequence[Found] = ()
        self._rows: dict[tuple[FindingKey, int], AlertRow] = {}
        self._shown: tuple[AlertRow, ...] = ()
        self._has_seen_all = False

    def take(self, observation: Observation) -> tuple[AlertRow, ...]:
        """Take an observation whose retry streams are folded into their groups; the findings that hold in it."""
        now = observation.snapshot.collected_at
        found: list[Found] = [
            ((str(finding.code), finding.stream, None), finding) for finding in observation.findings
        ]
        for about in self._of_stream.values(observation.streams):
            found += about
        changed = self._see(found, now) or found != self._found
        # What is found before all streams were seen once may be as old as they are.
        self._has_seen_all = self._has_seen_all or observation.snapshot.discovery_complete
        self._found = found
        return self._order() if changed else self._shown

    # -- inside --------------------------------------------------------------------------------------

    def _see(self, found: Sequence[Found], now: datetime) -> bool:
        """Note what is in sight; say whether something came."""
        came = False
        for key, finding in found:
            # Another entry is another cause, though the same is wrong with it.
            seen = (key, finding.entry)
            sight = self._sights.get(seen)
            if sight is None or abs(now - sight.last) > GRACE:
                self._sights[seen] = _Seen(now, now, not self._has_seen_all)
                came = True
            else:
                sight.last = now
        if len(self._sights) > len(found):
            self._sights = {
                seen: sight for seen, sight in self._sights.items() if abs(now - sight.last) <= GRACE
            }
        return came

    def _order(self) -> tuple[AlertRow, ...]:
        """Make the rows, in the order to look at them; what did not change is the very same row."""
        numbers: dict[FindingKey, int] = {}
        rows: dict[tuple[FindingKey, int], AlertRow] = {}
        for key, finding in self._found:
            number = numbers[key] = numbers.get(key, -1) + 1
            sight, (_, stream, group) = self._sights[key, finding.entry], key
            row = AlertRow(stream, group, finding, number, sight.first, sight.from_start)
            known = self._rows.get((key, number))
            rows[key, number] = known if known is not None and known == row else row
        self._rows, self._shown = rows, worst_then_newest(list(rows.values()))
        return self._shown


def _found_about(view: StreamView) -> tuple[Found, ...]:
    name = view.stream.name
    found: list[Found] = [((str(finding.code), name, None), finding) for finding in view.findings]
    for group in view.groups:
        found += [((str(finding.code), name, group.group.name), finding) for finding in group.findings]
    return tuple(found)


class AlertMonitor:
    """The memory of one context, made once the first rows are on the screen.

    Attributes:
        past: What was observed before.
        firing: The findings that hold, in the order to look at them.
    """

    def __init__(self) -> None:
        self.past = MetricsHistory()
        self.firing: tuple[AlertRow, ...] = ()
        self._alerts = FindingsTracker()

    def take(self, observation: Observation, streams: Sequence[StreamView], every: timedelta | None) -> None:
        """Note an observation, its streams with their retries, and the time from one to the next as it was asked for."""
        self.past.take(observation, every)
        self.firing = self._alerts.take(replace(observation, streams=tuple(streams)))
