"""``claim``: take pending entries over from consumers that hold them idly."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from itertools import compress
from typing import Final

from streamops.errors import SettingsError, StreamopsError
from streamops.model.acting import Plan, Skipped
from streamops.model.effects import say
from streamops.model.entries import LAST_ID, EntryId
from streamops.model.pending import PendingChange, PendingSelection, Unfit
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.claim.plan import ClaimEvidence, missing_entries, plan_claim
from streamops.operations.operation import Operation
from streamops.operations.pending_rows import note_gone, read_members, unhandled_of
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.operations.undo.intent import undo_rows
from streamops.operations.undo_snapshots import undo_of
from streamops.wire.pending import Claimable, GoneSearch, read_claimable, read_claimable_ids
from streamops.wire.server import Server
from streamops.wire.writes.pending import ChangedPage, ChangedRows, claim_ids, claim_page

WHY_LEFT = {
    "gone": "no longer pending",
    "owner": "owned by another consumer by now",
    "idle": "delivered again, so no longer idle for long enough",
    "missing": "its entry no longer exists: the server removed the row",
}

FIRST: Final = 1_000
SMALLEST: Final = 250
LARGEST: Final = 3_000
"""Rows of the first page, of the smallest and of the largest: with some more, a script had too many arguments."""

NAMED: Final = 1_000
"""IDs of one call."""

AIM: Final = timedelta(milliseconds=3)
"""What a page should take the server."""

LAST_WORDS: Final = 4.0
"""Seconds for the page under way where the claim is stopped."""


class ClaimPace:
    """How many rows a page has, so that it keeps the server some milliseconds and not more.

    Attributes:
        size: Rows of a page.
    """

    def __init__(self) -> None:
        self.size = FIRST

    def learn(self, page: ChangedPage) -> None:
        """Take into account what a page took, if that is known and most of its rows were claimed."""
        if page.spent and page.changed.count > self.size // 2:
            fitting = int(page.changed.count * (AIM / page.spent))
            self.size = min(LARGEST, 2 * self.size, max(SMALLEST, fitting))


class Claiming:
    """One claim under way."""

    def __init__(self, run: Run, intent: ClaimIntent, evidence: ClaimEvidence) -> None:
        self._run = run
        self._intent = intent
        self._what = claimable(intent)
        self._position = evidence.identity.floor(intent.group)
        self._until = evidence.selection.last_id or LAST_ID
        self._chosen = evidence.chosen
        self._unhandled = unhandled_of(intent.stream, intent.group, evidence.consumers)
        self._pace = ClaimPace()

    async def pages(self) -> None:
        """Claim what matches, page by page; the server works on the next one while this one is reported."""
        page = await self._page(None)
        while page is not None:
            # What is being reported is counted here: the next page may begin before or after that.
            done = self._run.counts.done + page.changed.count + len(page.changed.left)
            upcoming = asyncio.create_task(self._after(page, done))
            try:
                await self._report(page.changed)
                page = await asyncio.shield(upcoming)
            except (asyncio.CancelledError, StreamopsError):
                await asyncio.shield(self._report_last(upcoming))
                raise

    async def named(self) -> None:
        """Claim entries by their IDs."""
        run = self._run
        async for ids in run.batches(list(compress(ids_of(self._intent), self._chosen)), NAMED):
            told = await claim_ids(
                run.server, self._what, ids, position=self._position, snapshot=run.snapshot
            )
            await self._report(told)

    async def _page(self, after: EntryId | None, done: int | None = None) -> ChangedPage | None:
        most = await self._run.batch_size(self._pace.size, done)
        if not most:
            return None
        page = await claim_page(
            self._run.server,
            self._what,
            position=self._position,
            after=after,
            until=self._until,
            most=most,
            look=self._pace.size,
            snapshot=self._run.snapshot,
        )
        self._pace.learn(page)
        return page

    async def _after(self, page: ChangedPage, done: int) -> ChangedPage | None:
        return None if page.ended else await self._page(page.last_id, done)

    async def _report_last(self, upcoming: "asyncio.Task[ChangedPage | None]") -> None:
        """Report the page under way where the claim is stopped, as far as that is possible."""
        with suppress(StreamopsError, TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                page = await upcoming
            if page is not None:
                await self._report(page.changed)

    async def _report(self, claimed: ChangedRows) -> None:
        if claimed.missing:
            self._run.note(
                "Rows of entries that no longer exist were removed by the server; they cannot be restored."
            )
            await note_gone(self._run, self._unhandled, claimed.missing)
        await self._run.report(
            claimed.count,
            skipped=[Skipped(row.id, WHY_LEFT[row.why]) for row in claimed.left],
            **undo_of(claimed.count, claimed.rows),
        )


def claimable(intent: ClaimIntent) -> Claimable:
    """Which rows an intent asks for."""
    return Claimable(intent.stream, intent.group, intent.to, intent.source, intent.min_idle)


def ids_of(intent: ClaimIntent) -> list[EntryId]:
    """The IDs asked for, each once and lowest first."""
    return sorted(set(intent.ids or ()))


async def survey_claim(place: ServerContext, intent: ClaimIntent) -> ClaimEvidence:
    """Count what can be claimed, and look at the consumers it is about."""
    _check(intent)
    server = place.server
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    consumers = await read_members(server, intent.stream, intent.group, intent.source)
    # Redis 6.2, which counts no entries added, lets rows be claimed whose entries are gone.
    keeps_gone = reading.bounds_read and reading.entries_added is None
    search = GoneSearch(server, intent.stream, reading.entry_bytes or 0) if keeps_gone else None
    selection, unfit, chosen = await _select(server, intent, search)
    return ClaimEvidence(
        identity=identity,
        selection=selection,
        unfit=unfit,
        consumers=consumers,
        gone=search.found if search else None,
        chosen=chosen,
    )


async def apply_claim(run: Run, intent: ClaimIntent, evidence: ClaimEvidence, plan: Plan) -> None:
    """Claim them batch by batch."""
    work = Claiming(run, intent, evidence)
    await (work.pages() if intent.ids is None else work.named())
    if evidence.gone is not None and (missing := missing_entries(evidence.gone)):
        run.note(say(missing))
    if changed := plan.count - run.counts.done:
        run.note(
            f"Changed since the plan and left alone: {counted(changed, 'entry', 'entries')} "
            "(acknowledged, delivered again, or claimed by another consumer)."
        )


def _check(intent: ClaimIntent) -> None:
    if intent.to == intent.source:
        raise SettingsError(
            f"claim: {intent.to} is both the old owner and the new one", "Name another with --to."
        )
    if intent.min_idle < timedelta(0) or (intent.count is not None and intent.count < 0):
        raise SettingsError("claim: --min-idle and --count cannot be negative", "Give 0 or more.")


async def _select(
    server: Server, intent: ClaimIntent, search: GoneSearch | None
) -> tuple[PendingSelection, Unfit, bytes]:
    what = claimable(intent)
    if intent.ids is not None:
        return await read_claimable_ids(server, what, ids_of(intent), most=intent.count, search=search)
    return await read_claimable(server, what, most=intent.count, search=search), Unfit(), b""


CLAIM = Operation(
    intent=ClaimIntent,
    survey=survey_claim,
    plan=plan_claim,
    apply=apply_claim,
    writes=("XCLAIM", "XAUTOCLAIM"),
    undo=lambda intent, records: undo_rows(
        records, intent.stream, intent.group, PendingChange.CLAIMED, intent.to
    ),
    undo_snapshot=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (CLAIM,)
