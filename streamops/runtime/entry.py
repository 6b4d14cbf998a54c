"""Entries in the hands of a worker: what a handler may ask about one, and where they come from."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from hashlib import sha1
from typing import Final

from streamops.model.delayed import ATTEMPT, ORIGIN_ID
from streamops.model.names import name_text
from streamops.wire.consuming.subscription import Subscription

PAYLOAD: Final = b"_so_payload"
TRACE: Final = b"_so_trace"
MOST_DIGITS: Final = 9


class Entry:
    """One entry, from its delivery to its acknowledgement.

    What most entries share stands in the class, so that making one costs little.

    Attributes:
        side: The stream that it came from, and what that worker holds of it.
        raw_id: Its ID as the server wrote it.
        raw: Names and values in turn, byte for byte.
        leased_at: When it was delivered, or its lease last renewed, on the event loop's clock.
        handovers: How often another server had come to serve its stream when it was delivered.
        deliveries: How often the server counted a delivery; other clients' history reads count too.
        marks: Its starts that were marked beforehand: all but the first.
        attempt: Which start of the handler this is, from 1 on.
        sole: Whether its first start is its last: that one is marked too, so that no delivery is taken for it.
        again: Whether its next start is marked first: it was delivered before, or has a sole one.
        careful: Whether it is handled while no other careful one is: it may have brought workers down.
        uncounted: Whether its last start did not count as an attempt, so that the next one is not marked.
        lost: Whether somebody else has taken it over.
        superseded: Whether its server was replaced by one on which another entry has its ID: whatever is said of that
            ID concerns the other one.
        gone: Whether it was deleted from its stream while it was in hand.
        unfetched: Its names and values as they came, where a payload was put in their place.
        noted_origin: The ID that a replay noted down as the one it was born with; none where none did.
        payload: The payload kept beside the stream; none where there is none.
        payload_key: The key of that payload.
        guard_key: The key of its guard; none where there is none.
    """

    handovers: int = 0
    deliveries: int = 1
    marks: int = 0
    attempt: int = 1
    sole: bool = False
    again: bool = False
    suspect: bool = False
    uncounted: bool = False
    lost: bool = False
    superseded: bool = False
    gone: bool = False
    unfetched: list[bytes] | None = None
    noted_origin: bytes | None = None
    payload: bytes | None = None
    payload_key: str | None = None
    guard_key: str | None = None

    def __init__(self, side: "Side", raw_id: bytes, raw: list[bytes], leased_at: float) -> None:
        self.side = side
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
        return self.side.subscription.stream

    @property
    def group(self) -> str:
        """The consumer group."""
        return self.side.subscription.group

    @property
    def consumer(self) -> str:
        """The consumer's name."""
        return self.side.subscription.consumer

    @property
    def fields(self) -> tuple[tuple[bytes, bytes], ...]:
        """Field and value pairs in their order; a name may repeat. Reserved ones are left out."""
        return tuple(pair for pair in self._pairs() if not pair[0].startswith(b"_so_"))

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
        return (self.get(ORIGIN_ID) if self.side.retries else self.noted_origin) or self.raw_id

    @property
    def age(self) -> timedelta:
        """Time since its birth, on the server's clock; by its ID, which must be a time for that."""
        born = int(self.origin_id.partition("-")[0])
        return timedelta(milliseconds=max(0.0, self.side.now_ms() - born))

    def get(self, name: str | bytes) -> bytes | None:
        """The first value of a field; none where there is no such field."""
        wanted = name.encode() if isinstance(name, str) else name
        raw = self.raw
        for at in range(0, len(raw), 2):
            if raw[at] == wanted:
                return raw[at + 1]
        return None

    @property
    def as_delivered(self) -> list[bytes]:
        """Its names and values; a payload that was fetched since then is none of them."""
        return self.raw if self.unfetched is None else self.unfetched

    @property
    def digest(self) -> str:
        """A digest of its names and values, as scripts make it."""
        sized = b"".join([b"%d:%b" % (len(part), part) for part in self.as_delivered])
        return sha1(sized, usedforsecurity=False).hexdigest()

    @property
    def may_have_started(self) -> bool:
        """Whether a handler may have begun with it before."""
        return self.again and (self.marks > 0 or not self.sole)

    def base_attempt(self) -> int:
        """The attempt that its first start is: more than one for an entry that comes from a retry."""
        said = self.get(ATTEMPT) if self.side.retries else None
        # Anybody may have written it, in more digits than such a number ever has.
        return max(1, int(said)) if said and len(said) <= MOST_DIGITS and said.isdigit() else 1

    def _pairs(self) -> Iterator[tuple[bytes, bytes]]:
        raw = self.raw
        return zip(raw[::2], raw[1::2], strict=False)

    def __repr__(self) -> str:
        return f"<Entry {self.id} of {self.stream} for {self.group}, attempt {self.attempt}>"


class Side:
    """The stream itself, or the retry stream of its group.

    The thread that renews leases reads ``in_hand`` while the event loop changes it; it takes a copy, in one step.

    Attributes:
        subscription: Whose.
        key: The stream's key.
        retries: Whether it is the retry stream.
        in_hand: Entries between delivery and confirmed acknowledgement, by ID.
        last_seen: The last ID that was delivered here for the first time.
        now_ms: The server's clock in milliseconds, as well as it is known.
        finish: Called with each entry that was handled.
    """

    finish: Callable[[Entry], None]

    def __init__(self, subscription: Subscription, *, retries: bool, now_ms: Callable[[], float]) -> None:
        self.subscription = subscription
        self.retries = retries
        self.key = subscription.retries if retries else subscription.stream
        self.in_flight: dict[bytes, Entry] = {}
        self.last_seen = b"0-0"
        self.now_ms = now_ms

    def receive(self, raw_id: bytes, raw: list[bytes], leased_at: float, handovers: int = 0) -> Entry:
        """Take an entry in hand."""
        (entry,) = self.receive_all([(raw_id, raw)], leased_at, handovers)
        return entry

    def receive_all(
        self, rows: Iterable[tuple[bytes, list[bytes]]], leased_at: float, handovers: int = 0
    ) -> list[Entry]:
        """Take many entries in hand, that were asked for after so many handovers."""
        entries = [Entry(self, raw_id, raw, leased_at) for raw_id, raw in rows]
        if handovers:
            for entry in entries:
                entry.handovers = handovers
        self.in_flight.update((entry.raw_id, entry) for entry in entries)
        return entries

    def holds(self, raw_id: bytes, raw: list[bytes]) -> bool:
        """Whether an entry is in hand already; another one of its ID is superseded.

        Two servers give the same ID to two entries, where the primary was replaced and the former one went on.
        """
        held = self.in_flight.get(raw_id)
        if held is None or held.as_delivered == raw:
            return held is not None
        held.lost = held.superseded = True
        return False

    def drop(self, entry: Entry) -> None:
        """Have an entry in hand no more."""
        if not entry.superseded:
            self.in_flight.pop(entry.raw_id, None)
