"""Console: the Python API of streamops, and what every face stands on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self

from msgspec import Struct

from streamops.errors import Forbidden, NotFound
from streamops.model.acting import (
    ActionPage,
    Actor,
    AuditRecord,
    Confirmation,
    Job,
    JobPage,
    JobState,
    Limits,
    Outcome,
    Progress,
)
from streamops.model.deliveries import KeptPayload
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, StreamEntry
from streamops.model.pending import PendingProfile
from streamops.model.wording import quoted
from streamops.monitor.arrivals import ArrivalReader
from streamops.monitor.context import ServerContext
from streamops.monitor.dead_letters import DeadLetterReader
from streamops.monitor.delayed import DelayedQueues, find_queues
from streamops.monitor.doctor import MappingProblem, find_mapping_problems
from streamops.monitor.inspection import read_stream
from streamops.monitor.pending_scan import PendingScan, advance_scan, profile_of
from streamops.monitor.pools import PoolReader, WorkerReader
from streamops.monitor.search import (
    EntryPage,
    PendingPage,
    PendingSummary,
    Search,
    SearchProgress,
    SearchResult,
    search_entries,
)
from streamops.monitor.server_monitor import ServerMonitor
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.topics import TopicReader
from streamops.monitor.watch import Watch
from streamops.operations.audit import read_action, read_actions
from streamops.operations.engine import Engine
from streamops.operations.entry_trace import EntryTracer
from streamops.operations.jobs import all_jobs, find_job
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.operation import Prepared
from streamops.targets.targets import FindSpec, Targets, nothing_configured
from streamops.wire.consuming.payloads import read_kept_payload
from streamops.wire.options import ConnectionOptions
from streamops.wire.pending import PendingRange, read_pending_page, read_pending_summary
from streamops.wire.reads import read_clock, read_page
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT

PAGE_BYTES = 4 << 20
FIRST_PAGE = 1
PENDING_ROWS = 1_000
TAIL_ENTRIES = 100


class Console(ServerMonitor):
    """One server under observation, and the one way to change anything on it.

    Attributes:
        dead_letters: Reads dead-letter queues.
        topics: Reads topics of HTTP callbacks.
        workers: Reads heartbeats of worker processes.
        pools: Reads pools of workers.
        tracer: Traces what became of entries.
        arrivals: Reads when entries came.
        engine: What changes anything.
    """

    def __init__(
        self,
        server: Server,
        watch: Watch,
        thresholds: Thresholds,
        actor: Actor = Actor(),  # noqa: B008 - frozen
        *,
        read_only: bool = False,
        find_target: FindSpec = nothing_configured,
    ) -> None:
        targets = Targets(find_target, str(actor))
        place = ServerContext(server, watch.dead_letters, watch.delayed, targets, thresholds)
        super().__init__(place, watch, " ".join(map(quoted, actor.selector)))
        self.engine = Engine(place, actor, read_only=read_only)
        self.dead_letters = DeadLetterReader(place)
        self.topics = TopicReader(place)
        self.workers = WorkerReader(place)
        self.pools = PoolReader(place)
        self.tracer = EntryTracer(place)
        self.arrivals = ArrivalReader(place)

    @classmethod
    def patient(
        cls,
        options: ConnectionOptions,
        thresholds: Thresholds | None = None,
        *,
        watch: Watch = Watch(),  # noqa: B008 - frozen
        actor: Actor = Actor(),  # noqa: B008 - frozen
        find_target: FindSpec = nothing_configured,
    ) -> Self:
        """A console that connects with its first call: for callers that work while the server is away.

        Args:
            options: How to connect.
            thresholds: Thresholds of the health rules.
            watch: What to look at; everything unless given.
            actor: Who acts, for the audit log.
            find_target: What the configuration says of who runs a pool's workers.
        """
        return cls(Server(options), watch, thresholds or Thresholds(), actor, find_target=find_target)

    @classmethod
    async def open(
        cls,
        options: ConnectionOptions,
        watch: Watch | None = None,
        thresholds: Thresholds | None = None,
        *,
        actor: Actor = Actor(),  # noqa: B008 - frozen
        read_only: bool = False,
        find_target: FindSpec = nothing_configured,
    ) -> Self:
        """Connect and log in; raises ``ServerError`` if that fails.

        Args:
            options: How to connect.
            watch: What to look at; everything unless given.
            thresholds: Thresholds of the health rules.
            actor: Who acts, for the audit log, and how much care the place deserves: production unless given.
            read_only: Refuse everything that changes anything.
            find_target: What the configuration says of who runs a pool's workers.
        """
        server = await Server.connect(options)
        return cls(
            server,
            watch or Watch(),
            thresholds or Thresholds(),
            actor,
            read_only=read_only,
            find_target=find_target,
        )

    async def prepare(self, intent: Struct, limits: Limits = Limits()) -> Prepared[Any, Any]:  # noqa: B008 - frozen
        """Plan an operation, writing nothing; raises ``PlanError`` or ``ServerError``, see ``Engine.prepare``."""
        # Only who acts pays for the operations.
        from streamops.operations.registry import OPERATIONS  # noqa: PLC0415

        return await self.engine.prepare(OPERATIONS.of(intent), intent, limits)

    async def apply(
        self,
        prepared: Prepared[Any, Any],
        confirmation: Confirmation = Confirmation(),  # noqa: B008 - frozen
        progress: Callable[[Progress], None] | None = None,
        started: Callable[[str], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        """Do what a plan says, see ``Engine.apply``."""
        return await self.engine.apply(prepared, confirmation, progress, started, stop)

    async def read_actions(self, count: int = 100, after: ActionPage | None = None) -> ActionPage:
        """What was done here, newest first: the first page of the audit log, or the one after a page."""
        return await read_actions(self._server, count, after)

    async def read_action(self, audit_id: EntryId) -> list[AuditRecord]:
        """All records of one action, oldest first; raises ``NotFound`` if there is none of that ID."""
        return await read_action(self._server, audit_id)

    async def read_jobs(self, limit: int = 100) -> list[Job]:
        """The newest jobs, newest first, as far as they can be read; ``read_job_page`` tells of the others too."""
        return list((await self.read_job_page(limit)).jobs)

    async def read_job_page(self, limit: int = 100) -> JobPage:
        """The newest jobs, newest first, and why some of them cannot be read."""
        return await all_jobs(self._server, limit, tidy=not self.engine.read_only)

    async def read_job(self, job_id: str) -> Job:
        """A job by its ID; raises ``NotFound`` if there is none."""
        return await find_job(self._server, job_id)

    async def cancel_job(self, job_id: str) -> bool:
        """Ask a job to stop; whether it is over at once.

        Raises:
            NotFound: There is none.
            Forbidden: It is over already, or nothing may be changed.
        """
        self.engine.forbid_if_read_only()
        await self.apply(await self.prepare(CancelJobIntent(job=job_id)))
        return (await find_job(self._server, job_id)).state is JobState.CANCELLED

    async def prepare_rest(self, job_id: str, limits: Limits = Limits()) -> Prepared[Any, Any]:  # noqa: B008 - frozen
        """Plan the rest of an interrupted job, see ``Engine.resume``."""
        from streamops.operations.registry import OPERATIONS  # noqa: PLC0415 - as in ``prepare``

        job = await find_job(self._server, job_id)
        if (operation := OPERATIONS.get(job.operation)) is None:
            raise Forbidden(f"{job.operation} cannot be resumed", "This version does not know the operation.")
        return await self.engine.resume(operation, job, limits)

    async def read_clock(self) -> datetime | None:
        """The clock of the server that jobs and the audit log are on; None if it may not be asked."""
        return await read_clock(self._server, AUDIT)

    async def find_delayed(self) -> DelayedQueues:
        """The queues of delayed messages, see ``find_queues``."""
        return await find_queues(self.discovery, self.delayed)

    async def find_mapping_problems(self) -> list[MappingProblem]:
        """What is wrong with the keys that the configuration maps to streams; raises ``ServerError``."""
        return await find_mapping_problems(self.place)

    async def read_entries(
        self,
        stream: str,
        *,
        start: EntryId = ZERO_ID,
        end: EntryId = LAST_ID,
        count: int = 50,
        newest_first: bool = False,
    ) -> EntryPage:
        """Entries between two IDs, both inclusive; fewer than ``count`` where they are large.

        Raises:
            NotFound: The key is not a stream. (One that does not exist is an empty page.)
        """
        if count < 1:
            return EntryPage((), None)
        entries: list[StreamEntry] = []
        weight, size = 0, min(count, FIRST_PAGE)
        while True:
            page = await read_page(self._server, stream, start, end, size, newest_first=newest_first)
            entries += page
            weight += sum(entry.size for entry in page)
            if len(page) < size:
                return EntryPage(tuple(entries), None)
            last = entries[-1].id
            if last == (start if newest_first else end):
                return EntryPage(tuple(entries), None)
            if newest_first:
                end = last.previous()
            else:
                start = last.next()
            if len(entries) >= count or weight >= PAGE_BYTES:
                return EntryPage(tuple(entries), last)
            # The entries seen show how many more fit into what is left.
            size = max(1, min(count - len(entries), (PAGE_BYTES - weight) * len(entries) // max(1, weight)))

    async def read_entry(self, stream: str, entry_id: EntryId) -> StreamEntry | None:
        """One entry, or None if it is gone."""
        page = await self.read_entries(stream, start=entry_id, end=entry_id, count=1)
        return page.entries[0] if page.entries else None

    async def read_payload(self, key: str, limit: int) -> KeptPayload | None:
        """A payload that is kept beside a stream, at most ``limit`` bytes of it; None if it is gone.

        Raises:
            NotFound: The key holds something else.
        """
        return await read_kept_payload(self._server, key, limit)

    async def tail(
        self, stream: str, *, after: EntryId | None = None, poll: timedelta = timedelta(seconds=1)
    ) -> AsyncIterator[StreamEntry]:
        """Entries as they come, forever: after an ID, or from now on.

        Raises:
            NotFound: ``after`` was not given and there is no such stream.
        """
        position = await self._last_generated_id(stream) if after is None else after
        while True:
            page = EntryPage((), None)
            # Nothing can follow the last ID of all.
            if position < LAST_ID:
                page = await self.read_entries(stream, start=position.next(), count=TAIL_ENTRIES)
            for entry in page.entries:
                position = entry.id
                yield entry
            if page.next_id is None:
                await asyncio.sleep(poll.total_seconds())

    async def read_pending(
        self,
        stream: str,
        group: str,
        *,
        after: EntryId | None = None,
        count: int = 100,
        consumer: str | None = None,
    ) -> PendingPage:
        """Rows of a group's pending entries list, lowest ID first; raises ``NotFound`` without such a group."""
        now = await read_clock(self._server, stream)
        if count < 1:
            return PendingPage((), after, now)
        rows = await read_pending_page(self._server, PendingRange(stream, group, after, count, consumer))
        return PendingPage(rows, rows[-1].id if len(rows) == count else None, now)

    async def read_pending_summary(self, stream: str, group: str) -> PendingSummary:
        """How many entries are pending, between which IDs, and whose; raises ``NotFound`` without such a group."""
        return PendingSummary(*await read_pending_summary(self._server, stream, group))

    async def scan_pending(
        self, stream: str, group: str, consumer: str | None = None, *, limit: int = 100_000
    ) -> PendingProfile | None:
        """The distribution of a group's or a consumer's pending entries, from at most ``limit`` rows; None if none is pending."""
        summary = await self.read_pending_summary(stream, group)
        pending = summary.pending if consumer is None else dict(summary.consumers).get(consumer, 0)
        scan = PendingScan()
        while scan.last_pass is None and scan.seen.scanned < limit:
            page = PendingRange(
                stream, group, scan.cursor, min(PENDING_ROWS, limit - scan.seen.scanned), consumer
            )
            rows = await read_pending_page(self._server, page)
            scan = advance_scan(scan, rows, end=len(rows) < page.limit)
        profile = profile_of(scan, pending)
        return profile if profile is not None and profile.scanned else None

    async def search(
        self, stream: str, query: Search, progress: Callable[[SearchProgress], None] | None = None
    ) -> SearchResult:
        """Entries that match, from a bounded scan that says how far it got."""
        return await search_entries(partial(self.read_entries, stream), query, progress)

    async def _last_generated_id(self, stream: str) -> EntryId:
        reading, _ = await read_stream(self._server, stream)
        if reading.last_generated_id is not None:
            return reading.last_generated_id
        raise NotFound(
            f"stream {stream}: its last ID cannot be read",
            "Say where to start; XINFO STREAM is not permitted to this user.",
        )
