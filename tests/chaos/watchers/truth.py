"""What streams and their groups were at each instant, by the server's clock: read with each change, in one transaction."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from streamops.model.entries import EntryId
from tests.chaos.histories.moving_truth import GroupTruth, Instant

SLACK: Final = 0.02
"""Seconds by which the clocks of two replies of one machine may differ: servers keep the time in steps."""

READ: Final = """
local function fields(flat)
  local named = {}
  for at = 1, #flat, 2 do named[flat[at]] = flat[at + 1] end
  return named
end
local time = redis.call('TIME')
if redis.call('EXISTS', KEYS[1]) == 0 then return {time} end
local ids, groups = {}, {}
for at, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do ids[at] = entry[1] end
for at, flat in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields(flat)
  local members = {}
  for number, row in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], group['name'])) do
    local member = fields(row)
    members[number] = {member['name'], member['pending']}
  end
  local rows = redis.call('XPENDING', KEYS[1], group['name'], '-', '+', 100000)
  groups[at] = {group['name'], group['last-delivered-id'], rows, members}
end
return {time, ids, groups}
"""
"""A stream as it is. KEYS[1]: the stream. Returns {TIME, IDs, groups}; the time alone where there is none."""


class Reading:
    """A stream at one instant, decoded when somebody asks.

    Attributes:
        at: When it was read, in seconds of the server's clock.
        there: Whether there was one.
    """

    def __init__(self, reply: Sequence[Any]) -> None:
        seconds, microseconds = reply[0]
        self.at = int(seconds) + int(microseconds) / 1e6
        self.there = len(reply) > 1
        self._reply = reply

    @cached_property
    def ids(self) -> tuple[EntryId, ...]:
        """Its entries."""
        return tuple(map(EntryId.parse, self._reply[1])) if self.there else ()

    @cached_property
    def instant(self) -> Instant | None:
        """All of it; none where there was none."""
        return Instant(self.ids, dict(self._groups())) if self.there else None

    @property
    def groups(self) -> dict[str, GroupTruth]:
        """Its groups by name."""
        return {} if self.instant is None else self.instant.groups

    def _groups(self) -> Iterator[tuple[str, GroupTruth]]:
        for name, raw, rows, members in self._reply[2]:
            position = EntryId.parse(raw)
            yield (
                name.decode(),
                GroupTruth(
                    position,
                    tuple(EntryId.parse(row[0]) for row in rows),
                    tuple(sorted((one.decode(), pending) for one, pending in members)),
                    tuple(one for one in self.ids if one > position),
                ),
            )


class Spell:
    """How long a stream was what a reading says.

    Attributes:
        since: When that may have begun, at the earliest.
        reading: The reading.
    """

    def __init__(self, since: float, reading: Reading) -> None:
        self.since = since
        self.reading = reading


class Journal:
    """Everything that one stream ever was, in order."""

    def __init__(self) -> None:
        self._spells: list[Spell] = []

    @property
    def begun(self) -> bool:
        """Whether there is a reading."""
        return bool(self._spells)

    @property
    def now(self) -> Reading:
        """What it was when it was read last."""
        return self._spells[-1].reading

    def note(self, reading: Reading, since: float | None = None) -> None:
        """One more reading.

        Args:
            reading: The reading.
            since: When it may have become so; when it was read unless given, which is right for the transaction that
                changed it.
        """
        self._spells.append(Spell(reading.at if since is None else since, reading))

    def between(self, start: float, end: float) -> list[Reading]:
        """All that it may have been from one instant to another."""
        ends = [after.reading.at for _, after in pairwise(self._spells)] + [float("inf")]
        return [
            spell.reading
            for spell, until in zip(self._spells, ends, strict=True)
            if spell.since <= end + SLACK and until >= start - SLACK
        ]

    def forget_before(self, start: float) -> None:
        """Drop what was over before an instant."""
        kept = [spell for spell, after in pairwise(self._spells) if after.reading.at >= start - SLACK]
        self._spells = [*kept, self._spells[-1]]
