"""One node of a server, and commands that tell their replies apart."""

from itertools import count

from streamops.wire.connect import connection_pool
from streamops.wire.node import Command, Node
from streamops.wire.options import ConnectionOptions

numbers = count()


def node_of(options: ConnectionOptions, seconds: float = 2.0) -> Node:
    return Node(connection_pool(options), options.label, seconds)


def echoes(many: int) -> tuple[list[Command], list[bytes]]:
    """Commands whose replies tell which command they belong to, and those replies."""
    words = [f"word-{next(numbers)}" for _ in range(many)]
    return [("ECHO", word) for word in words], [word.encode() for word in words]


async def check_in_step(node: Node, many: int = 3) -> None:
    commands, replies = echoes(many)
    assert await node.batch(commands) == replies
