"""The server as a whole: one process, Sentinel's primary, or the primaries of a cluster."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from redis.asyncio.cluster import ClusterNode, NodesManager
from redis.crc import key_slot
from redis.exceptions import AskError, MovedError, RedisClusterException, RedisError, TryAgainError

from streamops.errors import ServerError
from streamops.model.server import Mode
from streamops.wire.connect import connection_kwargs, connection_pool, transport_kwargs
from streamops.wire.faults import server_error
from streamops.wire.node import Argument, Command, Decoder, Node, Reply
from streamops.wire.options import ConnectionOptions

REDIRECTS = 3


class Request(NamedTuple):
    """A command, the key that says where to send it, and what to make of its reply.

    Attributes:
        key: The key.
        command: The command's words.
        decode: Makes a noun of the reply; errors stay as they are. None leaves it raw.
    """

    key: str
    command: Command
    decode: Decoder | None = None


class Answers(NamedTuple):
    """What a batch brought back.

    Attributes:
        replies: One a request, in order; an exception where the command or its whole node failed.
        nodes: The node that each request was sent to; none where no node serves its slot.
        preludes: Each node's replies to the prelude; missing for nodes that failed.
        failures: What went wrong with whole nodes.
    """

    replies: list[Reply]
    nodes: list[Node | None]
    preludes: dict[Node, list[Reply]]
    failures: dict[Node, Exception]


class Server:
    """One server, asked in batches that cost one round trip a node.

    Attributes:
        options: How it is reached.
    """

    def __init__(self, options: ConnectionOptions) -> None:
        self.options = options
        self._topology = _Cluster(options) if options.mode is Mode.CLUSTER else _Single(options)
        self.commands_sent = 0

    @classmethod
    async def connect(cls, options: ConnectionOptions) -> "Server":
        """Connect and log in; raises ``ServerError`` where that fails."""
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

    async def ping(self) -> None:
        """Ask every node for a sign of life; raises ``ServerError`` where none gives one."""
        await self.each_node([("PING",)])

    async def each_node(self, commands: Sequence[Command]) -> Answers:
        """Send the same commands to every node; raises ``ServerError`` where all of them fail."""
        return await self.batch((), prelude=commands)

    async def batch(self, requests: Sequence[Request], prelude: Sequence[Command] = ()) -> Answers:
        """Send each request to the node of its key, and the prelude first to every node.

        Raises:
            ServerError: Every node failed. Where some did, their requests have the exception as reply.
        """
        await self._prepare()
        answers = await self._send(requests, range(len(requests)), prelude)
        for _ in range(REDIRECTS):
            moved = [
                at
                for at, reply in enumerate(answers.replies)
                if isinstance(reply, (MovedError, TryAgainError))
            ]
            asked = [at for at, reply in enumerate(answers.replies) if isinstance(reply, AskError)]
            if moved:
                await self._topology.refresh()
                again = await self._send(requests, moved, ())
                for at in moved:
                    answers.replies[at], answers.nodes[at] = again.replies[at], again.nodes[at]
            for at in asked:
                answers.replies[at] = await self._ask(requests[at], answers.replies[at])
            if not moved and not asked:
                break
        if answers.failures and len(answers.failures) == len(self.nodes):
            raise self.error(next(iter(answers.failures.values())))
        if answers.failures:
            # A node that fails may have handed its slots to a replica: look before the next batch.
            self._topology.distrust()
        return answers

    async def single(self, key: str, *command: Argument) -> Reply:
        """Send one command for a key; raises ``ServerError`` where its node fails, returns error replies."""
        answers = await self.batch([Request(key, command)])
        reply = answers.replies[0]
        if answers.failures and isinstance(reply, Exception):
            raise self.error(reply)
        return reply

    def node_of(self, key: str) -> Node | None:
        """The node that serves a key; none where the cluster has none for its slot."""
        return self._topology.node_of(key)

    def error(self, error: Exception) -> ServerError:
        """A failure of the server as a whole, translated."""
        return server_error(error, self.options.label, self.options.username)

    async def close(self) -> None:
        """Close all connections."""
        await self._topology.close()

    async def _prepare(self) -> None:
        try:
            await self._topology.prepare()
        except (RedisError, OSError, TimeoutError) as error:
            raise self.error(error.__cause__ if isinstance(error.__cause__, Exception) else error) from None

    async def _send(
        self, requests: Sequence[Request], which: Sequence[int], prelude: Sequence[Command]
    ) -> Answers:
        """Send the chosen requests; replies of the others stay none."""
        replies: list[Reply] = [None] * len(requests)
        nodes: list[Node | None] = [None] * len(requests)
        shares: dict[Node, list[int]] = {node: [] for node in self.nodes} if prelude else {}
        for at in which:
            node = nodes[at] = self.node_of(requests[at].key)
            if node is None:
                replies[at] = RedisClusterException("no node of the cluster serves this key's slot")
            else:
                shares.setdefault(node, []).append(at)
        preludes: dict[Node, list[Reply]] = {}
        failures: dict[Node, Exception] = {}

        async def ask(node: Node, share: list[int]) -> None:
            commands = [*prelude, *(requests[at].command for at in share)]
            decoders = [*(None for _ in prelude), *(requests[at].decode for at in share)]
            self.commands_sent += len(commands)
            try:
                answers = await node.batch(commands, decoders)
            except (RedisError, OSError, TimeoutError) as error:
                failures[node] = error
                for at in share:
                    replies[at] = error
                return
            preludes[node] = answers[: len(prelude)]
            for at, reply in zip(share, answers[len(prelude) :], strict=True):
                replies[at] = reply

        await asyncio.gather(*(ask(node, share) for node, share in shares.items()))
        return Answers(replies, nodes, preludes, failures)

    async def _ask(self, request: Request, error: AskError) -> Reply:
        """The slot is on its way elsewhere: ask there once, as the server told."""
        node = self._topology.node_at(error.host, error.port)
        try:
            return (await node.batch([("ASKING",), request.command], [None, request.decode]))[1]
        except (RedisError, OSError, TimeoutError) as failure:
            return failure


class _Single:
    """One server, or whichever one Sentinel says is the primary."""

    def __init__(self, options: ConnectionOptions) -> None:
        self._node = Node(connection_pool(options), options.label, options.timeout.total_seconds())
        self.nodes = (self._node,)

    async def prepare(self) -> None:
        """Nothing to learn first."""

    async def refresh(self) -> None:
        """Nothing to learn anew: Sentinel is asked at every connection."""

    def distrust(self) -> None:
        """The same."""

    def node_of(self, key: str) -> Node:  # noqa: ARG002 - one node serves every key
        return self._node

    def node_at(self, host: str, port: int) -> Node:
        raise AssertionError(f"a single server redirected to {host}:{port}")

    async def close(self) -> None:
        await self._node.close()


class _Cluster:
    """The primaries of a cluster; redis-py keeps the map of slots."""

    def __init__(self, options: ConnectionOptions) -> None:
        self._options = options
        # Topology is asked for at seeds that may be dead: those must not hold up the others for long.
        kwargs = connection_kwargs(options) | {"socket_timeout": options.timeout.total_seconds()}
        kwargs |= transport_kwargs(options.tls)
        kwargs.pop("db")
        seeds = [ClusterNode(host, port, **kwargs) for host, port in options.addresses]
        self._map = NodesManager(seeds, require_full_coverage=False, connection_kwargs=kwargs)
        self._nodes: dict[tuple[str, int], Node] = {}
        self._stale = True

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(
            self.node_at(node.host, int(node.port)) for node in self._map.get_nodes_by_server_type("primary")
        )

    async def prepare(self) -> None:
        if self._stale:
            await self.refresh()

    async def refresh(self) -> None:
        async with asyncio.timeout(self._options.timeout.total_seconds()):
            await self._map.initialize()
        self._stale = False
        alive = {(node.host, int(node.port)) for node in self._map.nodes_cache.values()}
        for gone in self._nodes.keys() - alive:
            await self._nodes.pop(gone).close()

    def distrust(self) -> None:
        self._stale = True

    def node_of(self, key: str) -> Node | None:
        owners = self._map.slots_cache.get(key_slot(key.encode("utf-8", "surrogateescape")))
        return self.node_at(owners[0].host, int(owners[0].port)) if owners else None

    def node_at(self, host: str, port: int) -> Node:
        node = self._nodes.get((host, port))
        if node is None:
            pool = connection_pool(self._options, (host, port))
            node = Node(pool, f"{host}:{port}", self._options.timeout.total_seconds())
            self._nodes[host, port] = node
        return node

    async def close(self) -> None:
        await asyncio.gather(*(node.close() for node in self._nodes.values()))
        await self._map.aclose()
        await self._map.aclose("startup_nodes")
