"""Publishing: entries now, or messages that become entries later.

An XADD is never sent twice: where a connection is lost, the caller is told that it is not known whether the entry
was added. Entries that many callers publish at the same time go out in one pipeline.

No cap is set unless one is asked for, by the publisher, a schema or the call: a cap removes what groups have yet
to read. One that is asked for is approximate, which costs the server next to nothing: whole nodes of about a
hundred entries go.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, Self, TypedDict, is_typeddict

import msgspec
from msgspec import Struct

from streamops.errors import PartlyPublished, PublishError, SettingsError, StreamopsError
from streamops.model.delayed import DelayedMessage
from streamops.runtime.codec import DATA, check_maxlen, encode_body, encode_fields, encode_parts
from streamops.runtime.context import Around, all_around
from streamops.runtime.delayed import Scheduler, due_of
from streamops.runtime.payloads import DAY, SHAPE, Payload, check_ttl
from streamops.wire.consuming import payloads, publishing
from streamops.wire.consuming.publishing import Addition
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import NO_CONFIGURATION, require_one_slot
from streamops.wire.options import ConnectionOptions
from streamops.wire.script_calls import MOST_PARTS
from streamops.wire.server import Server


class Schema(Struct, frozen=True):
    """What is published under a name: where to, of which type, and with what defaults.

    Attributes:
        stream: The stream.
        body: The type of the bodies; any unless given.
        name: What the schema is called; the stream's name unless given.
        maxlen: About how many entries the stream keeps, the newest; all unless given.
        payload: Which bodies are kept beside the stream.
    """

    stream: str
    body: Any = Any
    name: str = ""
    maxlen: int | None = None
    payload: Payload | None = None

    def __post_init__(self) -> None:
        check_maxlen(self.maxlen)


@lru_cache(maxsize=1_024)
def bare_schema(stream: str) -> Schema:
    """A stream without a schema of its own."""
    return Schema(stream)


def check_type(body: object, schema: Schema) -> None:
    """Require that a body is of its schema's type; raises ``PublishError``."""
    kind = schema.body
    if isinstance(kind, type) and not is_typeddict(kind):
        if isinstance(body, kind):
            return
        problem = f"it is a {type(body).__name__}"
    else:
        try:
            msgspec.convert(body, kind)
        except (msgspec.ValidationError, TypeError) as error:
            problem = str(error)
        else:
            return
    named = getattr(kind, "__name__", str(kind))
    raise PublishError(
        f"{schema.name or schema.stream} takes {named}: {problem}", "Publish that type, or another stream."
    )


Fields = Mapping[str, Any] | Sequence[tuple[str, Any]]

_ONE_FIELD: Final = 2
_MOST_PARTS: Final = MOST_PARTS - 100


__all__ = ["Around", "Publisher", "Schema"]

_NO_PARTS: Final[AbstractContextManager[Sequence[bytes]]] = nullcontext(())


class PublishOptions(TypedDict, total=False):
    """The options of ``Publisher.publish``."""

    id: str | None
    delay: timedelta | float | None
    at: datetime | None
    maxlen: int | None
    payload: bytes | None
    payload_ttl: timedelta | None
    fields: Fields


class Publisher:
    """Publishes to the streams of one server; used as ``async with``, by as many tasks as there are.

    Args:
        connection: How the server is reached.
        schemas: Names that may be published to like streams.
        maxlen: About how many entries a stream keeps, where neither its schema nor the call says; all unless given. An entry that
            was a delayed message caps nothing.
        payload: Which bodies are kept beside their stream, where the schema does not say; none unless given.
        around: What is put around each call that publishes, the outermost first.
        delayed: Queues of delayed messages by their streams, if they are not ``T:delayed``.
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
        self._payload = payload
        self._around = tuple(around)
        self._delayed = delayed
        self._is_open = False
        for schema in schemas:
            if self._schemas.setdefault(schema.name or schema.stream, schema) is not schema:
                raise SettingsError(
                    f"two schemas are called {schema.name or schema.stream}", "Give each a name of its own."
                )

    async def __aenter__(self) -> Self:
        """Connect; raises ``ServerError`` if that fails."""
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
            draft = self._draft(schema, body, id, fields, stamp=stamp, payload=payload, ttl=payload_ttl)
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                return await publishing.add(self._gatherer, schema.stream, draft, cap)
            _refuse_cap(maxlen)
            (answer,) = await self._scheduler.schedule(schema.stream, [draft], due_of(delay, at))
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
            drafts = [
                self._draft(schema, body, name, fields, stamp=stamp)
                for body, name in zip(bodies, names, strict=True)
            ]
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                answers = await publishing.add_many(self._server, schema.stream, drafts, cap)
            else:
                _refuse_cap(maxlen)
                answers = await self._scheduler.schedule(schema.stream, drafts, due_of(delay, at))
            return _all_added(schema.stream, answers, len(drafts))

    async def get(self, stream: str | Schema, id: str) -> DelayedMessage | None:  # noqa: A002 - as in ``publish``
        """A delayed message that is not an entry yet; None if there is none of this ID."""
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

    def _draft(
        self,
        schema: Schema,
        body: object,
        entry_id: str | None,
        fields: Fields,
        *,
        stamp: Sequence[bytes],
        payload: bytes | None = None,
        ttl: timedelta | None = None,
    ) -> Addition:
        """Fields from a body, and what is kept beside the stream; raises ``PublishError`` if it cannot be published so."""
        if schema.body is not Any:
            check_type(body, schema)
        policy = schema.payload or self._payload
        parts, entry_id = encode_body(body), entry_id or publishing.OWN_CHOICE
        if policy is None and payload is None and not fields:
            return Addition([*parts, *stamp] if stamp else parts, entry_id)
        further = [*encode_fields(fields), *stamp]
        if ttl is not None:
            check_ttl(ttl)
        if payload is not None:
            kept = self._keep(schema.stream, payload, ttl or (policy.ttl if policy else DAY), parts)
            return Addition([*parts, *further, *kept.reference], entry_id, kept)
        if policy is not None and sum(map(len, parts)) > policy.max_inline:
            shape, value = (b"", parts[1])
            if len(parts) != _ONE_FIELD or parts[0] != DATA:
                shape, value = encode_parts(body, parts)
            kept = self._keep(schema.stream, value, ttl or policy.ttl, further)
            # A body that is kept beside the stream is referred to first, before all other fields.
            return Addition([*kept.reference, *((SHAPE, shape) if shape else ()), *further], entry_id, kept)
        return Addition(parts + further, entry_id)

    def _keep(
        self, stream: str, value: bytes, ttl: timedelta, parts: Sequence[bytes]
    ) -> payloads.StoredPayload:
        if len(parts) > _MOST_PARTS:
            raise PublishError(
                f"an entry of {len(parts) // 2} fields cannot have a payload outside the stream",
                "Make it one field of JSON.",
            )
        kept = payloads.new_payload(stream, value, ttl)
        require_one_slot(self._connection.mode, stream, kept.key)
        return kept

    def _cap(self, schema: Schema, maxlen: int | None) -> int | None:
        if maxlen is not None:
            check_maxlen(maxlen)
            return maxlen
        return self._maxlen if schema.maxlen is None else schema.maxlen

    def _entered(self, stream: str, count: int) -> AbstractContextManager[Sequence[bytes]]:
        """What is around this call; costs nothing if nothing is."""
        return all_around(self._around, stream, count) if self._around else _NO_PARTS


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
