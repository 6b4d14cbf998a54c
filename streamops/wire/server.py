"""The server as a whole: one process, Sentinel's primary, or the primaries of a cluster."""

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial

from redis.exceptions import AskError, RedisError, TryAgainError

from streamops.errors import ServerError
from streamops.model.streams import Mode
from streamops.wire.batches import Answers, Batch, Listen, Request, Topology
from streamops.wire.cluster import Cluster
from streamops.wire.connect import single_server
from streamops.wire.faults import PrimaryReplacedError, server_error
from streamops.wire.node import UNSENT, Argument, Command, Insist, Node, Reply, was_sent
from streamops.wire.options import ConnectionOptions
from streamops.wire.primary import PrimaryTracker


class Server:
    """One server, asked in batches that cost one round trip a node.

    Attributes:
        options: How it is reached.
        tracker: The last known primary.
    """

    def __init__(self, options: ConnectionOptions, tracker: PrimaryTracker | None = None) -> None:
        """Prepare a client; it connects with the first batch.

        Args:
            options: How the server is reached.
            tracker: The tracker of another client of the same server, so that each learns of failovers from the other.
        """
        self.options = options
        self.tracker = tracker or PrimaryTracker()
        self._topology: Topology = (
            Cluster(options, self.tracker)
            if options.mode is Mode.CLUSTER
            else single_server(options, self.tracker)
        )
        self.commands_sent = 0

    @classmethod
    async def connect(cls, options: ConnectionOptions) -> "Server":
        """Connect and log in; raises ``ServerError`` if that fails."""
        server = cls(options)
        try:
            await server.ping()
        except BaseException:
            await server.close()
            raise
        return server

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that hold data: one, or the primaries of a cluster."""
        return self._topology.nodes

    @property
    def changes(self) -> int:
        """How often the Sentinels have named another primary, which may lack writes of the one before."""
        return self._topology.changes

    @property
    def handovers(self) -> int:
        """How often another server has taken over keys: by failovers of Sentinel, or slots that moved in a cluster.

        The new one may lack entries or have others under their IDs. Slots that were moved on purpose count, too: a client
        cannot distinguish them.
        """
        return self._topology.changes + self.tracker.moves

    @property
    def replaceable(self) -> bool:
        """Whether another server may come to serve what this one does: behind Sentinels, or in a cluster."""
        return self.options.mode is not Mode.STANDALONE

    async def ping(self) -> None:
        """Ask every node for a sign of life; raises ``ServerError`` if none gives one."""
        await self.each_node([("PING",)])

    async def each_node(self, commands: Sequence[Command]) -> Answers:
        """Send the same commands to every node; raises ``ServerError`` if all of them fail."""
        return await self.batch((), prelude=commands)

    async def batch(
        self,
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
    ) -> Answers:
        """Send each request to the node of its key, and the prelude first to every node.

        Args:
            requests: What to send.
            prelude: What to send first.
            listen: Gives, for a node, what decodes its replies to the prelude; they stay raw without.

        Raises:
            ServerError: Every node failed. If some did, their requests have the exception as reply.
        """
        return await self._batch(requests, prelude, listen)

    async def single(self, key: str, *command: Argument, handovers: int | None = None) -> Reply:
        """Send one command for a key; returns error replies.

        Args:
            key: The key.
            command: The command's words.
            handovers: Send it only if ``Server.handovers`` is still this number.

        Raises:
            ServerError: Its node fails, or is another one.
        """
        (reply,) = await self.pipeline(key, (command,), handovers)
        return reply

    async def pipeline(
        self, key: str, commands: Sequence[Command], handovers: int | None = None
    ) -> list[Reply]:
        """Send commands that all belong to one key's slot; their raw replies, error replies among them.

        The same as a batch of requests, without the bookkeeping of each, which costs more than a small command.
        ``handovers`` as above.

        Raises:
            ServerError: The node failed, or is another one. Some of the commands may have been carried out.
        """
        insist = None if handovers is None else partial(self._insist_on, handovers)
        if not self._topology.ready:
            await self._prepare()
        node = self._topology.node_of(key)
        if node is None:
            requests = [Request(key, command) for command in commands]
            return self._unfailed(await self._batch(requests, insist=insist))
        replies = await self._send_to_node(node, commands, insist)
        moved = [at for at, reply in enumerate(replies) if isinstance(reply, (AskError, TryAgainError))]
        if moved:
            # A redirect within one handover count is the same data; a slot that moved has raised the count, and is refused.
            requests = [Request(key, commands[at]) for at in moved]
            batch = Batch(self._topology, requests, insist=insist)
            again = await self._answers(batch, batch.go_on(node, [replies[at] for at in moved]))
            for at, reply in zip(moved, self._unfailed(again), strict=True):
                replies[at] = reply
        return replies

    def _unfailed(self, answers: Answers) -> list[Reply]:
        """The replies; raises ``ServerError`` if a node failed that had a share of them."""
        for error in answers.failures.values():
            if any(reply is error for reply in answers.replies):
                raise self.error(error)
        return answers.replies

    async def _batch(
        self,
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
        insist: Insist | None = None,
    ) -> Answers:
        await self._prepare()
        batch = Batch(self._topology, requests, prelude, listen, insist)
        return await self._answers(batch, batch.go())

    async def _answers(self, batch: Batch, going: Awaitable[Answers]) -> Answers:
        try:
            answers = await going
        finally:
            self.commands_sent += batch.commands
        if answers.failures:
            # A failed node may have been replaced by a replica: the next batch learns the topology again.
            self._topology.distrust(answers.failures)
            if answers.failures.keys() >= set(self.nodes):
                raise self.error(next(iter(answers.failures.values())))
        return answers

    def node_of(self, key: str) -> Node | None:
        """The node that serves a key; None if the cluster has none for its slot."""
        return self._topology.node_of(key)

    def error(self, error: Exception) -> ServerError:
        """Translate a failure of the server or a node into a ``ServerError``."""
        options = self.options
        problem = server_error(error, options.label, options.username, tls=options.tls is not None)
        problem.sent = was_sent(error)
        return problem

    async def close(self) -> None:
        """Close all connections, also those being made; batches from now on fail."""
        await self._topology.close()
        # The event loop closes the sockets in its next turn.
        await asyncio.sleep(0)

    async def _prepare(self) -> None:
        problem = None
        try:
            await self._topology.prepare()
        except (RedisError, OSError, TimeoutError) as error:
            problem = error
        # Outside the handler, so that the error does not carry redis-py's along as its context.
        if problem is not None:
            unasked = self.error(problem)
            unasked.sent = False
            raise unasked

    async def _send_to_node(
        self, node: Node, commands: Sequence[Command], insist: Insist | None
    ) -> list[Reply]:
        """Send commands to one node, without the bookkeeping of a batch, which costs half as much again."""
        self.commands_sent += len(commands)
        problem: Exception
        try:
            return await node.batch(commands, insist=insist)
        except (RedisError, OSError, TimeoutError) as error:
            problem = error
        self._topology.distrust([node])
        raise self.error(problem)

    def _insist_on(self, handovers: int) -> None:
        """Raise if another server has taken over since a command was prepared."""
        if self.handovers != handovers:
            error = PrimaryReplacedError("another server has taken over a moment ago")
            error.add_note(UNSENT)
            raise error
