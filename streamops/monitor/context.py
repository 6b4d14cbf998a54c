"""Where an operation takes place: the server, and what the configuration says of its streams."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from streamops.monitor.thresholds import Thresholds
from streamops.targets.targets import Targets
from streamops.wire.server import Server


class ServerContext(Struct, frozen=True):
    """A server with what is configured for it.

    Attributes:
        server: The server.
        dead_letters: Dead-letter queues by the stream they serve, where configuration names them.
        delayed: Queues of delayed messages by their stream, the same.
        targets: Who runs the workers of pools.
        thresholds: Thresholds of the health rules.
    """

    server: Server
    dead_letters: Mapping[str, str] = {}
    delayed: Mapping[str, str] = {}
    targets: Targets = msgspec.field(default_factory=Targets)
    thresholds: Thresholds = Thresholds()
