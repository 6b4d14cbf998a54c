"""What a server says of the stream that histories are about, asked plainly: nothing of this is streamops."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import redis

from tests.chaos.ledger import FoundDeadLetter
from tests.chaos.worker import GROUP, STREAM
from tests.support.servers import RunningServer
from tests.support.streams import consumer_names

RETRIES, LETTERS = f"{{{STREAM}}}:retry:{GROUP}", f"{{{STREAM}}}:dlq"
DELAYED, MARKS = f"{{{STREAM}}}:delayed", f"{{{STREAM}}}:attempts:{GROUP}"
BODIES = f"{DELAYED}:jobs"
GUARDS = f"{{{STREAM}}}:done:{GROUP}:"
FOREIGN = b"foreign:"
"""What members of the queue begin with that another program wrote."""
ROSTER = "streamops:roster:"
HEARTS = "streamops:worker:"

AT_ONCE = """
local groups = {}
for _, row in ipairs(redis.call('EXISTS', KEYS[1]) == 1 and redis.call('XINFO', 'GROUPS', KEYS[1]) or {}) do
    local group = {}
    for at = 1, #row, 2 do group[row[at]] = row[at + 1] end
    groups[group.name] = group
end
local group = groups[ARGV[1]]
if not group then return {} end
local ids = {}
for at, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do ids[at] = entry[1] end
return {group['last-delivered-id'], group.pending, ids, redis.call('XPENDING', KEYS[1], ARGV[1])}
"""
"""A stream and a group at one instant."""

EntryId = tuple[int, int]


class Instant(NamedTuple):
    """A stream and one group of it at one instant.

    Attributes:
        position: The last ID delivered.
        pending: How many entries are pending.
        ids: The stream's entries.
        summary: What XPENDING says.
    """

    position: EntryId
    pending: int
    ids: tuple[EntryId, ...]
    summary: tuple[Any, ...]

    @property
    def unread(self) -> int:
        """How many entries are not yet delivered."""
        return len(self.after(self.position))

    def after(self, position: EntryId) -> set[EntryId]:
        """The entries after an ID."""
        return {one for one in self.ids if one > position}


def instant(server: RunningServer, stream: str = STREAM, group: str = GROUP) -> Instant | None:
    """A stream and a group as they are now; none where there is no such group."""
    told = server.command("EVAL", AT_ONCE, 1, stream, group)
    if not told:
        return None
    position, pending, ids, summary = told
    return Instant(parsed(position), pending, tuple(map(parsed, ids)), tuple(map(str, summary)))


def parsed(raw: bytes) -> EntryId:
    """An ID's two numbers."""
    ms, _, seq = raw.partition(b"-")
    return int(ms), int(seq)


def is_idle(server: RunningServer) -> bool:
    """Whether there is nothing to do: nothing unread, pending, due again or delayed."""
    ask = server.command
    return (
        unread(ask, STREAM) == 0
        and ask("XPENDING", STREAM, GROUP)[0] == 0
        and ask("XPENDING", RETRIES, GROUP)[0] == 0
        and ask("XLEN", RETRIES) == 0
        and all(member.startswith(FOREIGN) for member in ask("ZRANGE", DELAYED, 0, -1))
    )


def foreign_members(server: RunningServer) -> dict[bytes, float]:
    """The members of the queue that another program wrote, with their scores."""
    rows = server.command("ZRANGE", DELAYED, 0, -1, "WITHSCORES")
    pairs = zip(rows[::2], map(float, rows[1::2]), strict=True)
    return {member: score for member, score in pairs if member.startswith(FOREIGN)}


def hearts(server: RunningServer) -> set[str]:
    """Which workers beat."""
    return {name.decode().removeprefix(HEARTS) for name in server.command("KEYS", f"{HEARTS}*")}


def letters(server: RunningServer, key: str = LETTERS) -> list[FoundDeadLetter]:
    """The dead letters."""
    rows = server.command("XRANGE", key, "-", "+")
    told = [dict(zip(raw[::2], raw[1::2], strict=True)) for _, raw in rows]
    return [
        FoundDeadLetter(
            row[b"_so_origin_id"].decode(),
            row[b"_so_reason"].decode(),
            int(row[b"_so_attempt"]),
            # There is none of an entry that was trimmed.
            row.get(b"order", b"").decode(),
        )
        for row in told
    ]


def ids_of(server: RunningServer, stream: str = STREAM) -> set[str]:
    """The IDs of a stream's entries."""
    return {entry.decode() for entry, _ in server.command("XRANGE", stream, "-", "+")}


def unsettled(server: RunningServer) -> set[str]:
    """What is still to be delivered, or pending."""
    now = instant(server)
    if now is None:
        return ids_of(server)
    rows = server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)
    return {row[0].decode() for row in rows} | {f"{ms}-{seq}" for ms, seq in now.after(now.position)}


def state(server: RunningServer) -> str:
    """What there is to do, and who is there, for a message."""
    ask = server.command
    return (
        f"unread {unread(ask, STREAM)}, pending {ask('XPENDING', STREAM, GROUP, '-', '+', 5)}, "
        f"due {ask('XPENDING', RETRIES, GROUP, '-', '+', 5)} of {ask('XLEN', RETRIES)}, delayed {ask('ZCARD', DELAYED)}, "
        f"consumers {consumer_names(server, STREAM, GROUP)} {consumer_names(server, RETRIES, GROUP)}, hearts {ask('KEYS', f'{HEARTS}*')}"
    )


def dump(server: RunningServer, key: str) -> Any:  # noqa: ANN401 - for a message
    """A key's value, or what it is."""
    return server.command("HGETALL", key) if key == MARKS else server.command("TYPE", key)


def unread(ask: Callable[..., Any], key: str) -> int:
    """How many entries were not delivered; one where there is no group yet."""
    with suppress(redis.ResponseError):
        if fields := _group(ask, key):
            return len(ask("XRANGE", key, f"({fields[b'last-delivered-id'].decode()}", "+"))
    return 1


def lag(ask: Callable[..., Any], key: str) -> int | None:
    """The server's own lag."""
    return _group(ask, key).get(b"lag")


def _group(ask: Callable[..., Any], key: str) -> dict[bytes, Any]:
    for row in ask("XINFO", "GROUPS", key):
        fields = dict(zip(row[::2], row[1::2], strict=True))
        if fields[b"name"] == GROUP.encode():
            return fields
    return {}


def pid_of(name: str) -> int:
    """The process of a worker's consumer."""
    return int(name.split("-")[-2])
