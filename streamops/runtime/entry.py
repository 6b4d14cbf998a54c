"""Entries on their way through a worker, and the streams that a consumer reads."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import Enum, auto
from hashlib import sha1
from itertools import chain, groupby
from math import inf
from typing import Any, Final

from streamops.errors import PublishError, ServerError
from streamops.model.delayed import ATTEMPT, ORIGIN_ID
from streamops.model.deliveries import Message
from streamops.model.streams import Mode
from streamops.model.text import name_text
from streamops.runtime.codec import check_maxlen, encode_body, encode_fields
from streamops.runtime.context import WorkerContext, all_around
from streamops.runtime.counts import HandlerCounters
from streamops.runtime.events import Completed, Troubled
from streamops.wire.consuming.claiming import START
from streamops.wire.consuming.entries import AckRow, acknowledge_checked, acknowledge_plain
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.keys import same_slot
from streamops.wire.script_calls import MOST_PARTS

PAYLOAD: Final = b"_so_payload"
TRACE: Final = b"_so_trace"
MOST_DIGITS: Final = 9
MOST: Final = 1000
"""Acknowledgements sent in one command at most."""
ENOUGH: Final = 100
"""Acknowledgements that are sent without waiting for more."""
PATIENCE: Final = 0.005
"""Seconds that fewer acknowledgements wait for more."""
PAUSE: Final = 0.2
MINUTE: Final = timedelta(minutes=1)


class EntryState(Enum):
    """The state of an entry in this worker, from its delivery to its end.

    ::

        XREADGROUP, XCLAIM            returned, skipped         confirmed
          │               a slot      ┌───────────────► HANDLED ─────────► ACKNOWLEDGED
          ▼             takes it      │                    ├─────────────┐ another entry has its ID
        QUEUED ─────────────────► RUNNING ◄────────────────┘ ──────────► LOST
          ▲ │                         ├──► DELAYED, DEAD_LETTERED, STUCK
          │ │                         ▼
          │ │      its time came   WAITING
          └─│─────────────────────────┤
            └─────────────────────────┴── drain ──► HANDED_BACK

    An entry whose payload or business key is missing fails from ``QUEUED`` as others do from ``RUNNING``. A ``STUCK`` entry
    is handed back at the drain, too. An entry goes from ``HANDLED`` back to ``RUNNING`` and fails there if the server
    refuses the messages published with it. What other clients do to an entry meanwhile (``Entry.lost``, ``deleted``) is
    noticed at its next step.
    """

    QUEUED = auto()
    """Its payload and business key are looked up; then it waits for a slot."""
    RUNNING = auto()
    """A slot marks its start if needed, and calls the handler."""
    WAITING = auto()
    """It failed, and stays pending with this worker until its next try."""
    HANDLED = auto()
    """Its handler is done; the server has not confirmed the acknowledgement."""
    ACKNOWLEDGED = auto()
    DELAYED = auto()
    """It is in the delayed queue, from where any worker of the group takes it."""
    DEAD_LETTERED = auto()
    STUCK = auto()
    """It stays pending, and can neither be handled nor dead-lettered."""
    LOST = auto()
    """Another consumer owns it, or it is no longer pending."""
    HANDED_BACK = auto()
    """It was not started when the worker stopped; any consumer may claim it."""


QUEUED, RUNNING, WAITING, HANDLED, ACKNOWLEDGED, DELAYED, DEAD_LETTERED, STUCK, LOST, HANDED_BACK = EntryState
_FAILED: Final = frozenset({HANDLED, WAITING, DELAYED, DEAD_LETTERED, STUCK, LOST})
TRANSITIONS: Final[Mapping[EntryState, frozenset[EntryState]]] = {
    QUEUED: _FAILED | {RUNNING, HANDED_BACK},
    RUNNING: _FAILED,
    WAITING: frozenset({QUEUED, HANDED_BACK}),
    HANDLED: frozenset({ACKNOWLEDGED, LOST, RUNNING}),
    STUCK: frozenset({HANDED_BACK}),
}
"""The states that may follow each state; those without a row are final."""


class Entry:
    """One entry, from its delivery to its acknowledgement.

    Values that most entries share are class attributes, which makes an entry cheap to create.

    Attributes:
        consumer_stream: The stream or retry stream that it was read from.
        raw_id: Its ID in bytes.
        raw: Field names and values in turn, in bytes.
        leased_at: When it was delivered, or its lease last renewed, on the monotonic clock.
        handovers: ``Server.handovers`` when it was delivered.
        deliveries: The server's delivery count; other clients' history reads count too.
        state: Its state.
        marks: Starts of its handler that were marked on the server beforehand: all but the first.
        attempt: Which start of the handler this is, from 1 on.
        one_start: Whether its first start is its last: then the first is marked too, as a delivery is no proof of a start.
        needs_mark: Whether its next start is marked first: it was delivered before, or has one start.
        uncounted: Whether its last start did not count as an attempt, so that the next one is not marked.
        lost: Whether another consumer owns it.
        superseded: Whether a new primary gave its ID to another entry: what the server says of the ID is about that one.
        deleted: Whether it was deleted from its stream while it was in flight.
        unfetched: Its fields as delivered, if a fetched payload replaced them in ``raw``.
        noted_origin: The original ID that a replay has recorded for it; None if it was not replayed.
        payload: Its payload stored outside the stream; None if it has none.
        payload_key: The key of that payload.
        idempotency_key: The key on the server that holds its business key; None if it has none.
        messages: Messages that its handler has published, added when the entry is acknowledged.
        noack: Whether it was read with NOACK, and so is pending nowhere.
    """

    noack: bool = False
    state: EntryState = QUEUED
    handovers: int = 0
    deliveries: int = 1
    marks: int = 0
    attempt: int = 1
    one_start: bool = False
    needs_mark: bool = False
    uncounted: bool = False
    lost: bool = False
    superseded: bool = False
    deleted: bool = False
    unfetched: list[bytes] | None = None
    noted_origin: bytes | None = None
    payload: bytes | None = None
    payload_key: str | None = None
    idempotency_key: str | None = None
    messages: tuple[Message, ...] = ()

    def __init__(
        self, consumer_stream: "ConsumerStream", raw_id: bytes, raw: list[bytes], leased_at: float
    ) -> None:
        self.consumer_stream = consumer_stream
        self.raw_id = raw_id
        self.raw = raw
        self.leased_at = leased_at

    @property
    def id(self) -> str:
        """Its ID in the stream it was read from."""
        return self.raw_id.decode()

    @property
    def stream(self) -> str:
        """The stream that its group reads; for an entry of a retry stream the stream that it failed in."""
        return self.consumer_stream.subscription.stream

    @property
    def group(self) -> str:
        """The consumer group."""
        return self.consumer_stream.subscription.group

    @property
    def consumer(self) -> str:
        """The consumer's name."""
        return self.consumer_stream.subscription.consumer

    @property
    def fields(self) -> tuple[tuple[bytes, bytes], ...]:
        """Field and value pairs in their order; a name may repeat. Reserved ones are left out."""
        pairs = zip(self.raw[::2], self.raw[1::2], strict=False)
        return tuple(pair for pair in pairs if not pair[0].startswith(b"_so_"))

    @property
    def origin_id(self) -> str:
        """Its original ID, before any retry or replay.

        An entry's fields are its writer's word: its field with the original ID counts in a retry stream, which only workers
        write, and elsewhere only if the server has a replay's record of it.
        """
        return name_text(self.raw_origin_id)

    @property
    def raw_origin_id(self) -> bytes:
        """The original ID in bytes."""
        return (self.get(ORIGIN_ID) if self.consumer_stream.retries else self.noted_origin) or self.raw_id

    @property
    def age(self) -> timedelta:
        """Time since its original ID on the server's clock; meaningful only for IDs that are times."""
        born = int(self.origin_id.partition("-")[0])
        return timedelta(milliseconds=max(0.0, self.consumer_stream.context.clock.now_ms() - born))

    def get(self, name: str | bytes) -> bytes | None:
        """The first value of a field; None if it has no such field."""
        wanted = name.encode() if isinstance(name, str) else name
        raw = self.raw
        for at in range(0, len(raw), 2):
            if raw[at] == wanted:
                return raw[at + 1]
        return None

    def publish(
        self,
        stream: str,
        body: object,
        *,
        maxlen: int | None = None,
        fields: Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
    ) -> None:
        """Publish a message in the same step as this entry is acknowledged.

        Nothing is sent yet. Once the handler has returned, one script acknowledges the entry and adds its messages in
        their order: all of it or nothing. If the handler fails or is cut off, if its worker dies, or if another
        worker has taken the entry over, nothing is added.

        Args:
            stream: The stream; on a cluster one in the hash slot of the stream that the entry came from.
            body: As ``Publisher.publish`` takes it.
            maxlen: About how many entries the stream keeps from then on, the newest; all unless given.
            fields: Further fields, after those of the body.

        Raises:
            PublishError: It cannot be published so, or the handler has returned already.
        """
        if self.state is not RUNNING:
            raise PublishError(
                f"entry {self.id} is not being handled: nothing can be published with its acknowledgement",
                "Call entry.publish before the handler returns; afterwards publish with app.publish.",
            )
        if self.noack:
            raise PublishError(
                f"entry {self.id} was read with noack: there is no acknowledgement to publish with",
                "Publish with app.publish, or leave out noack=True.",
            )
        context = self.consumer_stream.context
        check_target(context.server.options.mode, self.stream, stream)
        check_maxlen(maxlen)
        with all_around(context.around, stream, 1) as stamp:
            parts = [*encode_body(body), *encode_fields(fields), *stamp]
        if len(parts) > MOST_PARTS:
            raise PublishError(
                f"a message to {stream} has {len(parts) // 2} fields, more than a script can write",
                "Make it one field of JSON.",
            )
        self.messages = (*self.messages, Message(stream, parts, maxlen))

    @property
    def as_delivered(self) -> list[bytes]:
        """Its fields as delivered, without a payload that was fetched since."""
        return self.raw if self.unfetched is None else self.unfetched

    @property
    def digest(self) -> str:
        """A digest of its fields as scripts compute it; empty if no new primary can give its ID to another entry."""
        if not self.consumer_stream.context.server.replaceable:
            return ""
        sized = b"".join([b"%d:%b" % (len(part), part) for part in self.as_delivered])
        return sha1(sized, usedforsecurity=False).hexdigest()

    @property
    def may_have_started(self) -> bool:
        """Whether a handler may have been started for it before."""
        return self.needs_mark and (self.marks > 0 or not self.one_start)

    def number(self, most: int) -> None:
        """Set ``attempt`` from its marks: the last start of its handler, or the first one to come.

        Args:
            most: How many starts it may have.
        """
        # An entry of a retry stream carries the number of its next attempt.
        text = self.get(ATTEMPT) if self.consumer_stream.retries else None
        # Untrusted input, bounded in length.
        base = max(1, int(text)) if text and len(text) <= MOST_DIGITS and text.isdigit() else 1
        self.needs_mark = self.one_start = base >= most
        self.attempt = base + max(0, self.marks - self.one_start)

    def __repr__(self) -> str:
        return f"<Entry {self.id} of {self.stream} for {self.group}, attempt {self.attempt}>"


class ConsumerStream:
    """A stream that a consumer reads, or the retry stream of its group: entries in flight, and their acknowledgement.

    The heartbeat thread reads ``in_flight`` while the event loop changes it; it takes a copy, in one step.

    Acknowledgements are batched by number and time, and repeated until the server has confirmed them. An entry stays in
    flight until then: to acknowledge twice does no harm, and an entry that is not acknowledged is handled again. Entries with
    a fresh lease are acknowledged by a plain XACK; for all others a script first checks the owner, so that no other
    consumer's entry is acknowledged. So it does after a failover, or when the slot has moved to another node: there the
    ID may be another entry's.

    Attributes:
        subscription: The stream, group and consumer name.
        context: What all parts of the worker share.
        retries: Whether it is the retry stream.
        key: The stream's key.
        lease: How long an entry may be idle before other consumers claim it.
        room: Set when there may be room for more entries of its consumer.
        in_flight: Entries between delivery and confirmed acknowledgement, by ID.
        last_seen: The last ID that was delivered here for the first time.
        claim_cursor: Where the next search for idle entries begins.
        destroyed_at: When its group was found destroyed, on the monotonic clock.
        mending: Held by the task that repairs its group.
        handled: Handled entries whose acknowledgement was not sent yet.
        acknowledged: How many entries the server has confirmed as acknowledged.
    """

    def __init__(
        self,
        subscription: Subscription,
        context: WorkerContext,
        lease: timedelta = MINUTE,
        counts: HandlerCounters | None = None,
        room: asyncio.Event | None = None,
        *,
        retries: bool,
    ) -> None:
        self.subscription = subscription
        self.context = context
        self.retries = retries
        self.key = subscription.retries if retries else subscription.stream
        self.lease = lease
        self.room = room or asyncio.Event()
        self.in_flight: dict[bytes, Entry] = {}
        self.last_seen = b"0-0"
        self.claim_cursor = START
        self.destroyed_at = -inf
        self.mending = asyncio.Lock()
        self.handled: list[Entry] = []
        self.acknowledged = 0
        self._noack_open = 0
        self._latencies = (counts or HandlerCounters()).latencies
        self._fresh_for = min(lease, context.interval * 3).total_seconds() / 2
        self._tells = False
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self._under_way: list[list[Entry]] = []

    def receive(
        self,
        rows: Iterable[tuple[bytes, list[bytes]]],
        leased_at: float,
        handovers: int = 0,
        *,
        noack: bool = False,
    ) -> list[Entry]:
        """Make entries of rows and put them in flight, except those read with NOACK.

        Args:
            rows: ID and fields of each.
            leased_at: When they were requested, on the monotonic clock.
            handovers: ``Server.handovers`` at that time.
            noack: Whether they were read with NOACK.
        """
        entries = [Entry(self, raw_id, raw, leased_at) for raw_id, raw in rows]
        if noack:
            for entry in entries:
                entry.noack = True
            self._noack_open += len(entries)
            return entries
        if handovers:
            for entry in entries:
                entry.handovers = handovers
        self.in_flight.update((entry.raw_id, entry) for entry in entries)
        return entries

    def holds(self, raw_id: bytes, raw: list[bytes]) -> bool:
        """Whether an entry is in flight already; marks an entry in flight that has the ID but other fields as superseded.

        After a failover, two primaries may have given one ID to two entries.
        """
        held = self.in_flight.get(raw_id)
        if held is None or held.as_delivered == raw:
            return held is not None
        held.lost = held.superseded = True
        return False

    def drop(self, entry: Entry, state: EntryState) -> None:
        """Take an entry out of flight, in a final state."""
        entry.state = state
        if not entry.superseded:
            self.in_flight.pop(entry.raw_id, None)

    def lose(self, entry: Entry) -> None:
        """End an entry read with NOACK that failed: it is pending nowhere, and so is not tried again."""
        entry.state = LOST
        self._noack_open -= 1

    def finish(self, entry: Entry, *, completed: bool = True) -> None:
        """Queue an entry's acknowledgement; it was handled, or needs no handling."""
        entry.state = HANDLED
        handled = self.handled
        handled.append(entry)
        if len(handled) == 1 or len(handled) == ENOUGH:
            self._arrange()
        # To make an event without a listener would cost as much as all of this.
        if self._tells and completed:
            self.context.events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

    async def acknowledge(self) -> None:
        """Send acknowledgements until cancelled."""
        self._tells = self.context.events.heard(Completed)
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._flush()
            except ServerError as error:
                self.context.events.emit(Troubled(self.subscription.stream, error))
                await asyncio.sleep(PAUSE)
            # Those that came meanwhile wait for more, unless they are enough.
            if self.handled:
                self._arrange()

    async def flush(self) -> None:
        """Send all acknowledgements; raises ``ServerError`` if the server does not answer."""
        while self.handled:
            await self._flush()

    def confirm(self, entry: Entry) -> None:
        """Take an entry out of flight that the script acknowledged which added its messages."""
        self.drop(entry, ACKNOWLEDGED)
        self.acknowledged += 1
        self.room.set()
        self._observe([entry])
        if self._tells:
            self.context.events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

    @property
    def unconfirmed(self) -> list[Entry]:
        """Handled entries whose acknowledgement the server has not confirmed."""
        return [*self.handled, *chain.from_iterable(self._under_way)]

    @property
    def noack_open(self) -> int:
        """Entries read with NOACK that were neither handled nor lost; ``in_flight`` has none of these."""
        return self._noack_open - (len(self.unconfirmed) if self._noack_open else 0)

    def _arrange(self) -> None:
        """Schedule sending: now if there are enough or the last batch is some time ago, else when ``PATIENCE`` ends."""
        wait = self._sent_at + PATIENCE - time.monotonic()
        if wait <= 0 or len(self.handled) >= ENOUGH:
            self._wake.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wake.set()

    async def _flush(self) -> None:
        batch, self.handled = self.handled[:MOST], self.handled[MOST:]
        self._sent_at = time.monotonic()
        # Two batches may be under way: a draining worker's last one does not wait for the one before.
        self._under_way.append(batch)
        try:
            await self._send(batch)
        except BaseException:
            # Whether they are acknowledged is unknown: next time the script checks the owner.
            for entry in batch:
                entry.leased_at = -inf
            self.handled = batch + self.handled
            raise
        finally:
            self._under_way.remove(batch)
        in_flight = self.in_flight
        if self._noack_open:
            self._noack_open -= len(batch)
        for entry in batch:
            if entry.superseded:
                entry.state = LOST
            else:
                in_flight.pop(entry.raw_id, None)
                entry.state = ACKNOWLEDGED
        self.room.set()
        self._observe(batch)

    async def _send(self, batch: list[Entry]) -> None:
        server, sub = self.context.server, self.subscription
        handovers, fresh = server.handovers, time.monotonic() - self._fresh_for
        plain: list[bytes] = []
        checked: list[AckRow] = []
        for entry in batch:
            if entry.superseded or entry.noack:
                continue
            is_ours = entry.leased_at > fresh and entry.handovers == handovers
            if is_ours and not (self.retries or entry.marks or entry.payload_key):
                plain.append(entry.raw_id)
            else:
                checked.append(AckRow(entry.raw_id, entry.payload_key, entry.digest))
        if plain:
            self.acknowledged += await acknowledge_plain(server, sub, plain, handovers)
        if checked:
            done = await acknowledge_checked(server, sub, retries=self.retries, rows=checked)
            self.acknowledged += done.acknowledged

    def _observe(self, batch: list[Entry]) -> None:
        """Count the age of entries, by their IDs; for those of a retry stream since their last try."""
        now_ms = self.context.clock.now_ms()
        # Many in a row have IDs of the same millisecond.
        for ms, born in groupby(batch, _millisecond):
            age = now_ms - int(ms) if ms.isdigit() else 0.0
            self._latencies.observe(max(0.0, age) / 1000, sum(1 for _ in born))


def by_stream(entries: Iterable[Entry]) -> dict[ConsumerStream, list[Entry]]:
    """Entries by their streams, without those that were superseded."""
    found: dict[ConsumerStream, list[Entry]] = {}
    for entry in entries:
        if not entry.superseded:
            found.setdefault(entry.consumer_stream, []).append(entry)
    return found


def check_target(mode: Mode, source: str, target: str) -> None:
    """Require that one script may acknowledge in a stream and add to another; raises ``PublishError``."""
    if not target:
        raise PublishError("a stream's name is empty", "Name the stream that is published to.")
    if mode is Mode.CLUSTER and not same_slot(source, target):
        raise PublishError(
            f"stream {target} is in another hash slot than {source}: nothing can be added to it as an entry is acknowledged",
            "Give both one hash tag, as {shop}:orders and {shop}:mails have; or publish at once, with app.publish.",
        )


def _millisecond(entry: Entry) -> bytes:
    """The first part of an entry's ID."""
    return entry.raw_id.partition(b"-")[0]
