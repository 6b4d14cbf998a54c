"""What to watch: plain data, composed by ``settings``."""

from msgspec import Struct


class Watch(Struct, frozen=True):
    """Which streams a console looks at, and how closely.

    Attributes:
        streams: Glob patterns of stream names, Redis's syntax; one without a wildcard pins that stream, so
            that it needs no scan. None at all means every stream.
        exclude: Patterns of streams to leave out; they win.
        dead_letters: Dead-letter queues by the stream they serve, where names alone do not show.
        max_streams: At most so many streams in one collection; the rest is announced, never hidden.
        details: Whether consumers and pending entries are read beyond the groups themselves.
        deep: Whether streams are read by XINFO STREAM FULL where that is cheap: with what each consumer has had for
            longest, at half the cost, and without the last entry's ID and rates.
        delayed: Queues of delayed messages by their stream, if they are not beside it.
    """

    streams: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dead_letters: dict[str, str] = {}
    max_streams: int = 2000
    details: bool = True
    deep: bool = False
    delayed: dict[str, str] = {}
