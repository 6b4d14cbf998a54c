"""Batches: each request is sent to the node of its key, all nodes in parallel, and follows redirects."""

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
    """A command, the key that routes it, and the decoder of its reply.

    Attributes:
        key: The key.
        command: The command and its arguments.
        decode: Decodes the reply unless it is an error; None leaves it raw.
    """

    key: str
    command: Command
    decode: Decoder | None = None


Listen = Callable[[Node], Sequence[Decoder | None]]
"""Gives the decoders of a node's replies to a prelude."""


class Answers(NamedTuple):
    """The result of a batch.

    Attributes:
        replies: One for each request, in order; an exception if the command or its node failed.
        nodes: The node that each request was sent to; None if no node serves its slot.
        preludes: Each node's replies to the prelude; missing for nodes that failed.
        failures: The exceptions of nodes that failed.
    """

    replies: list[Reply]
    nodes: list[Node | None]
    preludes: dict[Node, list[Reply]]
    failures: dict[Node, Exception]


class Batch:
    """Requests under way.

    Attributes:
        answers: The result so far.
        commands: How many commands were sent.

    Args:
        topology: The cluster or single server, prepared.
        requests: The requests.
        prelude: Commands to send first, to every node.
        listen: Gives the decoders of a node's replies to the prelude; raw without it.
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
        # Requests redirected by ASK: the node that imports their slot serves it only after ASKING, until the slot has moved.
        self._asking: set[int] = set()

    async def go(self) -> Answers:
        """Send all requests, follow redirects, and return the result, failures included."""
        await self._send(self._shares(), self._prelude)
        return await self._follow()

    async def go_on(self, node: Node, replies: Sequence[Reply]) -> Answers:
        """Follow the redirects among replies of a node that was asked without a batch; the result, failures included."""
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
        """The requests of each node, by their places; with a prelude, every node has a share."""
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
        """The requests that were redirected, by the node to send them to now."""
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
        """Send every node its share of the requests, and take the replies."""
        if len(shares) == 1:
            # A separate task would cost a tenth of a command.
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
    """The reply for a key whose slot no node serves; the topology is learned again before the next batch."""
    topology.distrust()
    return ClusterDownError("no node serves this key's slot")
