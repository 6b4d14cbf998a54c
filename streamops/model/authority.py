"""Where what an entry names may lead: to what lies beside its own stream, and nowhere else.

Entries, delayed messages, dead letters and the fields ``_so_*`` are data of any user who may write there. A worker or an
operator who followed them anywhere would lend the writer rights of their own. What leads further needs an operator's
word for that very target. The scripts ask the same in ``beside.lua``.
"""

from collections.abc import Mapping
from enum import StrEnum


class StreamPart(StrEnum):
    """What lies beside a stream: the stream itself, or a key that begins with its tag and this."""

    STREAM = ""
    RETRIES = ":retry:"
    PAYLOADS = ":payload:"


DELAYED_SUFFIX = ":delayed"
DESTINATIONS = (StreamPart.STREAM, StreamPart.RETRIES)
"""Where a delayed message may become an entry."""


def is_part_of(key: str, stream: str, *parts: StreamPart) -> bool:
    """Whether a key is one of these parts of a stream's own. ``orders`` and ``{orders}`` have the same."""
    tag = tag_of(stream)
    for part in parts:
        if (
            key in (stream, tag, source_of(tag))
            if part is StreamPart.STREAM
            else key.startswith(f"{tag}{part}")
        ):
            return True
    return False


def delayed_source(queue: str) -> str | None:
    """The stream beside which a queue stands by its name; None if it is no such name."""
    tag = queue.removesuffix(DELAYED_SUFFIX)
    return source_of(tag) if tag != queue and "{" in tag else None


def delayed_problem(configured: Mapping[str, str]) -> str:
    """What is wrong with queues of delayed messages by their streams; empty if nothing is.

    A message that names another stream than its queue's own becomes a dead letter: a queue has one stream.
    """
    streams: dict[str, str] = {}
    for stream, queue in configured.items():
        other = streams.setdefault(queue, delayed_source(queue) or stream)
        if tag_of(other) != tag_of(stream):
            return f"delayed: {queue} is the queue of {other}, and cannot be that of {stream} too"
    return ""


def tag_of(stream: str) -> str:
    """What the keys beside a stream begin with."""
    return stream if _has_hash_tag(stream) else f"{{{stream}}}"


def source_of(tag: str) -> str | None:
    """The stream behind a tag: braces around all of it were added for the slot's sake."""
    whole = tag.startswith("{") and tag.find("}") == len(tag) - 1
    return (tag[1:-1] if whole else tag) or None


def _has_hash_tag(name: str) -> bool:
    """Whether a cluster hashes only a part of a name: what is between the first ``{`` and the next ``}``."""
    _, opening, rest = name.partition("{")
    tag, closing, _ = rest.partition("}")
    return bool(opening and closing and tag)
