"""Calling handlers by the clock: each slot is a delayed message, which the first of many workers adds.

The message's ID is the slot, and so is its business key: a worker whose clock is behind may add the message again once
that has become an entry, and the second entry is a duplicate.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

from streamops.errors import ServerError, SettingsError
from streamops.model.delayed import DelayedBody
from streamops.model.entries import EPOCH
from streamops.runtime.context import PAUSE, WorkerContext
from streamops.runtime.events import Troubled
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.faults import Fault
from streamops.wire.keys import delayed_key

SLOT: Final = "at"
"""The field that holds an entry's slot, with its time zone."""
LONGEST_SLEEP: Final = 60.0
"""Seconds after which the next slot's message is seen to again: it may have been deleted."""


class CronSchedule(Struct, frozen=True):
    """When a handler is called.

    Attributes:
        expression: Five fields of cron, or six, the first of which are seconds.
        timezone: The time zone that it is read in, by its name in the IANA database.
    """

    expression: str
    timezone: str = "UTC"

    def after(self, instant: datetime) -> datetime:
        """The first slot after an instant.

        Raises:
            SettingsError: The expression or the time zone is none, or cronsim is not installed.
        """
        try:
            from cronsim import CronSim, CronSimError  # noqa: PLC0415 - who has no cron needs it not
        except ImportError:
            raise SettingsError("cron takes cronsim", "Run: pip install 'streamops[cron]'") from None
        try:
            return next(CronSim(self.expression, instant.astimezone(ZoneInfo(self.timezone))))
        except StopIteration:
            wrong, hint = "it never comes", "Name a day that there is."
        except CronSimError as error:
            wrong, hint = str(error), "Write '*/5 * * * *', or '0 3 * * MON'."
        except (ZoneInfoNotFoundError, ValueError) as error:
            wrong, hint = str(error), "Name a time zone, such as Europe/Berlin."
        raise SettingsError(f"cron {self.expression!r}: {wrong}", hint)


class CronScheduler:
    """Adds the message of the next slot of each schedule.

    Args:
        schedules: The schedules, by the streams that their handlers read.
        context: What it shares with its worker.
    """

    def __init__(self, schedules: Mapping[str, CronSchedule], context: WorkerContext) -> None:
        self._schedules = schedules
        self._context = context

    def schedules(self, stream: str) -> bool:
        """Whether it adds messages to a stream."""
        return stream in self._schedules

    async def run(self) -> None:
        """Add messages, forever."""
        async with asyncio.TaskGroup() as tasks:
            for stream, schedule in self._schedules.items():
                tasks.create_task(self._keep(stream, schedule))

    async def _keep(self, stream: str, schedule: CronSchedule) -> None:
        queue = delayed_key(stream, self._context.names.delayed)
        passed = EPOCH
        while True:
            now = EPOCH + timedelta(milliseconds=self._context.clock.now_ms())
            slot = schedule.after(max(now, passed))
            wait = (slot - now).total_seconds()
            message = _message(stream, slot)
            try:
                (answer,) = await schedule_many(self._context.server, stream, [message], queue)
            except ServerError as error:
                self._context.events.emit(Troubled(stream, error))
                await asyncio.sleep(PAUSE)
                continue
            if isinstance(answer, Fault):
                self._context.events.emit(Troubled(stream, ServerError(f"{queue}: {answer.reason}")))
            await asyncio.sleep(min(wait, LONGEST_SLEEP))
            # The next heartbeat may set the clock back a little: what has come is not added again.
            passed = slot if wait <= LONGEST_SLEEP else passed


def _message(stream: str, slot: datetime) -> MessageToDelay:
    body = DelayedBody(stream, ((SLOT.encode(), slot.isoformat().encode()),))
    return MessageToDelay(f"cron-{slot.astimezone(UTC):%Y%m%dT%H%M%SZ}", body, slot)
