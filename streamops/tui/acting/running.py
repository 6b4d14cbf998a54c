"""What the console does to the server: plans that were agreed to, each in a task that outlives its screen."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from streamops.errors import ApplyError, StreamopsError
from streamops.model.acting import Confirmation, Outcome, Progress
from streamops.operations.operation import Prepared
from streamops.resources.text import safe
from streamops.tui.polling.app_state import RunningOperation
from streamops.tui.source import Source

KEPT: Final = 8
"""Deeds that are remembered after their end, so that whoever looks again finds them."""
NOTE_EVERY: Final = 0.2
"""Seconds from a batch to its saying; what comes meanwhile is told with it."""


class RunningOperations:
    """The deeds of one console.

    Args:
        changed: Told all deeds, newest last, whenever one of them changed.
    """

    def __init__(self, changed: Callable[[tuple[RunningOperation, ...]], object]) -> None:
        self._changed = changed
        self._deeds: dict[int, RunningOperation] = {}
        self._stops: dict[int, asyncio.Event] = {}
        self._telling = False
        self._last = 0

    @property
    def deeds(self) -> tuple[RunningOperation, ...]:
        """All that run, and the last that ran, newest last."""
        return tuple(self._deeds.values())

    def begin(self, prepared: Prepared[Any, Any]) -> RunningOperation:
        """Note a deed that is about to be done."""
        self._last += 1
        deed = RunningOperation(number=self._last, plan=prepared.plan, prepared=prepared)
        for old in _too_old(self._deeds.values()):
            del self._deeds[old]
        self._deeds[deed.number] = deed
        self._stops[deed.number] = asyncio.Event()
        self._notify_changed()
        return deed

    async def carry_out(self, number: int, confirmation: Confirmation, source: Source) -> None:
        """Do it to its end; what becomes of it is told, whatever it is."""
        prepared = self._deeds[number].prepared
        try:
            outcome = await source.apply(
                prepared,
                confirmation,
                lambda progress: self._advance(number, progress),
                lambda job: self._change(number, job=job),
                self._stops[number],
            )
        except ApplyError as error:
            partial = error.outcome if isinstance(error.outcome, Outcome) else None
            self._change(number, outcome=partial, error=error)
        except StreamopsError as error:
            self._change(number, error=error)
        except Exception as error:  # noqa: BLE001 - nobody else would tell the person who waits for it
            what = safe(f"internal error: {type(error).__name__}: {error}")
            self._change(number, error=StreamopsError(what, "@ shows what was done"))
        else:
            self._change(number, outcome=outcome)
        finally:
            self._stops.pop(number, None)

    def stop(self, number: int) -> None:
        """Stop after the batch under way."""
        if number in self._stops:
            self._stops[number].set()
            self._change(number, stopping=True)

    def stop_all(self) -> None:
        """Stop everything after the batch under way."""
        for number in tuple(self._stops):
            self.stop(number)

    def _advance(self, number: int, progress: Progress) -> None:
        known = self._deeds[number]
        self._deeds[number] = replace(known, progress=progress, job=known.job or progress.job)
        if not self._telling:
            self._telling = True
            asyncio.get_running_loop().call_later(NOTE_EVERY, self._notify_changed)

    def _change(self, number: int, **changes: Any) -> None:
        self._deeds[number] = replace(self._deeds[number], **changes)
        self._notify_changed()

    def _notify_changed(self) -> None:
        self._telling = False
        self._changed(self.deeds)


def _too_old(deeds: Iterable[RunningOperation]) -> list[int]:
    over = [deed.number for deed in deeds if not deed.running]
    return over[: max(0, len(over) - KEPT + 1)]
