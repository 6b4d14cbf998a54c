"""Entries on their way through a worker, and the streams that a consumer has them from."""

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
from streamops.wire.consuming.payloads import MOST_PARTS
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.keys import same_slot

PAYLOAD: Final = b"_so_payload"
TRACE: Final = b"_so_trace"
MOST_DIGITS: Final = 9
MOST: Final = 1000
"""Acknowledgements of one command."""
ENOUGH: Final = 100
"""How many are sent without waiting for more."""
PATIENCE: Final = 0.005
"""Seconds that fewer wait for more."""
PAUSE: Final = 0.2
MINUTE: Final = timedelta(minutes=1)


class EntryState(Enum):
    """Where an entry is, from its delivery to its end in this worker.

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

    What has not even a payload or a key goes from ``QUEUED`` where ``RUNNING`` leads to, and never runs. What is
    ``STUCK`` is handed back at the drain as well. From ``HANDLED`` an entry goes back to ``RUNNING``, where it fails, if
    the server refuses what was published for it. What others do to an entry at the same time (``Entry.lost``, ``deleted``) is
    found out at its next step.
    """

    QUEUED = auto()
    """Its payload and key are looked up; then it waits for a slot."""
    RUNNING = auto()
    """A slot marks its start where need be, and calls the handler."""
    WAITING = auto()
    """It failed, and stays pending with this worker until its next try."""
    HANDLED = auto()
    """It is done with; the server has not confirmed its acknowledgement."""
    ACKNOWLEDGED = auto()
    DELAYED = auto()
    """It is in the delayed queue, from where any worker of the group takes it."""
    DEAD_LETTERED = auto()
    STUCK = auto()
    """It stays pending, and can neither be handled nor given up."""
    LOST = auto()
    """It is another consumer's by now, or none's."""
    HANDED_BACK = auto()
    """It was not begun when the worker stopped, and is anybody's."""


QUEUED, RUNNING, WAITING, HANDLED, ACKNOWLEDGED, DELAYED, DEAD_LETTERED, STUCK, LOST, HANDED_BACK = EntryState
_FAILED: Final = frozenset({HANDLED, WAITING, DELAYED, DEAD_LETTERED, STUCK, LOST})
TRANSITIONS: Final[Mapping[EntryState, frozenset[EntryState]]] = {
    QUEUED: _FAILED | {RUNNING, HANDED_BACK},
    RUNNING: _FAILED,
    WAITING: frozenset({QUEUED, HANDED_BACK}),
    HANDLED: frozenset({ACKNOWLEDGED, LOST, RUNNING}),
    STUCK: frozenset({HANDED_BACK}),
}
"""Where each state may lead; what is not named is an end."""


class Entry:
    """One entry, from its delivery to its acknowledgement.

    What most entries share stands in the class, so that making one costs little.

    Attributes:
        consumer_stream: Where it came from.
        raw_id: Its ID as the server wrote it.
        raw: Names and values in turn, byte for byte.
        leased_at: When it was delivered, or its lease last renewed, on the monotonic clock.
        handovers: How often another server had come to serve its stream when it was delivered.
        deliveries: How often the server counted a delivery; other clients' history reads count too.
        state: Where it is.
        marks: Its starts that were marked beforehand: all but the first.
        attempt: Which start of the handler this is, from 1 on.
        one_start: Whether its first start is its last: that one is marked too, so that no delivery is taken for it.
        needs_mark: Whether its next start is marked first: it was delivered before, or has one start.
        suspect: Whether it is handled while no other suspect is: it may have brought workers down.
        uncounted: Whether its last start did not count as an attempt, so that the next one is not marked.
        lost: Whether another consumer has taken it over.
        superseded: Whether its server was replaced by one on which another entry has its ID: whatever is said of that
            ID concerns the other one.
        deleted: Whether it was deleted from its stream while it was in flight.
        unfetched: Its names and values as they came, where a payload was put in their place.
        noted_origin: The ID that a replay noted down as the one it was born with; none where none did.
        payload: The payload kept beside the stream; none where there is none.
        payload_key: The key of that payload.
        idempotency_key: The key under which the server knows its business key; none where it has none.
        messages: What its handler has published by now, to be added as the entry is acknowledged.
        noack: Whether it is pending nowhere: the server took it for acknowledged as it delivered it.
    """

    noack: bool = False
    state: EntryState = QUEUED
    handovers: int = 0
    deliveries: int = 1
    marks: int = 0
    attempt: int = 1
    one_start: bool = False
    needs_mark: bool = False
    suspect: bool = False
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
        """The stream that its group reads; for an entry of a retry stream the one that it failed in."""
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
        """The ID that it was born with, before any retry or replay.

        Whoever adds an entry writes its fields: they are believed in a retry stream, which only workers write, and
        where the server has a replay's note of it.
        """
        return name_text(self.raw_origin_id)

    @property
    def raw_origin_id(self) -> bytes:
        """The same as the server wrote it."""
        return (self.get(ORIGIN_ID) if self.consumer_stream.retries else self.noted_origin) or self.raw_id

    @property
    def age(self) -> timedelta:
        """Time since its birth, on the server's clock; by its ID, which must be a time for that."""
        born = int(self.origin_id.partition("-")[0])
        return timedelta(milliseconds=max(0.0, self.consumer_stream.context.clock.now_ms() - born))

    def get(self, name: str | bytes) -> bytes | None:
        """The first value of a field; none where there is no such field."""
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
        """Its names and values; a payload that was fetched since then is none of them."""
        return self.raw if self.unfetched is None else self.unfetched

    @property
    def digest(self) -> str:
        """A digest of its names and values as scripts make it; empty where no other server can give its ID to another."""
        if not self.consumer_stream.context.server.replaceable:
            return ""
        sized = b"".join([b"%d:%b" % (len(part), part) for part in self.as_delivered])
        return sha1(sized, usedforsecurity=False).hexdigest()

    @property
    def may_have_started(self) -> bool:
        """Whether a handler may have begun with it before."""
        return self.needs_mark and (self.marks > 0 or not self.one_start)

    def number(self, most: int) -> None:
        """Say which start of its handler was the last, by its marks; of one that had none, which will be the first.

        Args:
            most: How many starts it may have.
        """
        # More than one where it comes from a retry.
        said = self.get(ATTEMPT) if self.consumer_stream.retries else None
        # Anybody may have written it, in more digits than such a number ever has.
        base = max(1, int(said)) if said and len(said) <= MOST_DIGITS and said.isdigit() else 1
        self.needs_mark = self.one_start = base >= most
        self.attempt = base + max(0, self.marks - self.one_start)

    def __repr__(self) -> str:
        return f"<Entry {self.id} of {self.stream} for {self.group}, attempt {self.attempt}>"


class ConsumerStream:
    """The stream that a consumer reads, or the retry stream of its group: what is in flight of it, and acknowledged.

    The thread that renews leases reads ``in_flight`` while the event loop changes it; it takes a copy, in one step.

    Acknowledgements are gathered by number and time, and sent until the server has confirmed them. An entry stays in
    flight until then: what is acknowledged twice does no harm, and what is not acknowledged is handled again. Entries
    whose lease is fresh are acknowledged plainly; for all others a script looks first whether they are still ours, so
    that nothing is acknowledged behind a new owner's back. So it does for entries of a primary that was replaced, or of
    a slot that another node has by now: there they may be another's.

    Attributes:
        subscription: What the consumer reads, and under which name.
        context: What it shares with all of its worker.
        retries: Whether it is the retry stream.
        key: The stream's key.
        lease: How long an entry may lie idle before others take it over.
        room: Set where there may be room for more entries of its consumer.
        in_flight: Entries between delivery and confirmed acknowledgement, by ID.
        last_seen: The last ID that was delivered here for the first time.
        claim_cursor: Where the next look for idle entries begins.
        destroyed_at: When it was noticed that its group had been destroyed, on the monotonic clock.
        mending: Held by the task that repairs its group.
        handled: Entries that were handled and whose acknowledgement was not sent yet.
        acknowledged: How many were, by the server's word.
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
        """Have entries in flight, that were asked for after this many handovers; those without acknowledgement are not."""
        entries = [Entry(self, raw_id, raw, leased_at) for raw_id, raw in rows]
        if noack:
            for entry in entries:
                entry.noack = True
            return entries
        if handovers:
            for entry in entries:
                entry.handovers = handovers
        self.in_flight.update((entry.raw_id, entry) for entry in entries)
        return entries

    def holds(self, raw_id: bytes, raw: list[bytes]) -> bool:
        """Whether an entry is in flight already; another one of its ID is superseded.

        Two servers give the same ID to two entries, where the primary was replaced and the former one went on.
        """
        held = self.in_flight.get(raw_id)
        if held is None or held.as_delivered == raw:
            return held is not None
        held.lost = held.superseded = True
        return False

    def drop(self, entry: Entry, state: EntryState) -> None:
        """Have an entry in flight no more, which has come to its end."""
        entry.state = state
        if not entry.superseded:
            self.in_flight.pop(entry.raw_id, None)

    def finish(self, entry: Entry, *, completed: bool = True) -> None:
        """Have an entry acknowledged; it was handled, or needs no handling."""
        entry.state = HANDLED
        handled = self.handled
        handled.append(entry)
        if len(handled) == 1 or len(handled) == ENOUGH:
            self._arrange()
        # Making an event without a listener would cost as much as all of this.
        if self._tells and completed:
            self.context.events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

    async def acknowledge(self) -> None:
        """Send acknowledgements, for ever."""
        self._tells = self.context.events.heard(Completed)
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._flush()
            except ServerError as error:
                self.context.events.emit(Troubled(self.subscription.stream, error))
                await asyncio.sleep(PAUSE)
            # What has come in by now waits for more, unless it is enough already.
            if self.handled:
                self._arrange()

    async def flush(self) -> None:
        """Send all acknowledgements; raises ``ServerError`` where the server does not answer."""
        while self.handled:
            await self._flush()

    def confirm(self, entry: Entry) -> None:
        """An entry was acknowledged by the script that added its messages."""
        self.drop(entry, ACKNOWLEDGED)
        self.acknowledged += 1
        self.room.set()
        self._observe([entry])
        if self._tells:
            self.context.events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

    @property
    def unconfirmed(self) -> list[Entry]:
        """Entries that were handled and that the server has not confirmed."""
        return [*self.handled, *chain.from_iterable(self._under_way)]

    def _arrange(self) -> None:
        """See to it that what there is will be sent: at once where the last time is long ago, else with others."""
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
        # Two may be under way: the last ones of a worker that drains do not wait for those before them.
        self._under_way.append(batch)
        try:
            await self._send(batch)
        except BaseException:
            # What became of them is not known: next time a script looks first.
            for entry in batch:
                entry.leased_at = -inf
            self.handled = batch + self.handled
            raise
        finally:
            self._under_way.remove(batch)
        in_flight = self.in_flight
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
        """Count how old entries had become; for those of a retry stream, since their last try alone."""
        now_ms = self.context.clock.now_ms()
        # Many in a row were born in the same millisecond.
        for ms, born in groupby(batch, _millisecond):
            age = now_ms - int(ms) if ms.isdigit() else 0.0
            self._latencies.observe(max(0.0, age) / 1000, sum(1 for _ in born))


def by_stream(entries: Iterable[Entry]) -> dict[ConsumerStream, list[Entry]]:
    """Entries by where they come from, those left out whose ID is another's by now."""
    found: dict[ConsumerStream, list[Entry]] = {}
    for entry in entries:
        if not entry.superseded:
            found.setdefault(entry.consumer_stream, []).append(entry)
    return found


def check_target(mode: Mode, source: str, target: str) -> None:
    """Insist that one script may acknowledge in a stream and add to another; raises ``PublishError``."""
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
