"""How much goes through all streams, now and over the last minutes."""

from collections.abc import Sequence
from typing import Final

from streamops.model.wording import counted
from streamops.present.charts.points import Point
from streamops.present.spark import spark
from streamops.present.table import Cell, Tone
from streamops.tui.charting import total_rate
from streamops.tui.paint import Line
from streamops.tui.past.memory import ALL_ACKED, ALL_ADDED, ALL_DELIVERED, TIERS, Past, Track
from streamops.tui.past.rows import Totals

TIER: Final = TIERS[1]
STEPS: Final = 30
"""Five minutes, ten seconds each."""
THOUSANDTHS: Final = 1000
RATE_WIDTH: Final = 9


def rate_facts(past: Past, totals: Totals, until: float, *, wordy: bool) -> list[tuple[str, Line]]:
    """Entries added, delivered and acknowledged a second, each with its last five minutes.

    Args:
        past: What is remembered.
        totals: What is so now.
        until: Up to when.
        wordy: Whether to say of how many streams and groups.
    """
    groups = (totals.groups, totals.untold_rates)
    added = total_rate(totals.added, totals.streams, totals.untold_added)
    to_streams = ", " + counted(totals.streams, "stream", "streams") if wordy else ""
    of_groups = ", " + counted(totals.groups, "group", "groups") if wordy else ""
    return [
        ("Added", _rate(past, ALL_ADDED, until, added, to_streams)),
        ("Delivered", _rate(past, ALL_DELIVERED, until, total_rate(totals.delivered, *groups), of_groups)),
        ("Acked", _rate(past, ALL_ACKED, until, total_rate(totals.acked, *groups), of_groups)),
    ]


def _rate(past: Past, track: Track, until: float, now: str, parts: str) -> Line:
    points = past.whole(track, TIER, until)
    line = spark(steps_of(points, until), STEPS)
    return (Cell(f"{now:<{RATE_WIDTH}}"), Cell(f" {line}", Tone.OK), Cell(f" 5 min{parts}", Tone.DIM))


def steps_of(points: Sequence[Point], until: float) -> list[int | None]:
    """The readings of the last five minutes, one a step, in thousandths; none where nothing was known."""
    last = int(until // TIER.spacing)
    by_step = {
        int(point.at // TIER.spacing): round(point.value * THOUSANDTHS)
        for point in points
        if point.value is not None
    }
    return [by_step.get(step) for step in range(last - STEPS + 1, last + 1)]
