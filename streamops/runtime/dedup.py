"""What happens to a batch between its arrival and its handling: origins are looked up, payloads fetched, guards taken.

Each costs one round trip a batch, not one an entry, and nothing at all where a batch does not need it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import msgspec

from streamops.errors import HandlerError, ServerError
from streamops.model.delayed import ORIGIN_ID
from streamops.model.names import name_bytes, name_text
from streamops.runtime.counts import Counts
from streamops.runtime.decoding import DATA, Decode
from streamops.runtime.encoding import decode_parts
from streamops.runtime.entry import PAYLOAD, Entry
from streamops.runtime.events import Duplicate, Event, Troubled
from streamops.runtime.handlers import Guard
from streamops.runtime.payloads import SHAPE
from streamops.runtime.retry import PayloadMissing, Undecodable, words
from streamops.wire.consuming.asking import is_beside, mark_prefix
from streamops.wire.consuming.guarding import Claim, Guards, Verdict, are_noted
from streamops.wire.consuming.payloads import fetch_payloads
from streamops.wire.keys import decoded_part, encoded_part
from streamops.wire.server import Server

PAUSE: Final = 0.2
LATER: Final = timedelta(seconds=1)
"""After which time an entry asks again for a key whose owner may not come to be handled."""
KeyOf = Callable[[Entry], str]
"""The business key of an entry; raises ``Undecodable`` where it has none, and whatever bodies and users raise."""


class Deduplicator:
    """Screens what one handler is given."""

    def __init__(
        self,
        server: Server,
        guard: Guard | None,
        body: Decode | None,
        *,
        failed: Callable[[Entry, BaseException], Awaitable[None]],
        postponed: Callable[[Entry, timedelta, str], Awaitable[None]],
        finished: Callable[[Entry], None],
        emit: Callable[[Event], None],
        counts: Counts,
    ) -> None:
        self._server = server
        self._guard = guard
        self._guards = Guards(server)
        self._key_of = key_reader(guard, body) if guard else no_key
        self._failed = failed
        self._postponed = postponed
        self._finished = finished
        self._emit = emit
        self._counts = counts

    def is_needed(self, entries: Sequence[Entry]) -> bool:
        """Whether there is anything to screen; else it need not be waited for."""
        return bool(entries) and (
            self._guard is not None or any(PAYLOAD in entry.raw or says_origin(entry) for entry in entries)
        )

    async def screen(self, entries: list[Entry]) -> list[Entry]:
        """Sort out what needs no handling, or cannot be handled; the rest, in order."""
        telling = [entry for entry in entries if says_origin(entry)]
        if telling:
            await self._look_up_origins(telling)
        referring = [entry for entry in entries if PAYLOAD in entry.raw and refers(entry)]
        if referring:
            missing = await self._fetch(referring)
            if missing:
                entries = [entry for entry in entries if entry not in missing]
        return entries if self._guard is None else await self._take_guards(entries)

    async def _look_up_origins(self, entries: Sequence[Entry]) -> None:
        """Let those entries be what they were before a replay of which the server has a note."""
        said = [entry.get(ORIGIN_ID) or b"" for entry in entries]
        rows = [(entry.raw_id, origin) for entry, origin in zip(entries, said, strict=True)]
        sub = entries[0].side.subscription
        noted = await self._insist(entries, lambda: are_noted(self._server, sub, rows))
        for entry, origin, is_noted in zip(entries, said, noted, strict=True):
            if is_noted:
                entry.noted_origin = origin

    async def _fetch(self, entries: Sequence[Entry]) -> set[Entry]:
        """Fetch the payloads that entries refer to; the entries whose payloads are gone."""
        keys = [name_text(entry.get(PAYLOAD) or b"") for entry in entries]
        payloads = await self._insist(entries, lambda: fetch_payloads(self._server, keys))
        missing = set()
        for entry, key, payload in zip(entries, keys, payloads, strict=True):
            entry.payload_key = key
            if payload is None:
                missing.add(entry)
                await self._miss(entry, key)
                continue
            entry.payload = payload
            if entry.raw[0] == PAYLOAD:
                # It stands for the whole body, as `data` or the body's fields would.
                parts = decode_parts(entry.get(SHAPE), payload)
                entry.unfetched = entry.raw
                entry.raw = [*(parts or (DATA, payload)), *entry.raw]
        return missing

    async def _miss(self, entry: Entry, key: str) -> None:
        """Give an entry up that has no payload; its business key is freed where an earlier try has taken it."""
        # Without its payload the key may not be told.
        with suppress(Exception):
            entry.guard_key = self._guard_of(entry)
        await self._failed(entry, PayloadMissing(f"there is no key {key}"))

    async def _take_guards(self, entries: Sequence[Entry]) -> list[Entry]:
        """Take the keys of entries; the entries that own theirs."""
        if not entries:
            return []
        # A batch is of one stream, or of its retry stream.
        side = entries[0].side
        sub, prefix = side.subscription, mark_prefix(retries=side.retries)
        guarded, claims = [], []
        for entry in entries:
            try:
                key = self._guard_of(entry)
            except Exception as error:  # noqa: BLE001 - bodies may hold anything, and a user's function may raise it
                await self._failed(entry, _undecodable(error))
                continue
            guarded.append(entry)
            claims.append(Claim(key, entry.raw_origin_id, prefix + entry.id))
        if not claims:
            return []
        owners = await self._insist(guarded, lambda: self._guards.take(sub, claims))
        contested = [
            (claim, owner)
            for claim, owner in zip(claims, owners, strict=True)
            if owner is not None and owner != claim.origin
        ]
        verdicts: Iterator[Verdict] = iter(())
        if contested:
            verdicts = iter(await self._insist(guarded, lambda: self._guards.contest(sub, contested)))
        kept = []
        for entry, claim, owner in zip(guarded, claims, owners, strict=True):
            if owner is None:
                why = f"its guard {claim.key} is no string: somebody put another type there"
                await self._failed(entry, Undecodable(why))
            elif owner == claim.origin or (verdict := next(verdicts)) is Verdict.MINE:
                entry.guard_key = claim.key
                kept.append(entry)
            elif verdict is Verdict.LATER:
                await self._postponed(entry, LATER, "the owner of its key is gone and may be handled yet")
            else:
                self._counts.duplicates += 1
                told = decoded_part(claim.key.removeprefix(sub.guards))
                self._emit(Duplicate(entry.stream, entry.group, entry.id, told))
                self._finished(entry)
        return kept

    def _guard_of(self, entry: Entry) -> str:
        return entry.side.subscription.guards + encoded_part(self._key_of(entry))

    async def _insist(self, entries: Sequence[Entry], ask: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        """Ask until there is an answer: the entries are in hand, and wait."""
        while True:
            try:
                return await ask()
            except ServerError as error:
                self._emit(Troubled(entries[0].stream, error))
                await asyncio.sleep(PAUSE)


def refers(entry: Entry) -> bool:
    """Whether an entry refers to a payload beside its stream; whatever else it names is a field like any other."""
    return is_beside(entry.side.subscription, name_text(entry.get(PAYLOAD) or b""))


def says_origin(entry: Entry) -> bool:
    """Whether an entry of the stream itself says that it was another one before."""
    return ORIGIN_ID in entry.raw and not entry.side.retries


def key_reader(guard: Guard, body: Decode | None) -> KeyOf:
    """What finds the business key of an entry.

    A name is looked for among the entry's fields, then among the members of the JSON in its field ``data``, of
    which nothing else is decoded. A function is given the body as the handler would be.
    """
    if callable(guard.key):
        return _computed(guard.key, body)
    name, field = guard.key, guard.key.encode()
    decode = msgspec.json.Decoder(msgspec.defstruct("Keyed", [("key", Any)], rename={"key": name})).decode

    def key_of(entry: Entry) -> str:
        value: Any = entry.get(field)
        if value is None:
            data = entry.get(DATA)
            try:
                value = None if data is None else getattr(decode(data), "key", None)
            except (msgspec.DecodeError, msgspec.ValidationError):
                value = None
        return _spelled(value, name)

    return key_of


def no_key(_: Entry) -> str:
    """Where there is no guard."""
    raise Undecodable("it needs no key")


def _computed(function: Callable[[Any], str], body: Decode | None) -> KeyOf:
    def key_of(entry: Entry) -> str:
        key = _spelled(function(entry if body is None else body(entry.raw)), "key")
        # Half a surrogate pair is no text, and cannot be sent.
        name_bytes(key)
        return key

    return key_of


def _undecodable(error: Exception) -> HandlerError:
    """What an entry's key failed with; its author may also have meant to skip or to reject it."""
    return (
        error if isinstance(error, HandlerError) else Undecodable(f"its key cannot be told: {words(error)}")
    )


def _spelled(value: object, name: str) -> str:
    """A key as text; without any, all entries that have none would be taken for one."""
    if value is None or value in ("", b""):
        raise Undecodable(f"it has no {name}, by which it would be known again")
    return name_text(value) if isinstance(value, bytes) else str(value)
