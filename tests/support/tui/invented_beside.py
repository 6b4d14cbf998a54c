"""What stands beside the streams of the invented shop: its dead letters, reminders, topics and workers, and a trace."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from streamops.errors import NotFound, StreamopsError
from streamops.model.dead_letters import DeadLetter, QueueSummary, counts_of, read_dead_letter
from streamops.model.delayed import DelayedBody, DelayedMessage, DelayedQueue
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.pending import PendingProfile
from streamops.model.pools import Order, Pool, WorkerHeartbeat, WorkerState
from streamops.model.selections import DeadLetterSelection
from streamops.model.streams import ReadError
from streamops.model.topics import Topic
from streamops.monitor.dead_letters import DeadLetterFilter, DeadLetterPage, DeadLetterQueues
from streamops.monitor.delayed import DelayedPage, DelayedQueues
from streamops.monitor.entry_trace import EntryTrace, TraceEvent, TraceKind
from streamops.monitor.pools import ServerWorkers
from streamops.monitor.search import PendingSummary
from streamops.monitor.topics import TopicFailures, TopicView
from tests.support.invented import NOW, entry_id, minutes, pending_entry, seconds
from tests.support.tui.invented_pools import pools

QUEUE: Final = "payments:dlq"
ERRORS: Final = {
    "timeout": "TimeoutError: the bank did not answer within 30 s",
    "rejected": "PaymentRejected: the card has expired",
    "max-deliveries": "ConnectionError: the ledger closed the connection",
}


def letter(
    number: int, reason: str = "timeout", *, age: timedelta | None = None, **fields: bytes
) -> DeadLetter:
    """A letter of ours, the older the higher its number."""
    died = entry_id(minutes(2 + 7 * number) if age is None else age)
    own = fields or {
        "order": f"A-{10_000 + number}".encode(),
        "amount": f"{number * 3}.90".encode(),
        "note": b"leave it\nat the door",
        "blob": bytes(range(250, 256)),
    }
    about = {
        "_so_origin": b"payments",
        "_so_origin_id": str(entry_id(minutes(5 + 7 * number))).encode(),
        "_so_group": b"audit" if number % 6 == 5 else b"ledger",
        "_so_consumer": b"ledger-a",
        "_so_reason": reason.encode(),
        "_so_error": ERRORS.get(reason, "").encode(),
        "_so_deliveries": str(1 + number % 5).encode(),
        "_so_attempt": b"3",
    }
    pairs = tuple((name.encode(), value) for name, value in (*own.items(), *about.items()))
    return read_dead_letter(StreamEntry(died, pairs), QUEUE, "payments")


def letters() -> tuple[DeadLetter, ...]:
    """Eighteen payments that died, the oldest first."""
    reasons = ("timeout", "timeout", "rejected", "max-deliveries")
    return tuple(letter(number, reasons[number % 4]) for number in range(17, -1, -1))


def messages() -> tuple[DelayedMessage, ...]:
    """Reminders, one overdue, a retry, and one that lacks its body."""
    body = DelayedBody("orders", ((b"kind", b"reminder"), (b"order", b"A-10031")))
    retry = DelayedBody(
        "{orders}:retry:billing", ((b"order", b"A-10007"),), "billing", 2, str(entry_id(minutes(9)))
    )
    return (
        DelayedMessage("remind-A-10031", NOW - seconds(40), body, "d1"),
        DelayedMessage("r:1773487080000-0", NOW + seconds(95), retry, "d2"),
        DelayedMessage(
            "remind-A-10044", NOW + minutes(30), replace(body, fields=((b"order", b"A-10044"),)), "d3"
        ),
        DelayedMessage("lost-1", NOW + minutes(50), None, "", "it has no body"),
    )


def heart(name: str, pool: str, state: WorkerState, busy: int, **changes: object) -> WorkerHeartbeat:
    """A worker of eight slots that beat a second ago."""
    made = WorkerHeartbeat(
        id=f"so-{name}",
        host="web-3",
        pid=4711,
        app="shop.workers:app",
        pool=pool,
        consumers=(("orders", pool, f"so-{name}"),),
        slots=8,
        busy=busy,
        state=state,
        beat_ms=round((NOW - seconds(1)).timestamp() * 1000),
    )
    return replace(made, **changes)


def crowd() -> ServerWorkers:
    """Two pools at work, one that is paused, one without workers."""
    return ServerWorkers(
        (
            heart("billing-1", "billing", WorkerState.RUNNING, 3),
            heart("billing-2", "billing", WorkerState.STALLED, 8),
            heart(
                "mail-1", "mail", WorkerState.PAUSED, 0,
                consumers=(("emails", "mailer", "mail-1"), ("orders", "reports", "so-mail-1")),
            ),
        ),
        NOW,
        (
            Pool(name="billing", order=Order(workers=4, by="streamops autoscale", at=NOW - minutes(3))),
            Pool(name="mail", mode="paused", updated_by="ada@bastion-1", updated_at=NOW - minutes(12),
                 reason="the provider is down, see INC-311"),
            Pool(name="night", mode="paused", updated_by="ada@bastion-1", updated_at=NOW - minutes(300)),
        ),
    )  # fmt: skip


def trace() -> EntryTrace:
    """An entry that died and was replayed."""
    born, died = entry_id(minutes(42)), entry_id(minutes(30))
    return EntryTrace(
        stream="payments",
        id=born,
        events=(
            TraceEvent(kind=TraceKind.ADDED, text="added to payments: 3 fields, 120 bytes", at=NOW - minutes(42)),
            TraceEvent(
                kind=TraceKind.PENDING, at=NOW - minutes(31),
                text="audit: pending with audit-2, delivered 3 times, the last 31 min ago",
            ),
            TraceEvent(kind=TraceKind.DONE, text="ledger: not pending: it gave the entry up"),
            TraceEvent(
                kind=TraceKind.DEAD, at=NOW - minutes(30), stream=QUEUE, id=died,
                text=f"ledger dead-lettered it (timeout), delivered 5 times: the bank did not answer; the entry is now {died} in the dead-letter queue {QUEUE}",
            ),
        ),
        unknown=("When it was acknowledged, and by which consumer: Redis does not record that.",),
        now=NOW,
    )  # fmt: skip


class Beside:
    """Everything beside streams; readers of it hand it out.

    Attributes:
        letters: Dead letters, the oldest first.
        messages: Delayed messages of every queue.
        topics: Topics kept in Redis.
        failures: What failed of any topic's calls.
        crowd: The workers.
        pools: Pools that are scaled.
        trace: The trace of every entry.
        fails: What every read raises; none for nothing.
        asked: What was asked for.
    """

    def __init__(self) -> None:
        self.letters = letters()
        self.messages = messages()
        self.topics: tuple[TopicView, ...] = (
            TopicView("remind", Topic(name="remind", url="https://hooks.shop.example/remind?key=s3cret")),
            TopicView("paid", Topic(name="paid", url="https://hooks.shop.example/paid", enabled=False, stream="orders")),
            TopicView("wrong", None, "it is no JSON"),
        )  # fmt: skip
        self.failures = TopicFailures(self.letters[-2:], self.messages[1:2], more_waiting=False)
        self.crowd = crowd()
        self.pools = pools()
        self.trace = trace()
        self.fails: StreamopsError | None = None
        self.gaps: tuple[ReadError, ...] = ()
        self.asked: list[tuple[object, ...]] = []

    def ask(self, *what: object) -> None:
        """Note a read, and refuse it where that is wanted."""
        self.asked.append(what)
        if self.fails is not None:
            raise self.fails

    async def find_delayed(self) -> DelayedQueues:
        self.ask("find delayed")
        return DelayedQueues(
            (self.queue("orders"), self.queue("topic:remind")), self.gaps, NOW, complete=True
        )

    def queue(self, stream: str) -> DelayedQueue:
        """A queue, counted."""
        due = [one.due_at for one in self.messages if one.due_at is not None]
        late = sum(at <= NOW for at in due)
        bodies = sum(bool(one.digest) for one in self.messages)
        return DelayedQueue(stream, len(due), late, min(due, default=None), bodies)

    async def read_pending_summary(self, stream: str, group: str) -> PendingSummary:
        self.ask("summary", stream, group)
        return PendingSummary(14, entry_id(minutes(42)), entry_id(seconds(1)), OWNERS)

    async def scan_pending(
        self, stream: str, group: str, consumer: str | None, limit: int
    ) -> PendingProfile | None:
        self.ask("profile", stream, group, consumer, limit)
        oldest = pending_entry(minutes(42), consumer="worker-7", idle=minutes(41))
        held = 14 if consumer is None else dict(OWNERS)[consumer]
        return PendingProfile(held, 1.0, (held - 12, 0, 0, 0, 12, 0), (held, 0, 0, 0, 0), oldest, oldest)


OWNERS: Final = (("worker-5", 1), ("worker-6", 1), ("worker-7", 12))


class InventedLetters:
    """Reads dead letters."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    async def queues(self, streams: Iterable[str]) -> DeadLetterQueues:
        names = tuple(streams)
        self._beside.ask("queues", names)
        return DeadLetterQueues(tuple([await self.queue(name) for name in names]), self._beside.gaps)

    async def queue(self, name: str) -> QueueSummary:
        self._beside.ask("queue", name)
        held = self._beside.letters
        return QueueSummary(
            queue=name, length=len(held), source="payments", oldest_id=held[0].id if held else None,
            newest_id=held[-1].id if held else None, tally=counts_of(held), now=NOW,
        )  # fmt: skip

    async def page(self, selection: DeadLetterSelection, limit: int) -> DeadLetterPage:
        self._beside.ask("page", selection)
        chosen = DeadLetterFilter(selection)
        found = [one for one in self._beside.letters if chosen.takes(one)]
        return DeadLetterPage(tuple(found[:limit]), len(found) > limit, NOW, is_queue=True)

    async def newest(self, queue: str, *, before: EntryId | None = None, count: int = 100) -> DeadLetterPage:
        self._beside.ask("newest", queue, before)
        found = [one for one in self._beside.letters[::-1] if before is None or one.id < before]
        return DeadLetterPage(tuple(found[:count]), len(found) > count, NOW, is_queue=True)

    async def read_many(self, queue: str, ids: Sequence[EntryId]) -> list[DeadLetter]:
        self._beside.ask("letters", queue, tuple(ids))
        return [one for one in self._beside.letters if one.id in ids]

    async def read_one(self, queue: str, entry_id: EntryId) -> DeadLetter:
        for one in await self.read_many(queue, [entry_id]):
            return one
        raise NotFound(f"queue {queue} has no dead letter {entry_id}", "It may have been replayed.")

    async def clock(self, queue: str) -> datetime | None:
        del queue
        return NOW


class InventedDelayed:
    """Reads delayed messages."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    async def page(self, stream: str, limit: int) -> DelayedPage:
        self._beside.ask("delayed", stream)
        held = self._beside.messages
        return DelayedPage(self._beside.queue(stream), held[:limit], (), NOW)

    async def messages(self, stream: str, ids: Sequence[str]) -> list[DelayedMessage]:
        self._beside.ask("messages", stream, tuple(ids))
        known = {one.id: one for one in self._beside.messages}
        return [known.get(one, DelayedMessage(one, None, None)) for one in ids]

    async def clock(self, stream: str) -> datetime | None:
        del stream
        return NOW


class InventedTopics:
    """Reads topics."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    async def kept(self) -> list[TopicView]:
        self._beside.ask("topics")
        return list(self._beside.topics)

    async def undone(self, topics: Sequence[Topic]) -> list[int | None]:
        return [0 for _ in topics]

    async def queues(self, topics: Sequence[Topic]) -> list[DelayedQueue | None]:
        return [self._beside.queue(topic.key) for topic in topics]

    async def failures(self, topic: Topic, limit: int = 20) -> TopicFailures:
        self._beside.ask("failures", topic.name, limit)
        return self._beside.failures

    async def clock(self) -> datetime | None:
        return NOW


class InventedWorkers:
    """Reads heartbeats."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    async def with_pools(self, share: float = 1.0) -> ServerWorkers:
        self._beside.ask("all workers", share)
        return self._beside.crowd

    async def again(self, known: ServerWorkers) -> ServerWorkers:
        self._beside.ask("workers again", tuple(one.id for one in known.workers))
        names = {one.id for one in known.workers}
        workers = tuple(one for one in self._beside.crowd.workers if one.id in names)
        return ServerWorkers(workers, self._beside.crowd.now, self._beside.crowd.pools)


class InventedTraces:
    """Reads traces."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    async def trace(self, stream: str, entry_id: EntryId) -> EntryTrace:
        self._beside.ask("trace", stream, entry_id)
        return replace(self._beside.trace, stream=stream, id=entry_id)
