"""How far a deed is, as lines and as words for the status line. Pure."""

from typing import Final

from streamops.model.wording import counted
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, percent, rate
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import RunningOperation
from streamops.tui.widgets.paint import BLANK_LINE, Line

MOST: Final = 60
FULL, EMPTY = "█", "░"


def progress_lines(deed: RunningOperation, width: int) -> list[Line]:
    """A bar, how much is done, how fast, and how long it will take."""
    plan, progress = deed.plan, deed.progress
    done = 0 if progress is None else progress.done
    share = min(done / plan.count, 1.0) if plan.count else 1.0
    room = max(min(width - 10, MOST), 1)
    bar = (FULL * int(share * room)).ljust(room, EMPTY)
    lines: list[Line] = [
        *paragraph(safe(deed.name), width, Tone.STRONG),
        BLANK_LINE,
        (Cell(f" {bar} ", Tone.OK), Cell(percent(share).rjust(6), Tone.STRONG)),
        (Cell(f" {done:,} of {counted(plan.count, *plan.unit)}{_pace(deed)}"),),
        BLANK_LINE,
    ]
    if deed.stopping:
        lines += paragraph("‖ stopping after the batch under way", width, Tone.WARN)
    if deed.job:
        lines += paragraph(
            f"Job {safe(deed.job)}: others see it, and can stop it, on their jobs screen (:jobs)",
            width,
            Tone.DIM,
        )
    return lines


def _pace(deed: RunningOperation) -> str:
    progress = deed.progress
    if progress is None or progress.rate is None:
        return ""
    left = "" if progress.remaining is None else f" · about {duration(progress.remaining)} left"
    return f" · {rate(progress.rate)}{left}"
