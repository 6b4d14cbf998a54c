"""A group being tended: sweep after sweep over its pending entries."""

from datetime import UTC, datetime

from streamops.analysis.wording import counted, instant
from streamops.errors import StreamopsError
from streamops.model.acting import Failed
from streamops.model.ids import LAST_ID, EntryId
from streamops.operate.acting.run import Run
from streamops.wire.consuming.tending import BATCH, Tendable, Tended, tend_page
from streamops.wire.faults import Fault
from streamops.wire.reads import read_clock

EPOCH = datetime.fromtimestamp(0, UTC)


class Tending:
    """One group being tended."""

    def __init__(self, run: Run, what: Tendable) -> None:
        self._run = run
        self._what = what
        self._redelivered = self._buried = self._gone = 0

    async def sweep(self, until: EntryId | None = None) -> None:
        """Deal with what is idle for long enough, page by page, up to an ID.

        Raises:
            StreamopsError: It could not go on.
            StopAsked: Somebody wants it to stop.
        """
        after, dealt = None, 0
        now = instant(await read_clock(self._run.server, self._what.stream) or EPOCH)
        while most := await self._run.batch_size(min(BATCH, self._run.most - dealt)):
            page = await tend_page(
                self._run.server, self._what, after=after, until=until or LAST_ID, most=most, now=now
            )
            if isinstance(page, Fault):
                raise self._error(page)
            await self._report(page)
            after, dealt = page.last_id, dealt + page.applied
            if page.ended:
                break

    def sum_up(self) -> None:
        """Say what was done, by what became of the entries."""
        queue = self._what.queue
        for number, what in (
            (self._redelivered, "handled again" if self._what.to == "" else f"given to {self._what.to}"),
            (self._buried, f"delivered too often, and now in {queue}"),
            (self._gone, f"deleted while pending, which is on record in {queue}"),
        ):
            if number:
                self._run.note(f"{counted(number, 'entry', 'entries')} {what}.")

    async def _report(self, page: Tended) -> None:
        self._redelivered += page.redelivered
        self._buried += page.buried
        self._gone += page.gone
        if page.applied or page.failed:
            await self._run.report(page.applied, failed=[Failed(*one) for one in page.failed])

    def _error(self, why: Fault) -> StreamopsError:
        return why.error(f"group {self._what.stream}/{self._what.group}")
