"""Streams as a worker has them, without a worker."""

from datetime import timedelta

from streamops.runtime.context import ServerClock, WorkerContext
from streamops.runtime.entry import ConsumerStream
from streamops.runtime.events import Event, Events
from streamops.runtime.promoter import Promoter
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

BEAT = timedelta(seconds=5)
OPTIONS = ConnectionOptions()


def worker_context(
    options: ConnectionOptions = OPTIONS, *, beat: timedelta = BEAT, told: list[Event] | None = None
) -> WorkerContext:
    """What the parts of a worker share; nothing is connected yet."""
    server, events = Server(options), Events()
    if told is not None:
        events.on(Event, told.append)
    promoter = Promoter(server, (), events)
    return WorkerContext(server, "ann", beat, ServerClock(beat), promoter, events)


def stream_of_ann(context: WorkerContext | None = None, *, retries: bool = False) -> ConsumerStream:
    """The stream ``s`` as ``ann`` reads it for group ``g``, or its retry stream."""
    return ConsumerStream(Subscription("s", "g", "ann"), context or worker_context(), retries=retries)
