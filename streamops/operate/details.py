"""What a collection reads of groups beyond themselves: consumers, heartbeats, pending entries."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import chain

from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.model.entries import PendingEntry
from streamops.model.pending import PendingProfile
from streamops.model.readings import GroupReading, StreamReading
from streamops.model.snapshot import Gap
from streamops.model.streams import Consumer
from streamops.operate.profiles import ProfileKeeper
from streamops.wire.consuming.hearts import WORKER_PREFIX, alive
from streamops.wire.faults import Fault
from streamops.wire.reads import PendingRange, read_consumers, read_pending
from streamops.wire.server import Server

MAX_CONSUMERS = 1_000
"""Groups with more consumers than this are shown without them: reading 10,000 blocks the server for a millisecond."""

MAX_HEARTS = 1_000
"""Silent workers that one collection asks after."""

HEART_SILENCE = timedelta(seconds=15)
"""Whoever has a heartbeat may be silent; who has been heard of since is alive without being asked after."""

GroupKey = tuple[str, str]


class Details:
    """What is known of groups beyond their readings.

    Attributes:
        members: Consumers, where they did not come with the group's reading, or more is known of them.
        oldest: The oldest pending entries that did not.
        profiles: Pending entries, profiled.
        gaps: What could not be read.
    """

    def __init__(self) -> None:
        self.members: dict[GroupKey, tuple[Consumer, ...]] = {}
        self.oldest: dict[GroupKey, PendingEntry] = {}
        self.profiles: dict[GroupKey, PendingProfile] = {}
        self.gaps: list[Gap] = []

    def members_of(self, stream: str, group: GroupReading) -> tuple[Consumer, ...] | None:
        """The consumers of a group; none where they were not read."""
        return self.members.get((stream, group.name), group.members)


class DetailReader:
    """Reads details of the groups of one server."""

    def __init__(self, server: Server, profiles: ProfileKeeper) -> None:
        self._server = server
        self._profiles = profiles

    async def read(self, streams: Sequence[StreamReading]) -> Details:
        """Consumers, rolling scans, and the oldest pending entries where the first reading had to leave them out."""
        details = Details()
        groups = [(stream.name, group) for stream in streams for group in stream.groups]
        _, _, details.profiles = await asyncio.gather(
            self._read_members(groups, details),
            self._read_oldest(groups, details),
            self._profiles.advance(groups),
        )
        return details

    async def read_hearts(self, streams: Sequence[StreamReading], details: Details) -> None:
        """Which of our own workers are alive, of those that have been silent for longer than any heartbeat lives."""
        read = (group.members for stream in streams for group in stream.groups if group.members)
        silent = {
            member.name
            for members in chain(read, details.members.values())
            for member in members
            if member.pending and member.name.startswith(WORKER_PREFIX) and member.idle >= HEART_SILENCE
        }
        asked = sorted(silent)[:MAX_HEARTS]
        if not asked:
            return
        try:
            living = await alive(self._server, asked)
        except ServerError:
            # It may not be asked, and stays a suspicion.
            return
        known = {name: name in living for name in asked}
        for stream in streams:
            for group in stream.groups:
                members = details.members_of(stream.name, group)
                if members and any(member.name in known for member in members):
                    details.members[stream.name, group.name] = tuple(
                        replace(member, alive=known.get(member.name)) for member in members
                    )

    async def _read_members(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        """The consumers of groups whose reading came without."""
        apart = []
        for stream, group in groups:
            key = stream, group.name
            if group.members is not None:
                continue
            if group.consumers == 0:
                details.members[key] = ()
            elif group.consumers > MAX_CONSUMERS:
                details.gaps.append(_too_many(stream, group))
            else:
                apart.append(key)
        for key, members in zip(apart, await read_consumers(self._server, apart), strict=True):
            if isinstance(members, Fault):
                details.gaps.append(Gap(members.reason, *key, part="consumers"))
            else:
                details.members[key] = members

    async def _read_oldest(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        missing = [
            PendingRange(stream, group.name, None, 1)
            for stream, group in groups
            if group.pending and group.oldest_pending is None
        ]
        for page, rows in zip(missing, await read_pending(self._server, missing), strict=True):
            if isinstance(rows, Fault):
                details.gaps.append(Gap(rows.reason, page.stream, page.group, "pending entries"))
            elif rows:
                details.oldest[page.stream, page.group] = rows[0]


def _too_many(stream: str, group: GroupReading) -> Gap:
    reason = f"{group.consumers:,} consumers, more than the {MAX_CONSUMERS:,} read in every collection"
    return Gap(reason, stream, group.name, "consumers", capped=True)
