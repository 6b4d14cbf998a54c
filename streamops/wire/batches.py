"""Batches: each request to the node of its key, all at once, and on to wherever that one redirects it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from redis.exceptions import AskError, ClusterDownError, MovedError, RedisError, TryAgainError

from streamops.wire.cluster import Cluster
from streamops.wire.node import Command, Decoder, Insist, Node, Reply
from streamops.wire.primary import Single

REDIRECTS: Final = 3

Topology = Cluster | Single
"""Knows which node serves which key."""


class Request(Struct, frozen=True):
    """A command, the key that says where to send it, and what to make of its reply.

    Attributes:
        key: The key.
        command: The command's words.
        decode: Makes a noun of the reply; errors stay as they are. None leaves it raw.
    """

    key: str
    command: Command
    decode: Decoder | None = None


Listen = Callable[[Node], Sequence[Decoder | None]]
"""For a node, what decodes its replies to a prelude."""


class Answers(NamedTuple):
    """What a batch brought back.

    Attributes:
        replies: One a request, in order; an exception where the command or its whole node failed.
        nodes: The node that each request was sent to; None if no node serves its slot.
        preludes: Each node's replies to the prelude; missing for nodes that failed.
        failures: What went wrong with whole nodes.
    """

    replies: list[Reply]
    nodes: list[Node | None]
    preludes: dict[Node, list[Reply]]
    failures: dict[Node, Exception]


class Batch:
    """Requests on their way.

    Attributes:
        answers: What has come back so far.
        commands: How many were sent.

    Args:
        topology: Knows where to send what; it is prepared.
        requests: What to send.
        prelude: What to send first, to every node.
        listen: Gives, for a node, what decodes its replies to the prelude; they stay raw without.
        insist: As ``Node.batch`` takes it.
    """

    def __init__(
        self,
        topology: Topology,
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
        insist: Insist | None = None,
    ) -> None:
        self.answers = Answers([None] * len(requests), [None] * len(requests), {}, {})
        self.commands = 0
        self._topology = topology
        self._requests = requests
        self._prelude = prelude
        self._listen = listen
        self._insist = insist
        # Those that were sent to where their slot is on its way to. They stay here while only some of their keys have
        # arrived there: a slot on its way elsewhere is served there only to those who say that they were sent.
        self._asking: set[int] = set()

    async def go(self) -> Answers:
        """Send everything, and what is redirected again; what came back, however it went."""
        await self._send(self._shares(), self._prelude)
        return await self._follow()

    async def go_on(self, node: Node, replies: Sequence[Reply]) -> Answers:
        """Send again what a node has redirected, which was asked without a batch; what came back, however it went."""
        self.answers.nodes[:] = [node for _ in replies]
        self.answers.replies[:] = replies
        return await self._follow()

    async def _follow(self) -> Answers:
        for _ in range(REDIRECTS):
            if not (redirected := self._redirected()):
                break
            await self._send(redirected)
        return self.answers

    def _shares(self) -> Mapping[Node, Sequence[int]]:
        """Which requests go to which node; every node has a share where there is a prelude."""
        topology, answers = self._topology, self.answers
        shares: dict[Node, list[int]] = {node: [] for node in topology.nodes} if self._prelude else {}
        for at, request in enumerate(self._requests):
            node = answers.nodes[at] = topology.node_of(request.key)
            if node is None:
                answers.replies[at] = _unserved(topology)
            else:
                shares.setdefault(node, []).append(at)
        return shares

    def _redirected(self) -> Mapping[Node, Sequence[int]]:
        """Which requests are to be sent to which node, instead of that which they were sent to."""
        topology, answers = self._topology, self.answers
        shares: dict[Node, list[int]] = {}
        for at, reply in enumerate(answers.replies):
            node = answers.nodes[at]
            if node is None or not isinstance(reply, (AskError, TryAgainError)):
                continue
            if isinstance(reply, AskError):
                node = answers.nodes[at] = topology.node_at(reply.host, reply.port, node)
                self._asking.add(at)
            if isinstance(reply, MovedError):
                topology.on_slot_moved()
                self._asking.discard(at)
            if node is not None:
                shares.setdefault(node, []).append(at)
        return shares

    async def _send(self, shares: Mapping[Node, Sequence[int]], prelude: Sequence[Command] = ()) -> None:
        """Send every node its share of the requests, and note what comes back."""
        if len(shares) == 1:
            # A task of its own would cost a tenth of a command.
            await self._ask(*next(iter(shares.items())), prelude)
        else:
            await asyncio.gather(*(self._ask(node, share, prelude) for node, share in shares.items()))

    async def _ask(self, node: Node, share: Sequence[int], prelude: Sequence[Command]) -> None:
        answers, requests, asking = self.answers, self._requests, self._asking
        listen = self._listen if prelude else None
        commands: list[Command] = [*prelude]
        decoders: list[Decoder | None] = [None for _ in prelude] if listen is None else [*listen(node)]
        for at in share:
            if at in asking:
                commands.append(("ASKING",))
                decoders.append(None)
            commands.append(requests[at].command)
            decoders.append(requests[at].decode)
        self.commands += len(commands)
        try:
            replies = iter(await node.batch(commands, decoders, self._insist))
        except (RedisError, OSError, TimeoutError) as error:
            answers.failures[node] = error
            for at in share:
                answers.replies[at] = error
            return
        if prelude:
            answers.preludes[node] = [next(replies) for _ in prelude]
        for at in share:
            if at in asking:
                next(replies)
            answers.replies[at] = next(replies)


def _unserved(topology: Topology) -> ClusterDownError:
    """What is answered for a key of a slot that is not served; it may be before the next batch."""
    topology.distrust()
    return ClusterDownError("no node serves this key's slot")
