"""The self-check: what this server, this user and this installation can do, and what to do about the rest."""

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from importlib.util import find_spec
from typing import Final

from msgspec import Struct

from streamops.model.observation import Health
from streamops.model.streams import Flavour, ServerNode
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.lag import LagReliability, reliability_of
from streamops.wire.batches import Request
from streamops.wire.delayed import count_queues
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.keys import POOLS, decisions_key, delayed_key, learned_key, pool_key
from streamops.wire.node import Command
from streamops.wire.options import ConnectionOptions
from streamops.wire.permissions import NOBODY, refused_writes
from streamops.wire.reads import read_types
from streamops.wire.server import Server
from streamops.wire.stream_reader import Readings, StreamReader
from streamops.wire.topics import TOPICS
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import JOBS, job_key


class Examination(Struct, frozen=True):
    """What one check found.

    Attributes:
        topic: What was checked.
        health: How that is; ``UNKNOWN`` if it was not known.
        text: What was found, in one sentence.
        advice: What to do; empty if nothing needs doing.
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
"""Those that workers read. If no key can be read-only, they may write them too."""

_DANGEROUS: Final = {
    "FLUSHALL": ("FLUSHALL",),
    "CONFIG SET": ("CONFIG", "SET", "maxmemory", "0"),
    "ACL SETUSER": ("ACL", "SETUSER", "default"),
    "SHUTDOWN": ("SHUTDOWN",),
}


async def examine_rights(server: Server) -> Examination:
    """What the user of a connection may do that a worker has no use for; raises ``ServerError`` if no node answers."""
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
    """Commands that it may run, by the server's own word; None if it may not ask."""
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


async def find_mapping_problems(place: ServerContext) -> list[MappingProblem]:
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


PROBE_KEY: Final = "streamops:doctor"
OLDEST: Final = (6, 2, 0)
READ_ONLY_SCRIPTS: Final = (7, 0, 0)
TELLS_WAITING: Final = (
    "Redis 7.2 and Valkey report it; heartbeats of streamops workers show it on every server."
)
ASK: Final = "Grant it: `streamops doctor --acl observer` prints all that the console reads with."
SLOW: Final = timedelta(milliseconds=50)


class Feature(Struct, frozen=True):
    """What the console does with some commands.

    Attributes:
        name: What it is.
        commands: The commands it needs, harmless on a key that is not there.
        without: What happens if they are not permitted.
        essential: Whether the console is of no use without it.
    """

    name: str
    commands: tuple[Command, ...]
    without: str
    essential: bool = False


def _features(key: str, version: tuple[int, int, int]) -> tuple[Feature, ...]:
    script: Command = ("EVAL_RO" if version >= READ_ONLY_SCRIPTS else "EVAL", "return 1", 1, key)
    return (
        Feature(
            "find streams", (("SCAN", 0, "COUNT", 1, "TYPE", "stream"),), "streams must be named exactly"
        ),
        Feature(
            "see groups",
            (("XLEN", key), ("XINFO", "GROUPS", key)),
            "there is nothing to show",
            essential=True,
        ),
        Feature(
            "see pending entries",
            (("XPENDING", key, "doctor", "-", "+", 1),),
            "how old they are and who holds them stays unknown, and nothing that spares them can be planned",
        ),
        Feature("ask the time", (("TIME",),), "ages may stay unknown"),
        Feature(
            "see streams",
            (("XINFO", "STREAM", key),),
            "first and last IDs stay unknown, and so more lags",
        ),
        Feature(
            "run scripts",
            (script,),
            "the first and last entry of each stream travel with it",
        ),
        Feature("see consumers", (("XINFO", "CONSUMERS", key, "doctor"),), "consumers stay unknown"),
        Feature(
            "read entries",
            (("XRANGE", key, "-", "+", "COUNT", 1), ("XREVRANGE", key, "+", "-", "COUNT", 1)),
            "no entries, no lag age, and a lag that the server does not report stays unknown",
        ),
        Feature("ask INFO", (("INFO", "server"),), "its version and memory stay unknown"),
    )


async def examine(
    options: ConnectionOptions, stream: str | None = None, *, works: bool = False
) -> tuple[Examination, ...]:
    """Check everything, reading only.

    Args:
        options: How to connect.
        stream: A stream that the user may read, to tell permissions for commands from those for keys.
        works: Whether the user is one that workers connect as, who should be able to do no more than they need.

    Raises:
        ServerError: There is no connection, or no node answers.
    """
    started = time.monotonic()
    server = await Server.connect(options)
    try:
        connected = timedelta(seconds=time.monotonic() - started)
        readings = await StreamReader(server).read(())
        return (
            await _connection(server, connected),
            *_replicas(readings),
            *_versions(readings),
            *await _permissions(server, stream or PROBE_KEY, readings),
            *([await examine_rights(server)] if works else ()),
            *map(_policy, readings.server.nodes),
            _parser(),
        )
    finally:
        await server.close()


async def _connection(server: Server, connected: timedelta) -> Examination:
    started = time.monotonic()
    await server.ping()
    answer = timedelta(seconds=time.monotonic() - started)
    nodes = len(server.nodes)
    text = (
        f"{server.options.label} ({server.options.mode}, {nodes} node{'s' if nodes > 1 else ''}): "
        f"connected in {_milliseconds(connected)}, answers in {_milliseconds(answer)}"
    )
    if answer > SLOW:
        return Examination(
            "connection", Health.WARN, text, "Every refresh waits that long: look at the network."
        )
    return Examination("connection", Health.OK, text)


def _replicas(readings: Readings) -> Iterator[Examination]:
    for node in readings.server.nodes:
        if node.is_replica:
            text = f"{node.address} is a replica: it may lag behind its primary, does not know who polls, and takes no writes"
            yield Examination("role", Health.WARN, text, "Connect to its primary.")


def _versions(readings: Readings) -> Iterator[Examination]:
    if not readings.server.nodes:
        yield Examination("version", Health.UNKNOWN, "INFO is not permitted", ASK)
        return
    for version in sorted({(node.flavour, node.version) for node in readings.server.nodes}):
        node = next(node for node in readings.server.nodes if (node.flavour, node.version) == version)
        name = _name(node)
        if node.flavour is Flavour.REDIS and node.version < OLDEST:
            yield Examination("version", Health.CRITICAL, name, "streamops needs Redis 6.2 or later.")
        else:
            yield Examination("version", Health.OK, name)
        yield Examination("lag", *_lag_trust(node))
        if not node.sees_polls:
            text = (
                f"{name} cannot distinguish a consumer that waits for entries from a dead one: both look idle"
            )
            yield Examination("consumers", Health.WARN, text, TELLS_WAITING)


def _lag_trust(node: ServerNode) -> tuple[Health, str, str]:
    name = _name(node)
    if node.flavour is Flavour.REDIS and node.version < READ_ONLY_SCRIPTS:
        text = f"{name} reports no lag; it is counted from the entries, within a budget"
        return Health.WARN, text, "Redis 8 and Valkey 8.1 report a lag that can be trusted."
    if reliability_of([node]) is LagReliability.RELIABLE:
        return Health.OK, f"the lag that {name} reports, where it reports one, can be trusted", ""
    text = (
        f"the lag that {name} reports stays too high once trimming has overtaken a group; "
        "it is taken for an upper bound, and counted where that is cheap"
    )
    return Health.WARN, text, "Redis 7.4.4, Redis 8 and Valkey 8.1.1 report a lag that can be trusted."


async def _permissions(server: Server, key: str, readings: Readings) -> list[Examination]:
    version = min((node.version for node in readings.server.nodes), default=READ_ONLY_SCRIPTS)
    features = _features(key, version)
    requests = [Request(key, command) for feature in features for command in feature.commands]
    replies = iter((await server.batch(requests)).replies)
    found = []
    for feature in features:
        faults = [fault(reply) for _ in feature.commands if isinstance(reply := next(replies), Exception)]
        found.append(_permission(feature, faults))
    return found


def _permission(feature: Feature, faults: Sequence[Fault]) -> Examination:
    topic = f"may {feature.name}"
    stopped = [found for found in faults if found.kind in (FaultKind.DENIED, FaultKind.UNSUPPORTED)]
    # A denial of the key says nothing of the command: the user may read other keys.
    stopped = [found for found in stopped if not found.reason.startswith("no permission for this key")]
    if not stopped:
        return Examination(topic, Health.OK, "permitted")
    health = Health.CRITICAL if feature.essential else Health.WARN
    return Examination(topic, health, f"{stopped[0].reason}: {feature.without}", ASK)


def _policy(node: ServerNode) -> Examination:
    policy, topic = node.maxmemory_policy, "memory"
    if not policy or node.max_memory is None:
        return Examination(topic, Health.UNKNOWN, f"the eviction policy of {node.address} is unknown", ASK)
    if node.max_memory == 0:
        return Examination(
            topic, Health.OK, f"{node.address} has no maxmemory, so it evicts nothing ({policy})"
        )
    if policy.startswith("allkeys-"):
        text = f"{node.address} may evict whole streams with their groups when memory is short ({policy})"
        return Examination(
            topic,
            Health.CRITICAL,
            text,
            "Set maxmemory-policy noeviction, or volatile-* for streams without a TTL.",
        )
    if policy.startswith("volatile-"):
        text = f"{node.address} may evict streams that have a TTL when memory is short ({policy})"
        return Examination(topic, Health.OK, text)
    return Examination(topic, Health.OK, f"{node.address} refuses writes when memory is short ({policy})")


def _parser() -> Examination:
    if find_spec("hiredis") is None:
        text = "hiredis is not installed: replies are parsed in Python, several times slower"
        return Examination("parser", Health.WARN, text, "Install the extra: pip install 'streamops[fast]'.")
    return Examination("parser", Health.OK, "hiredis parses replies in C")


def _name(node: ServerNode) -> str:
    return f"{node.flavour.capitalize()} {'.'.join(map(str, node.version))}"


def _milliseconds(span: timedelta) -> str:
    return f"{span / timedelta(milliseconds=1):.1f} ms"
