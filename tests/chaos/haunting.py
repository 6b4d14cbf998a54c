"""A process that crashes at a chosen step, without one: what it sends counts as steps, and after its end nothing more is sent.

Everything that streamops asks of a server goes through ``Node.batch``. A haunted instance is known by the label of its
connection; of a dead one nothing reaches the server, and its connections are gone, as after kill -9.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache
from importlib.resources import files
from random import Random

from msgspec import Struct
from redis.exceptions import ConnectionError as LostConnection

from streamops.wire import scripts
from streamops.wire.node import Command, Decoder, Node, Reply
from streamops.wire.scripts import load_script

LATEST = 70
"""Steps that hardly any run goes beyond."""


class Way(StrEnum):
    """What happens at a step."""

    KILLED_BEFORE = "killed before it was sent"
    KILLED_AFTER = "killed after the server had done it"
    CUT_BEFORE = "connection lost before it was sent"
    CUT_AFTER = "reply lost after the server had done it"


KILLS = (Way.KILLED_BEFORE, Way.KILLED_AFTER)

STEPS = (
    "XREADGROUP",
    "XACK",
    "SET",
    "consume_ack",
    "consume_retry",
    "consume_dead_letter",
    "consume_mark",
    "consume_claim",
    "consume_renew",
    "consume_release",
    "consume_leave",
    "worker_heartbeat",
    "promote_due",
)
"""What a worker sends that matters: commands and scripts."""

PUBLISHING = ("XADD", "delayed_schedule", "publish_payload")
"""The same of a publisher."""


class Fate(Struct, frozen=True):
    """When something happens, and what.

    Attributes:
        way: What.
        step: Whatever is sent as the how-manieth batch; none where ``of`` says which.
        of: A command or script.
        time: At the how-manieth batch that holds it.
    """

    way: Way
    step: int = 0
    of: str = ""
    time: int = 1

    @classmethod
    def of_worker(cls, seed: int, random: Random) -> "Fate":
        """Every step that matters and every way in turn, and in between whatever comes at a number."""
        ways = [*Way]
        if seed % 2:
            return cls(random.choice(ways), step=random.randint(1, LATEST))
        turn = seed // 2
        way = ways[(turn + turn // len(STEPS)) % len(ways)]
        return cls(way, of=STEPS[turn % len(STEPS)], time=random.choice((1, 1, 2, 5)))

    @classmethod
    def of_publisher(cls, random: Random) -> "Fate":
        """Any step that matters, and any way."""
        return cls(random.choice([*Way]), of=random.choice(PUBLISHING), time=random.choice((1, 2)))


class Ghost:
    """One instance, and its fate.

    Attributes:
        fate: What happens to it; none where nothing does.
        dead: Whether it is dead.
        ended: Set with its death.
        met: What it was sending when its fate came.
    """

    def __init__(self, label: str, fate: Fate | None) -> None:
        self.label = label
        self.fate = fate
        self.dead = False
        self.ended = asyncio.Event()
        self.met = ""
        self._home = asyncio.get_running_loop()
        self._nodes: dict[Node, asyncio.AbstractEventLoop] = {}
        self._seen: Counter[str] = Counter()
        self._steps = 0

    async def batch(
        self,
        node: Node,
        commands: Sequence[Command],
        decoders: Sequence[Decoder | None],
        insist: Callable[[], None] | None,
    ) -> list[Reply]:
        """As ``Node.batch``, until its fate comes."""
        self._nodes[node] = asyncio.get_running_loop()
        self._require_life()
        way = self._way(commands)
        if way in (Way.KILLED_BEFORE, Way.CUT_BEFORE):
            self._end(kill=way is Way.KILLED_BEFORE)
        replies = await _real(node, commands, decoders, insist)
        self._require_life()
        if way is not None:
            self._end(kill=way is Way.KILLED_AFTER)
        return replies

    async def close(self) -> None:
        """Close what it may have left open: one that is cut short while it ends closes nothing more."""
        for node, loop in self._nodes.items():
            if loop is self._home:
                await node.close()

    def _require_life(self) -> None:
        if self.dead:
            raise LostConnection("the process is gone")

    def _end(self, *, kill: bool) -> None:
        if kill:
            self.dead = True
            self._home.call_soon_threadsafe(self.ended.set)
            for node, loop in self._nodes.items():
                # The heartbeat's loop may have ended before.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(_hang_up, node)
        raise LostConnection("the connection was lost")

    def _way(self, commands: Sequence[Command]) -> Way | None:
        """What happens with this batch, if anything."""
        self._steps += 1
        names = {step_of(command) for command in commands}
        self._seen.update(names)
        fate = self.fate
        if fate is None or self.met:
            return None
        if fate.step != self._steps and not (fate.of in names and self._seen[fate.of] == fate.time):
            return None
        self.met = fate.of or min(names)
        return fate.way


_real = Node.batch
_ghosts: dict[str, Ghost] = {}


@contextmanager
def haunted(label: str, fate: Fate | None = None) -> Iterator[Ghost]:
    """Let an instance have a fate; it is known by the label of its connections."""
    Node.batch = _batch  # type: ignore[method-assign, assignment] # mypy takes it for a bound one
    ghost = _ghosts[label] = Ghost(label, fate)
    try:
        yield ghost
    finally:
        del _ghosts[label]
        if not _ghosts:
            Node.batch = _real  # type: ignore[method-assign]


async def _batch(
    node: Node,
    commands: Sequence[Command],
    decoders: Sequence[Decoder | None] = (),
    insist: Callable[[], None] | None = None,
) -> list[Reply]:
    if ghost := _ghosts.get(node.label):
        return await ghost.batch(node, commands, decoders, insist)
    return await _real(node, commands, decoders, insist)


def _hang_up(node: Node) -> None:
    """Have all connections of a node gone, whatever is under way on them."""
    for connection in (*node._pool._available_connections, *node._pool._in_use_connections):
        if connection._writer is not None:
            connection._writer.transport.abort()


def step_of(command: Command) -> str:
    """A command's name, or that of the script it runs."""
    name = str(command[0])
    return _scripts().get(str(command[1]), name) if name.startswith("EVAL") else name


@cache
def _scripts() -> Mapping[str, str]:
    names = [one.name.removesuffix(".lua") for one in files(scripts).iterdir() if one.name.endswith(".lua")]
    told: dict[str, str] = {}
    for name in names:
        script = load_script(name)
        told |= {script.source: name, script.sha: name}
    return told
