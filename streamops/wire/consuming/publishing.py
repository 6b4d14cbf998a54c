"""Adds entries: single ones together with those of other callers, or many in pipelines. No XADD is ever sent twice."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from streamops.errors import PublishError, ServerError, StreamopsError, Unreachable
from streamops.wire.batches import Request
from streamops.wire.consuming.payloads import StoredPayload, with_payload
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.gathering import Gatherer
from streamops.wire.node import Reply
from streamops.wire.server import Server

AT_ONCE: Final = 500
BYTES_AT_ONCE: Final = 1 << 20
"""Entries and bytes in one pipeline; a larger entry goes alone."""

OWN_CHOICE: Final = "*"


class Sized(Protocol):
    """What has a size in bytes."""

    @property
    def size(self) -> int:
        """Bytes of it."""


Part = TypeVar("Part", bound=Sized)


class Addition(NamedTuple):
    """An entry to be added.

    Attributes:
        parts: Its names and values in turn.
        entry_id: Its ID; the server's choice unless given.
        payload: What is kept beside the stream for it; its reference is among the parts.
    """

    parts: Sequence[bytes]
    entry_id: str = OWN_CHOICE
    payload: StoredPayload | None = None

    @property
    def size(self) -> int:
        """Bytes of its names and values and its payload."""
        return sum(map(len, self.parts)) + (len(self.payload.value) if self.payload else 0)


async def add(gatherer: Gatherer, stream: str, addition: Addition, maxlen: int | None) -> str:
    """Add one entry; its ID.

    Args:
        gatherer: Where.
        stream: The stream; created if there is none.
        addition: The entry.
        maxlen: About how many entries stay, the newest; all unless given.

    Raises:
        Unreachable: The server did not answer; the message says whether the entry may have been added.
        StreamopsError: The server refused it; it was not added.
    """
    try:
        reply = await gatherer.send(_request(stream, addition, maxlen))
    except Unreachable as error:
        # Outside the handler, so that the error does not carry the other along as its context.
        lost = error
    else:
        return _added(stream, reply)
    raise unknown(lost, "the entry was added", stream)


async def add_many(
    server: Server, stream: str, additions: Sequence[Addition], maxlen: int | None
) -> list[str | StreamopsError]:
    """Add entries in their order, in pipelines; for each its ID, or why it was not added.

    If the server does not answer, the entries of that pipeline have the error that says so, those after it were
    never sent.
    """
    added: list[str | StreamopsError] = []
    for some in portions(additions, AT_ONCE):
        try:
            answers = await server.batch([_request(stream, one, maxlen) for one in some])
        except ServerError as error:
            added += [unknown(error, "these entries were added", stream)] * len(some)
        else:
            lost = list(answers.failures.values())
            for reply in answers.replies:
                if any(reply is one for one in lost):
                    added.append(unknown(server.error(reply), "these entries were added", stream))
                else:
                    added.append(_outcome(stream, reply))
        if any(isinstance(one, StreamopsError) for one in added[-len(some) :]):
            break
    return added


def unknown(error: StreamopsError, what: str, stream: str) -> StreamopsError:
    """Translate a lost connection into whether entries may have been added."""
    if not isinstance(error, Unreachable):
        return error
    if not error.sent:
        unsent = Unreachable(f"{error.message}; nothing was added to {stream}", error.hint)
        unsent.sent = False
        return unsent
    return Unreachable(
        f"{error.message}; it is not known whether {what} to {stream}",
        "Publishing again may add a second one. An `id=` of your own, or a guard key at the handlers, makes that harmless.",
    )


def refused(stream: str, problem: Fault) -> StreamopsError:
    """Why an entry was not added, as an error."""
    if problem.kind is FaultKind.WRONG_TYPE:
        return PublishError(
            f"{stream} is not a stream", "Its key is of another type: publish to another name."
        )
    if "equal or smaller" in problem.reason:
        return PublishError(
            f"stream {stream} has an entry of this ID or a greater one already",
            "IDs only grow. Where the same entry was published before, it is there.",
        )
    if "Invalid stream ID" in problem.reason or "must be greater than 0-0" in problem.reason:
        return PublishError("the `id=` is no entry ID", "It is two numbers, such as 1700000000000-0.")
    return problem.error(f"stream {stream}")


def portions(parts: Sequence[Part], most: int) -> Iterator[Sequence[Part]]:
    """Slices of at most ``most`` parts and about ``BYTES_AT_ONCE`` bytes."""
    first, size = 0, 0
    for at, part in enumerate(parts):
        size += part.size
        if at - first == most or (size > BYTES_AT_ONCE and at > first):
            yield parts[first:at]
            first, size = at, part.size
    if parts:
        yield parts[first:]


def _request(stream: str, addition: Addition, maxlen: int | None) -> Request:
    parts, entry_id, payload = addition
    if payload is not None:
        return with_payload(stream, parts, payload, entry_id=entry_id, maxlen=maxlen)
    if maxlen is None:
        return Request(stream, ("XADD", stream, entry_id, *parts))
    return Request(stream, ("XADD", stream, "MAXLEN", "~", maxlen, entry_id, *parts))


def _added(stream: str, reply: Reply) -> str:
    if isinstance(reply, Exception):
        raise refused(stream, fault(reply))
    entry_id: str = reply.decode()
    return entry_id


def _outcome(stream: str, reply: Reply) -> str | StreamopsError:
    return refused(stream, fault(reply)) if isinstance(reply, Exception) else reply.decode()
