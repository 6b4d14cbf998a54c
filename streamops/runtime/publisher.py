"""Publishing: entries now, or messages that become entries later.

An XADD is never sent twice: where a connection is lost, the caller is told that it is not known whether the entry
was added. Entries that many callers publish at the same time go out in one pipeline.

No cap is set unless one is asked for, by the publisher, a schema or the call: a cap removes what groups have yet
to read. One that is asked for is approximate, which costs the server next to nothing: whole nodes of about a
hundred entries go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Self

from streamops.errors import PartlyPublished, PublishError, SettingsError, StreamopsError
from streamops.model.delayed import DelayedMessage
from streamops.runtime.delayed import Scheduler, due_of
from streamops.runtime.drafting import Drafter, Fields
from streamops.runtime.payloads import Payload
from streamops.runtime.schemas import Schema, bare_schema, check_maxlen
from streamops.wire.consuming import publishing
from streamops.wire.consuming.publishing import Addition
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import NO_CONFIGURATION
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

__all__ = ["Around", "Publisher", "Schema"]

Around = Callable[[str, int], AbstractContextManager[Sequence[bytes]]]
"""Called with the stream and the number of bodies; gives names and values of reserved fields, in turn, for each."""

_ALONE: Final[AbstractContextManager[Sequence[bytes]]] = nullcontext(())


class Publisher:
    """Publishes to the streams of one server; used as ``async with``, by as many tasks as there are.

    Args:
        connection: How the server is reached.
        schemas: Names that may be published to like streams.
        maxlen: About how many entries a stream keeps, where neither its schema nor the call says; all unless given.
        payload: Which bodies are kept beside their stream, where the schema does not say; none unless given.
        around: What is put around each call that publishes, the outermost first.
        delayed: Queues of delayed messages by their streams, where they are not ``T:delayed``.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        *,
        schemas: Iterable[Schema] = (),
        maxlen: int | None = None,
        payload: Payload | None = None,
        around: Sequence[Around] = (),
        delayed: Mapping[str, str] = NO_CONFIGURATION,
    ) -> None:
        check_maxlen(maxlen)
        self._connection = connection
        self._schemas: dict[str, Schema] = {}
        self._maxlen = maxlen
        self._drafter = Drafter(connection.mode, payload)
        self._around = tuple(around)
        self._delayed = delayed
        self._is_open = False
        for schema in schemas:
            if self._schemas.setdefault(schema.name or schema.stream, schema) is not schema:
                raise SettingsError(
                    f"two schemas are called {schema.name or schema.stream}", "Give each a name of its own."
                )

    async def __aenter__(self) -> Self:
        """Connect; raises ``ServerError`` where that fails."""
        self._server = await Server.connect(self._connection)
        self._gatherer = Gatherer(self._server)
        self._scheduler = Scheduler(self._server, self._delayed)
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is under way, and disconnect."""
        self._is_open = False
        try:
            await self._gatherer.close()
        finally:
            await self._server.close()

    async def publish(
        self,
        stream: str | Schema,
        body: object,
        *,
        id: str | None = None,  # noqa: A002 - Redis's own word for it
        delay: timedelta | float | None = None,
        at: datetime | None = None,
        maxlen: int | None = None,
        payload: bytes | None = None,
        payload_ttl: timedelta | None = None,
        fields: Fields = (),
    ) -> str:
        """Publish one body; the ID of its entry, or of the delayed message.

        Args:
            stream: The stream, a schema, or a schema's name.
            body: See ``encode_body``.
            id: The ID; the server's choice, or a random one for a delayed message, unless given.
            delay: How long from now it becomes an entry, by the server's clock; a number is of seconds.
            at: When it becomes an entry.
            maxlen: About how many entries the stream keeps from now on, the newest.
            payload: Bytes to be kept beside the stream for this entry.
            payload_ttl: How long its payload is kept.
            fields: Further fields of the entry, after those of the body.

        Raises:
            PublishError: It cannot be published so; nothing was added.
            Unreachable: The server did not answer; the message says whether the entry may have been added.
            ServerError: The server refused it; nothing was added.
        """
        schema = self._schema_of(stream)
        with self._entered(schema.stream, 1) as stamp:
            draft = self._drafter.draft(schema, body, payload, payload_ttl, fields, stamp=stamp)
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                addition = Addition(draft.parts, id or publishing.OWN_CHOICE, draft.payload)
                return await publishing.add(self._gatherer, schema.stream, addition, cap)
            _refuse_cap(maxlen)
            (answer,) = await self._scheduler.schedule(schema.stream, [draft], [id], due_of(delay, at))
            if isinstance(answer, StreamopsError):
                raise answer
            return answer

    async def publish_many(
        self,
        stream: str | Schema,
        bodies: Iterable[object],
        *,
        ids: Sequence[str] | None = None,
        delay: timedelta | float | None = None,
        at: datetime | None = None,
        maxlen: int | None = None,
        fields: Fields = (),
    ) -> list[str]:
        """Publish many bodies in their order, in pipelines of bounded size; their IDs.

        All are encoded before the first is sent.

        Args:
            stream: The stream, a schema, or a schema's name.
            bodies: See ``encode_body``.
            ids: Their IDs; see ``publish``.
            delay: How long from now they become entries.
            at: When they become entries.
            maxlen: About how many entries the stream keeps from now on.
            fields: Further fields of each.

        Raises:
            PublishError: They cannot be published so; nothing was added.
            PartlyPublished: It stopped on the way; ``ids`` tells which were added.
            Unreachable: The server did not answer, and none is known to have been added.
            ServerError: The server refused; nothing was added.
        """
        schema = self._schema_of(stream)
        bodies = _listed(bodies)
        if ids is not None and len(ids) != len(bodies):
            raise PublishError(f"{len(ids)} IDs for {len(bodies)} bodies", "Give one each, or none at all.")
        names: Sequence[str | None] = [None] * len(bodies) if ids is None else ids
        with self._entered(schema.stream, len(bodies)) as stamp:
            drafts = [self._drafter.draft(schema, body, None, None, fields, stamp=stamp) for body in bodies]
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                additions = [
                    Addition(draft.parts, name or publishing.OWN_CHOICE, draft.payload)
                    for draft, name in zip(drafts, names, strict=True)
                ]
                answers = await publishing.add_many(self._server, schema.stream, additions, cap)
            else:
                _refuse_cap(maxlen)
                answers = await self._scheduler.schedule(schema.stream, drafts, names, due_of(delay, at))
            return _all_added(schema.stream, answers, len(drafts))

    async def get(self, stream: str | Schema, id: str) -> DelayedMessage | None:  # noqa: A002 - as in ``publish``
        """A delayed message that is not an entry yet; none where there is none of this ID."""
        return await self._scheduler.get(self._schema_of(stream).stream, id)

    async def cancel(self, stream: str | Schema, id: str) -> bool:  # noqa: A002 - as in ``publish``
        """Remove a delayed message, with its payload; whether there was one."""
        return await self._scheduler.cancel(self._schema_of(stream).stream, id)

    def _schema_of(self, stream: str | Schema) -> Schema:
        if not self._is_open:
            raise PublishError(
                "the publisher is not open", "Write `async with app.publisher() as publisher:` around it."
            )
        if isinstance(stream, Schema):
            return stream
        if not stream:
            raise PublishError("a stream's name is empty", "Name the stream that is published to.")
        return self._schemas.get(stream) or bare_schema(stream)

    def _cap(self, schema: Schema, maxlen: int | None) -> int | None:
        if maxlen is not None:
            check_maxlen(maxlen)
            return maxlen
        return self._maxlen if schema.maxlen is None else schema.maxlen

    def _entered(self, stream: str, count: int) -> AbstractContextManager[Sequence[bytes]]:
        """What is around this call; costs nothing where nothing is."""
        return _all_around(self._around, stream, count) if self._around else _ALONE


@contextmanager
def _all_around(around: Sequence[Around], stream: str, count: int) -> Iterator[Sequence[bytes]]:
    with ExitStack() as entered:
        yield [part for one in around for part in entered.enter_context(one(stream, count))]


def _listed(bodies: Iterable[object]) -> list[object]:
    """Bodies that were given one after another; a body that can be iterated over is not many of them."""
    if isinstance(bodies, (str, bytes, Mapping)):
        raise PublishError(
            f"a {type(bodies).__name__} is one body, not many", "Give a list of bodies, or use `publish`."
        )
    return list(bodies)


def _all_added(stream: str, answers: Sequence[str | StreamopsError], asked: int) -> list[str]:
    """The IDs, where all were added."""
    problem = next((one for one in answers if isinstance(one, StreamopsError)), None)
    ids = [one if isinstance(one, str) else None for one in answers]
    if problem is None:
        return [one for one in ids if one is not None]
    added = sum(one is not None for one in ids)
    if not added:
        raise problem
    raise PartlyPublished(
        f"{added} of {asked} were added to {stream}, then: {problem.message}",
        problem.hint,
        [*ids, *[None] * (asked - len(ids))],
    )


def _refuse_cap(maxlen: int | None) -> None:
    if maxlen is not None:
        raise PublishError(
            "a delayed message cannot cap its stream", "Leave `maxlen=` out; other entries may have it."
        )
