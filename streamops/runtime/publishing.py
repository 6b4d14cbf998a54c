"""Publishing: entries now, or messages that become entries later.

An XADD is never sent twice: where a connection is lost, the caller is told that it is not known whether the entry
was added. Entries that many callers publish at the same time go out in one pipeline.

No cap is set unless one is asked for, by the publisher, a schema or the call: a cap removes what groups have yet to read. One
that is asked for is approximate, which costs the server next to nothing: whole nodes of about a hundred entries go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime, timedelta
from secrets import token_hex
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from streamops.errors import PartlyPublished, PublishError, SettingsError, StreamopsError, Unreachable
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.runtime.encoding import DATA, encode_body, encode_fields, encode_json
from streamops.runtime.payloads import DAY, Payload, check_ttl
from streamops.runtime.schemas import Schema, bare_schema, check_maxlen, check_type
from streamops.wire import delaying
from streamops.wire.consuming import payloads, publishing
from streamops.wire.consuming.publishing import Addition
from streamops.wire.faults import Fault
from streamops.wire.gathering import Gatherer
from streamops.wire.keys import delayed_key, payload_key, require_one_slot
from streamops.wire.options import ConnectionOptions
from streamops.wire.reads import read_clock
from streamops.wire.server import Server

__all__ = ["Around", "Publisher", "Schema"]

NO_DELAY: Final = timedelta(0)

Fields = Mapping[str, Any] | Sequence[tuple[str, Any]]
Around = Callable[[str, int], AbstractContextManager[Sequence[bytes]]]
"""Called with the stream and the number of bodies; gives names and values of reserved fields, in turn, for each."""

_ALONE: Final[AbstractContextManager[Sequence[bytes]]] = nullcontext(())


class _Draft(NamedTuple):
    """A body on its way to become an entry or a delayed message."""

    parts: list[bytes]
    payload: payloads.Payload | None = None


class Publisher:
    """Publishes to the streams of one server; used as ``async with``, by as many tasks as there are.

    Args:
        connection: How the server is reached.
        schemas: Names that may be published to like streams.
        maxlen: About how many entries a stream keeps, where neither its schema nor the call says; all unless given.
        payload: Which bodies are kept beside their stream, where the schema does not say; none unless given.
        around: What is put around each call that publishes, the outermost first.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        *,
        schemas: Iterable[Schema] = (),
        maxlen: int | None = None,
        payload: Payload | None = None,
        around: Sequence[Around] = (),
    ) -> None:
        check_maxlen(maxlen)
        self._connection = connection
        self._schemas: dict[str, Schema] = {}
        self._maxlen = maxlen
        self._payload = payload
        self._around = tuple(around)
        for schema in schemas:
            if self._schemas.setdefault(schema.name or schema.stream, schema) is not schema:
                raise SettingsError(
                    f"two schemas are called {schema.name or schema.stream}", "Give each a name of its own."
                )

    async def __aenter__(self) -> Self:
        """Connect; raises ``ServerError`` where that fails."""
        self._server = await Server.connect(self._connection)
        self._gatherer = Gatherer(self._server)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is under way, and disconnect."""
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
            draft = self._draft(schema, body, payload, payload_ttl, fields, stamp=stamp)
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                addition = Addition(draft.parts, id or publishing.OWN_CHOICE, draft.payload)
                return await publishing.add(self._gatherer, schema.stream, addition, cap)
            _refuse_cap(maxlen)
            (answer,) = await self._delay(schema.stream, [draft], [id], _due(delay, at))
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
        bodies = list(bodies)
        if ids is not None and len(ids) != len(bodies):
            raise PublishError(f"{len(ids)} IDs for {len(bodies)} bodies", "Give one each, or none at all.")
        names: Sequence[str | None] = [None] * len(bodies) if ids is None else ids
        with self._entered(schema.stream, len(bodies)) as stamp:
            drafts = [self._draft(schema, body, None, None, fields, stamp=stamp) for body in bodies]
            if delay is None and at is None:
                cap = self._cap(schema, maxlen)
                additions = [
                    Addition(draft.parts, name or publishing.OWN_CHOICE, draft.payload)
                    for draft, name in zip(drafts, names, strict=True)
                ]
                answers = await publishing.add_many(self._server, schema.stream, additions, cap)
            else:
                _refuse_cap(maxlen)
                answers = await self._delay(schema.stream, drafts, names, _due(delay, at))
            return _all_added(schema.stream, answers, len(drafts))

    async def get(self, stream: str | Schema, id: str) -> DelayedMessage | None:  # noqa: A002 - as in ``publish``
        """A delayed message that is not an entry yet; none where there is none of this ID."""
        name = self._schema_of(stream).stream
        self._require_one_slot(name)
        answer = await delaying.delayed_get(self._server, name, id)
        if isinstance(answer, Fault):
            raise answer.error(delayed_key(name))
        return answer

    async def cancel(self, stream: str | Schema, id: str) -> bool:  # noqa: A002 - as in ``publish``
        """Remove a delayed message, with its payload; whether there was one."""
        name = self._schema_of(stream).stream
        message = await self.get(name, id)
        answer = await delaying.delayed_cancel(self._server, name, id)
        if isinstance(answer, Fault):
            raise answer.error(delayed_key(name))
        if answer and message is not None and message.body is not None:
            for field, value in message.body.fields:
                key = value.decode("utf-8", "surrogateescape")
                if field == payloads.REFERENCE and key.startswith(payload_key(name, "")):
                    await payloads.drop_payload(self._server, key)
        return answer

    def _schema_of(self, stream: str | Schema) -> Schema:
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

    def _draft(
        self,
        schema: Schema,
        body: object,
        payload: bytes | None,
        ttl: timedelta | None,
        fields: Fields,
        *,
        stamp: Sequence[bytes],
    ) -> _Draft:
        if schema.body is not Any:
            check_type(body, schema)
        policy = schema.payload or self._payload
        parts = encode_body(body)
        if policy is None and payload is None and not fields:
            return _Draft([*parts, *stamp] if stamp else parts)
        further = [*encode_fields(fields), *stamp]
        if ttl is not None:
            check_ttl(ttl)
        if payload is not None:
            kept = self._keep(schema.stream, payload, ttl or (policy.ttl if policy else DAY), parts)
            return _Draft([*parts, *further, *kept.reference], kept)
        if policy is not None and sum(map(len, parts)) > policy.max_inline:
            value = parts[1] if len(parts) == _ONE_FIELD and parts[0] == DATA else encode_json(body)
            kept = self._keep(schema.stream, value, ttl or policy.ttl, further)
            # A body that is kept beside the stream is referred to first, before all other fields.
            return _Draft([*kept.reference, *further], kept)
        return _Draft(parts + further)

    def _keep(self, stream: str, value: bytes, ttl: timedelta, parts: Sequence[bytes]) -> payloads.Payload:
        if len(parts) > payloads.MOST_PARTS - 100:
            raise PublishError(
                f"an entry of {len(parts) // 2} fields cannot have a payload beside it",
                "Make it one field of JSON.",
            )
        kept = payloads.new_payload(stream, value, ttl)
        require_one_slot(self._connection.mode, stream, kept.key)
        return kept

    async def _delay(
        self, stream: str, drafts: Sequence[_Draft], ids: Sequence[str | None], due: timedelta | datetime
    ) -> list[str | StreamopsError]:
        """Schedule messages; for each its ID, or why it was not."""
        self._require_one_slot(stream)
        names = [name or token_hex(8) for name in ids]
        messages = [
            delaying.Delayed(name, DelayedBody(stream, _pairs(draft.parts)), due)
            for name, draft in zip(names, drafts, strict=True)
        ]
        kept = [draft.payload for draft in drafts if draft.payload is not None]
        problem: Unreachable | None = None
        if kept:
            await self._keep_ahead(kept, due)
        try:
            dues = await delaying.schedule_many(self._server, stream, messages)
        except Unreachable as error:
            problem = error
        if problem is not None:
            raise publishing.unknown(problem, "all messages were added to the delayed ones of", stream)
        answers = [_scheduled(stream, name, due) for name, due in zip(names, dues, strict=True)]
        for draft, answer in zip(drafts, answers, strict=True):
            if draft.payload is not None and isinstance(answer, StreamopsError):
                await payloads.drop_payload(self._server, draft.payload.key)
        return answers

    async def _keep_ahead(self, kept: Sequence[payloads.Payload], due: timedelta | datetime) -> None:
        """Keep the payloads of messages: until they are due, and as long again as any payload is kept."""
        if isinstance(due, datetime):
            now = await read_clock(self._server, kept[0].key)
            wait = NO_DELAY if now is None else due - now
        else:
            wait = due
        for one in kept:
            longer = one._replace(ttl=one.ttl + max(wait, NO_DELAY))
            if problem := await payloads.keep_payload(self._server, longer):
                raise problem.error(f"payload {one.key}")

    def _require_one_slot(self, stream: str) -> None:
        require_one_slot(self._connection.mode, stream, delayed_key(stream))


_ONE_FIELD: Final = 2


@contextmanager
def _all_around(around: Sequence[Around], stream: str, count: int) -> Iterator[Sequence[bytes]]:
    with ExitStack() as entered:
        yield [part for one in around for part in entered.enter_context(one(stream, count))]


def _pairs(parts: Sequence[bytes]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple(zip(parts[::2], parts[1::2], strict=True))


def _due(delay: timedelta | float | None, at: datetime | None) -> timedelta | datetime:
    if at is not None:
        if delay is not None:
            raise PublishError("both `delay=` and `at=` were given", "Give one of them.")
        if at.tzinfo is None:
            raise PublishError(
                "`at=` is a time without a time zone", "Give one, such as datetime(..., tzinfo=UTC)."
            )
        return at
    wait = delay if isinstance(delay, timedelta) else timedelta(seconds=delay or 0)
    if wait < NO_DELAY:
        raise PublishError(
            f"the delay is negative: {delay}", "Give how long from now the entry is to be added."
        )
    return wait


def _scheduled(stream: str, ident: str, due: datetime | Fault | None) -> str | StreamopsError:
    if isinstance(due, Fault):
        return due.error(delayed_key(stream))
    if due is None:
        return PublishError(
            f"stream {stream} has a delayed message {ident} already",
            "Where the same message was published before, it is there.",
        )
    return ident


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
