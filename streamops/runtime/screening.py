"""What happens to a batch between its arrival and its handling: payloads are fetched, guards are taken.

Both cost one round trip a batch, not one an entry, and nothing at all where a batch needs neither.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

from streamops.errors import HandlerError, ServerError
from streamops.runtime.decoding import DATA, Decode
from streamops.runtime.entry import PAYLOAD, Entry
from streamops.runtime.events import Duplicate, Event, Troubled
from streamops.runtime.handlers import Guard
from streamops.runtime.policy import PayloadMissing, Undecodable
from streamops.runtime.tally import Tally
from streamops.wire.consuming.guarding import Guards
from streamops.wire.consuming.payloads import fetch_payloads
from streamops.wire.keys import PAYLOAD_INFIX, done_prefix, encoded_part
from streamops.wire.server import Server

PAUSE: Final = 0.2
KeyOf = Callable[[Entry], str]
"""The business key of an entry; raises ``Undecodable`` where it has none."""


class Screening:
    """Screens what one handler is given."""

    def __init__(
        self,
        server: Server,
        guard: Guard | None,
        body: Decode | None,
        *,
        failed: Callable[[Entry, BaseException], Awaitable[None]],
        finished: Callable[[Entry], None],
        emit: Callable[[Event], None],
        tally: Tally,
    ) -> None:
        self._server = server
        self._guard = guard
        self._guards = Guards(server)
        self._key_of = key_reader(guard, body) if guard else None
        self._failed = failed
        self._finished = finished
        self._emit = emit
        self._tally = tally

    def is_needed(self, entries: Sequence[Entry]) -> bool:
        """Whether there is anything to screen; else it need not be waited for."""
        return bool(entries) and (self._guard is not None or any(PAYLOAD in entry.raw for entry in entries))

    async def screen(self, entries: list[Entry]) -> list[Entry]:
        """Sort out what needs no handling, or cannot be handled; the rest, in order."""
        referring = [entry for entry in entries if PAYLOAD in entry.raw and refers(entry)]
        if referring:
            missing = await self._fetch(referring)
            if missing:
                entries = [entry for entry in entries if entry not in missing]
        if self._guard is not None and self._key_of is not None:
            entries = await self._take_guards(entries, self._guard, self._key_of)
        return entries

    async def _fetch(self, entries: Sequence[Entry]) -> set[Entry]:
        """Fetch the payloads that entries refer to; the entries whose payloads are gone."""
        keys = [(entry.get(PAYLOAD) or b"").decode("utf-8", "surrogateescape") for entry in entries]
        payloads = await self._insist(entries, lambda: fetch_payloads(self._server, keys))
        missing = set()
        for entry, key, payload in zip(entries, keys, payloads, strict=True):
            entry.payload_key = key
            entry.payload = payload
            if payload is None:
                missing.add(entry)
                await self._failed(entry, PayloadMissing(f"there is no key {key}"))
            elif entry.raw[0] == PAYLOAD:
                # It stands for the whole body, as `data` would.
                entry.raw = [DATA, payload, *entry.raw]
        return missing

    async def _take_guards(self, entries: Sequence[Entry], guard: Guard, key_of: KeyOf) -> list[Entry]:
        """Take the keys of entries; the entries that own theirs."""
        if not entries:
            return []
        # A batch is of one stream, or of its retry stream.
        stream, prefix = entries[0].stream, done_prefix(entries[0].stream, entries[0].group)
        guarded, claims = [], []
        for entry in entries:
            try:
                key = key_of(entry)
            except HandlerError as error:
                await self._failed(entry, error)
                continue
            entry.guard_key = prefix + encoded_part(key)
            guarded.append(entry)
            claims.append((entry.guard_key, entry.raw_origin_id))
        if not claims:
            return []
        owners = await self._insist(guarded, lambda: self._guards.take(stream, claims, guard.ttl))
        kept = []
        for entry, (_, mine), owner in zip(guarded, claims, owners, strict=True):
            if owner == mine:
                kept.append(entry)
                continue
            # Its key is another's to free.
            entry.guard_key = None
            self._tally.duplicates += 1
            self._emit(Duplicate(entry.stream, entry.group, entry.id, key_of(entry)))
            self._finished(entry)
        return kept

    async def _insist(self, entries: Sequence[Entry], ask: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        """Ask until there is an answer: the entries are in hand, and wait."""
        while True:
            try:
                return await ask()
            except ServerError as error:
                self._emit(Troubled(entries[0].stream, error))
                await asyncio.sleep(PAUSE)


def refers(entry: Entry) -> bool:
    """Whether an entry refers to a payload; what is no such key by its name is a field like any other."""
    return PAYLOAD_INFIX.encode() in (entry.get(PAYLOAD) or b"")


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
        if value is None or value in ("", b""):
            raise Undecodable(f"it has no {name}, by which it would be known again")
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)

    return key_of


def _computed(function: Callable[[Any], str], body: Decode | None) -> KeyOf:
    def key_of(entry: Entry) -> str:
        try:
            return str(function(entry if body is None else body(entry.raw)))
        except HandlerError:
            raise
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            raise Undecodable(f"its key cannot be told: {type(error).__name__}: {error}") from None

    return key_of
