"""What one check of the self-check found; the checks of a worker's permissions, and of the keys that a configuration maps to streams."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.observation import Health
from streamops.model.wording import counted
from streamops.monitor.context import Place
from streamops.wire.batches import Request
from streamops.wire.beside import read_types
from streamops.wire.delayed import count_queues
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.harmless import NOBODY, refused_writes
from streamops.wire.keys import POOLS, decisions_key, delayed_key, learned_key, pool_key
from streamops.wire.server import Server
from streamops.wire.topics import TOPICS
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import JOBS, job_key


class Examination(Struct, frozen=True):
    """What one check found.

    Attributes:
        topic: What was checked.
        health: How that is; ``UNKNOWN`` where it could not be told.
        text: What was found, in one sentence.
        advice: What to do; empty where nothing needs doing.
    """

    topic: str
    health: Health
    text: str
    advice: str = ""


TOPIC: Final = "worker's rights"
ADVICE: Final = "Give workers a user of their own: `streamops doctor --acl runtime` prints its rules."

_HASH: Final = ("HSET", "HDEL", "SET", "EXPIRE", "PEXPIRE")
_STREAM: Final = ("XADD", "XDEL", "XTRIM", "SET", "EXPIRE", "PEXPIRE")
_OPERATORS: Final = {
    AUDIT: (AUDIT, _STREAM),
    TOPICS: (TOPICS, _HASH),
    JOBS: (JOBS, ("ZADD", "ZREM", "HSET", "HDEL", "SET", "EXPIRE", "PEXPIRE")),
    "streamops:job:ID": (job_key(NOBODY), _HASH),
    POOLS: (POOLS, _HASH),
    "streamops:decisions:POOL": (decisions_key(NOBODY), _STREAM),
    "streamops:learned:POOL": (learned_key(NOBODY), ("SET", "EXPIRE", "PEXPIRE")),
}
"""Keys that are operators' and controllers', by how they are named to people, with what writes them."""
_ORDERS: Final = {"streamops:pool:POOL": (pool_key(NOBODY), _HASH)}
"""Those that workers read. Where no key can be read-only, they may write them too."""

_DANGEROUS: Final = {
    "FLUSHALL": ("FLUSHALL",),
    "CONFIG SET": ("CONFIG", "SET", "maxmemory", "0"),
    "ACL SETUSER": ("ACL", "SETUSER", "default"),
    "SHUTDOWN": ("SHUTDOWN",),
}


async def examine_rights(server: Server) -> Examination:
    """What the user of a connection may do that a worker has no use for; raises ``ServerError`` where no node answers."""
    keys = _OPERATORS | (_ORDERS if await _knows_read_only_keys(server) else {})
    asked = [(command, key) for key, commands in keys.values() for command in commands]
    refused = await refused_writes(server, asked)
    denied = {(command, key) for command, key, why in refused if why.kind is FaultKind.DENIED}
    writes = [
        name
        for name, (key, commands) in keys.items()
        if any((command, key) not in denied for command in commands)
    ]
    runs = await _dangerous(server)
    found = [f"write {name}" for name in writes] + [f"run {name}" for name in runs or ()]
    user = f"user {server.options.username or 'default'}"
    if found:
        return Examination(TOPIC, Health.WARN, f"{user} may {', '.join(found)}: no worker needs that", ADVICE)
    text = f"{user} may write none of the keys that are operators' alone"
    if runs is None:
        text += f"; whether it may run {', '.join(_DANGEROUS)} it may not ask"
    return Examination(TOPIC, Health.OK, text)


async def _knows_read_only_keys(server: Server) -> bool:
    """Whether there are keys that may only be read, as from Redis 7.0 on. HELLO is permitted to all, INFO is not."""
    reply = await server.single("", "HELLO")
    if not isinstance(reply, list):
        return True
    told = dict(zip(reply[::2], reply[1::2], strict=False))
    return not bytes(told.get(b"version", b"")).startswith(b"6.")


async def _dangerous(server: Server) -> Sequence[str] | None:
    """Commands that it may run, by the server's own word; none where it may not ask."""
    user = server.options.username or "default"
    requests = [Request("", ("ACL", "DRYRUN", user, *words)) for words in _DANGEROUS.values()]
    replies = (await server.batch(requests)).replies
    if any(isinstance(reply, Exception) for reply in replies):
        return None
    return [name for name, reply in zip(_DANGEROUS, replies, strict=True) if reply == b"OK"]


KINDS: Final = {"dead_letters": ("stream", "a stream"), "delayed": ("zset", "a sorted set")}
MISSING: Final = "none"


class MappingProblem(Struct, frozen=True):
    """A mapped key that is not what it is mapped as.

    Attributes:
        table: ``dead_letters`` or ``delayed``.
        stream: The stream.
        text: What is wrong.
        hint: What to do.
    """

    table: str
    stream: str
    text: str
    hint: str


async def find_mapping_problems(place: Place) -> list[MappingProblem]:
    """The mapped keys of another type, and the delayed queues that another program writes to.

    Raises:
        ServerError: No node answers, or a key may not be looked at.
    """
    mapped = [
        (table, stream, key)
        for table, keys in (("dead_letters", place.dead_letters), ("delayed", place.delayed))
        for stream, key in keys.items()
    ]
    problems: list[MappingProblem] = []
    types = await read_types(place.server, [key for _, _, key in mapped])
    for (table, stream, key), found in zip(mapped, types, strict=True):
        if isinstance(found, Fault):
            raise found.error(key)
        wanted, words = KINDS[table]
        if found not in (wanted, MISSING):
            text = f"key {key} is a {found}, not {words}"
            problems.append(MappingProblem(table, stream, text, "Name a key that nothing else uses."))
    wrong = {problem.stream for problem in problems if problem.table == "delayed"}
    streams = [stream for stream in place.delayed if stream not in wrong]
    counts = await count_queues(place.server, [delayed_key(stream, place.delayed) for stream in streams])
    for stream, count in zip(streams, counts, strict=True):
        if isinstance(count, Fault):
            raise count.error(delayed_key(stream, place.delayed))
        if count.foreign:
            members = counted(count.foreign, "member", "members")
            text = f"sorted set {count.queue} has {members} that streamops did not write"
            hint = "Name a sorted set that nothing else uses; streamops leaves those members untouched."
            problems.append(MappingProblem("delayed", stream, text, hint))
    return problems
