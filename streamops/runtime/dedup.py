"""Deduplication: an entry's original ID before a replay, and whether it owns its business key."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from streamops.errors import HandlerError
from streamops.model.delayed import ORIGIN_ID
from streamops.model.text import name_bytes, name_text
from streamops.runtime.codec import DATA, Decode
from streamops.runtime.context import WorkerContext
from streamops.runtime.entry import ConsumerStream, Entry
from streamops.runtime.events import Duplicate
from streamops.runtime.executor import Executor
from streamops.runtime.handlers import IdempotencyRule
from streamops.runtime.retry import Undecodable, retry_after, words
from streamops.wire.consuming.idempotency import IdempotencyKeys, KeyClaim, KeyVerdict, are_noted
from streamops.wire.consuming.subscription import mark_prefix
from streamops.wire.keys import decoded_part, encoded_part

LATER: Final = timedelta(seconds=1)
"""After this an entry asks again for a key whose owner may not be handled."""
KeyOf = Callable[[Entry], str]
"""Gives the business key of an entry; raises ``Undecodable`` if it has none, and whatever decoders and users' functions raise."""


class Deduplicator:
    """Lets through those entries of one handler that own their business keys."""

    def __init__(self, context: WorkerContext, executor: Executor) -> None:
        self._key_of: KeyOf = _no_key
        self._context = context
        self._executor = executor
        self._guards = IdempotencyKeys(context.server)

    def prepare(self, body: Decode | None) -> None:
        """Set how keys are found; a user's function gets the body that ``body`` decodes, or the entry without it."""
        if guard := self._executor.handler.guard:
            self._key_of = key_reader(guard, body)

    def key_of(self, entry: Entry) -> str:
        """The key on the server for an entry's business key; raises as ``KeyOf``."""
        return entry.consumer_stream.subscription.guards + encoded_part(self._key_of(entry))

    async def look_up_origins(self, entries: Sequence[Entry]) -> None:
        """Give entries their original IDs, if the server has a replay's record of them."""
        replayed = [entry for entry in entries if says_origin(entry)]
        if not replayed:
            return
        origins = [entry.get(ORIGIN_ID) or b"" for entry in replayed]
        rows = [(entry.raw_id, origin) for entry, origin in zip(replayed, origins, strict=True)]
        sub = replayed[0].consumer_stream.subscription
        noted = await self._context.insist(sub.stream, lambda: are_noted(self._context.server, sub, rows))
        for entry, origin, is_noted in zip(replayed, origins, noted, strict=True):
            if is_noted:
                entry.noted_origin = origin

    async def claim_keys(self, entries: Sequence[Entry]) -> list[Entry]:
        """Claim the business keys of entries of one stream or retry stream; the entries that own theirs, in order."""
        stream = entries[0].consumer_stream
        prefix, key_of = stream.subscription.guards, self._key_of
        keyed: list[Entry] = []
        claims: list[KeyClaim] = []
        for entry in entries:
            try:
                key = prefix + encoded_part(key_of(entry))
            except Exception as error:  # noqa: BLE001 - bodies may hold anything, and a user's function may raise it
                await self._executor.fail(entry, _undecodable(error))
            else:
                origin = entry.raw_origin_id
                moved = stream.retries or origin != entry.raw_id
                place = mark_prefix(retries=stream.retries) + entry.id if moved else None
                keyed.append(entry)
                claims.append(KeyClaim(key, origin, place))
        if not keyed:
            return []
        sub, guards = stream.subscription, self._guards
        owners = await self._context.insist(sub.stream, lambda: guards.take(sub, claims))
        verdicts = await self._contest(claims, owners, stream)
        kept = []
        for entry, claim, owner in zip(keyed, claims, owners, strict=True):
            if owner == claim.origin:
                entry.idempotency_key = claim.key
                kept.append(entry)
            elif owner is None:
                why = f"its guard {claim.key} is no string: another program put another type there"
                await self._executor.fail(entry, Undecodable(why))
            elif (verdict := next(verdicts)) is KeyVerdict.MINE:
                entry.idempotency_key = claim.key
                kept.append(entry)
            elif verdict is KeyVerdict.LATER:
                why = "the owner of its key is gone and may be handled yet"
                await self._executor.apply(entry, retry_after(LATER, why, counts=False))
            else:
                self._executor.counts.duplicates += 1
                key = decoded_part(claim.key.removeprefix(stream.subscription.guards))
                self._context.events.emit(Duplicate(entry.stream, entry.group, entry.id, key))
                stream.finish(entry, completed=False)
        return kept

    async def _contest(
        self, claims: Sequence[KeyClaim], owners: Sequence[bytes | None], stream: ConsumerStream
    ) -> Iterator[KeyVerdict]:
        """Verdicts on the keys that other entries own, in order."""
        sub = stream.subscription
        owned = zip(claims, owners, strict=True)
        rows = [(claim, owner) for claim, owner in owned if owner is not None and owner != claim.origin]
        if not rows:
            return iter(())
        return iter(await self._context.insist(sub.stream, lambda: self._guards.contest(sub, rows)))


def says_origin(entry: Entry) -> bool:
    """Whether an entry of a stream, not of its retry stream, has a field with an original ID."""
    return ORIGIN_ID in entry.raw and not entry.consumer_stream.retries


def key_reader(guard: IdempotencyRule, body: Decode | None) -> KeyOf:
    """Make the function that finds an entry's business key.

    A name is searched among the entry's fields, then in the JSON object of its field ``data``, of which no other member is
    decoded. A user's function gets the body as the handler does.
    """
    if callable(guard.key):
        return _computed(guard.key, body)
    name, field = guard.key, guard.key.encode()
    keyed = msgspec.defstruct("Keyed", [("key", Any, None)], rename={"key": name})
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(keyed).decode

    def key_of(entry: Entry) -> str:
        raw = entry.raw
        value: Any = entry.get(field) if field in raw else None
        if value is None:
            data = raw[1] if raw and raw[0] == DATA else entry.get(DATA)
            try:
                value = None if data is None else decode(data).key
            except (msgspec.DecodeError, msgspec.ValidationError):
                value = None
        return _spelled(value, name)

    return key_of


def _no_key(_: Entry) -> str:
    raise Undecodable("it needs no key")


def _computed(function: Callable[[Any], str], body: Decode | None) -> KeyOf:
    def key_of(entry: Entry) -> str:
        key = _spelled(function(entry if body is None else body(entry.raw)), "key")
        # A lone surrogate cannot be sent.
        name_bytes(key)
        return key

    return key_of


def _undecodable(error: Exception) -> HandlerError:
    """The error of an entry whose key failed; a user's ``Skip`` or ``Reject`` stays."""
    return (
        error
        if isinstance(error, HandlerError)
        else Undecodable(f"its key cannot be determined: {words(error)}")
    )


def _spelled(value: object, name: str) -> str:
    """A key as text; raises if it is empty, as all entries without one would share it."""
    if type(value) is str and value:
        return value
    if value is None or value in ("", b""):
        raise Undecodable(f"it has no {name}, by which it would be known again")
    return name_text(value) if isinstance(value, bytes) else str(value)
