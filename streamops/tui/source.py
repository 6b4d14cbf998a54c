"""What the console needs from below, as plain data and one protocol; composition fills both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from streamops.model.acting import ActionPage, Assent, AuditRecord, Job, JobPage, Limits, Outcome, Progress
from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.model.observation import Observation
from streamops.monitor.pages import EntryPage, PendingPage, PendingSummary
from streamops.present.views import View

if TYPE_CHECKING:  # The engine brings redis-py along, and the first screen is drawn before that.
    from streamops.model.payloads import KeptPayload
    from streamops.model.pending import PendingProfile
    from streamops.monitor.delayed import DelayedQueues
    from streamops.monitor.search import Search, SearchResult
    from streamops.operations.operation import Prepared
    from streamops.tui.readers import (
        DelayedSource,
        LetterSource,
        PoolSource,
        TopicSource,
        TraceSource,
        WorkerSource,
    )


class Source(Protocol):
    """Where observations and pages come from: a ``Console`` on a server, or an invention in a test.

    Every method that reads raises ``ServerError`` where the server cannot be asked or refuses.
    """

    async def observe(self, only: Sequence[str] = ()) -> Observation:
        """Read, compare with history and judge, once."""

    async def read_entries(
        self,
        stream: str,
        *,
        start: EntryId = ZERO_ID,
        end: EntryId = LAST_ID,
        count: int = 50,
        newest_first: bool = False,
    ) -> EntryPage:
        """Read one page of a stream's entries."""

    async def read_entry(self, stream: str, entry_id: EntryId) -> Entry | None:
        """Read one entry; none where the stream no longer has it."""

    async def read_payload(self, key: str, limit: int) -> "KeptPayload | None":
        """Read a payload that is kept beside a stream; none where it is gone."""

    async def search(self, stream: str, query: "Search") -> "SearchResult":
        """Look for entries, as far as the query's limits let it; raises ``SettingsError`` too."""

    async def read_pending(
        self,
        stream: str,
        group: str,
        *,
        after: EntryId | None = None,
        count: int = 100,
        consumer: str | None = None,
    ) -> PendingPage:
        """Read one page of a group's pending entries."""

    async def read_pending_summary(self, stream: str, group: str) -> PendingSummary:
        """How many entries are pending, and whose."""

    async def scan_pending(self, stream: str, group: str, *, limit: int = 100_000) -> "PendingProfile | None":
        """The distribution of pending entries, from a bounded number of rows; none where none is pending."""

    @property
    def dead_letters(self) -> "LetterSource":
        """Reads dead-letter queues."""

    @property
    def delayed(self) -> "DelayedSource":
        """Reads delayed messages."""

    @property
    def topics(self) -> "TopicSource":
        """Reads topics of HTTP callbacks."""

    @property
    def workers(self) -> "WorkerSource":
        """Reads heartbeats of worker processes."""

    @property
    def pools(self) -> "PoolSource":
        """Reads pools of workers, and why they have the workers they have."""

    @property
    def tracer(self) -> "TraceSource":
        """Reads what became of entries."""

    async def find_delayed(self) -> "DelayedQueues":
        """The queues of delayed messages; goes through all keys."""

    def tail(
        self, stream: str, *, after: EntryId | None = None, poll: timedelta = timedelta(seconds=1)
    ) -> AsyncIterator[Entry]:
        """Yield entries as they arrive; from now on where ``after`` is none."""

    async def prepare(self, intent: Struct, limits: Limits = ...) -> "Prepared[Any, Any]":
        """Make a plan, writing nothing; raises ``PlanError`` where there is no safe way."""

    async def prepare_rest(self, job_id: str) -> "Prepared[Any, Any]":
        """Make a plan of the rest of an interrupted job."""

    async def apply(
        self,
        prepared: "Prepared[Any, Any]",
        assent: Assent = ...,
        progress: Callable[[Progress], None] | None = None,
        started: Callable[[str], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        """Do what a plan says; raises ``PlanError`` where nothing was done and ``ApplyError`` where part of it was."""

    async def read_actions(self, count: int = 100, after: ActionPage | None = None) -> ActionPage:
        """Read a page of the audit log, newest first."""

    async def read_action(self, audit_id: EntryId) -> list[AuditRecord]:
        """Read all records of one action."""

    async def read_job_page(self, limit: int = 100) -> JobPage:
        """Read the newest jobs."""

    async def read_job(self, job_id: str) -> Job:
        """Read one job."""

    async def cancel_job(self, job_id: str) -> bool:
        """Ask a job to stop; say whether it is over at once."""

    def start_discovery(self) -> object:
        """Begin the paced scan for streams in the background."""

    async def close(self) -> None:
        """Let go of the connections."""


class ContextInfo(Struct, frozen=True):
    """One named way to a server, as far as a screen shows it.

    Attributes:
        name: The context's name.
        environment: ``production`` unless stated.
        address: The address in words, without secrets.
        url: How ``--url`` reaches it, without secrets, where no context of that name is configured.
        read_only: Whether everything that changes anything is refused there.
        shows_plans: Whether plans may be made all the same, to be looked at.
    """

    name: str
    environment: str = "production"
    address: str = ""
    url: str = ""
    read_only: bool = False
    shows_plans: bool = False


class TuiSettings(Struct, frozen=True):
    """Everything the console is started with.

    Attributes:
        context: The context to begin with.
        contexts: All contexts there are, in the order to list them.
        open_source: Connects to a context by its name; raises ``StreamopsError``.
        every: Time between two polls; none for only on demand.
        theme: ``dark`` or ``light``.
        views: Saved views, by name.
        save_view: Adds a view to the configuration and says where; raises ``SettingsError``. None where there is none.
        keymap: Keys by the IDs of the bindings that they replace.
        mouse: Whether the mouse is used.
        colour: Whether colour is used.
        copy: Which way text is copied: ``auto``, ``osc52``, ``tool`` or ``file``.
    """

    context: ContextInfo
    contexts: tuple[ContextInfo, ...]
    open_source: Callable[[str], Awaitable[Source]]
    every: timedelta | None = timedelta(seconds=2)
    theme: str = "dark"
    views: Mapping[str, View] = {}
    save_view: Callable[[str, View], Awaitable[str]] | None = None
    keymap: Mapping[str, str] = {}
    mouse: bool = True
    colour: bool = True
    copy: str = "auto"
