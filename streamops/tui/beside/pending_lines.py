"""A group's pending entries as a whole: how long idle, how often delivered, whose. Pure lines of cells."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.model.wording import counted
from streamops.monitor.pages import PendingSummary
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import duration, percent, terse
from streamops.tui.gauges import Part, parts_line
from streamops.tui.paint import Line

LONG_IDLE: Final = 3
"""From this bucket on, idle entries are worth a warning: more than a minute."""
OFTEN: Final = 2
"""From this bucket on, deliveries are: more than two."""


class PendingWhole(Struct, frozen=True):
    """A group's pending entries as a whole.

    Attributes:
        summary: How many, and whose.
        profile: How long idle and how often delivered, from a bounded number of rows; none if none is pending.
    """

    summary: PendingSummary
    profile: PendingProfile | None


def pending_head(whole: PendingWhole | None, consumer: str | None, width: int) -> list[Line]:
    """How many are pending, and how they are distributed.

    Args:
        whole: What was read; none while that is under way.
        consumer: The consumer whose entries are listed; none for all.
        width: Cells there are.
    """
    if whole is None:
        return [(Cell(" summing up", Tone.DIM),)]
    summary, profile = whole.summary, whole.profile
    owners = sorted(summary.consumers, key=lambda owner: -owner[1])
    lines = [_whole(whole, consumer)]
    if profile is not None:
        lines += [
            parts_line("Idle", _idle(profile), width),
            parts_line("Deliveries", _deliveries(profile), width),
        ]
    if owners:
        lines.append(parts_line("Owners", [_owner(*owner, of=summary.pending) for owner in owners], width))
    return lines


def _whole(whole: PendingWhole, consumer: str | None) -> Line:
    summary, profile = whole.summary, whole.profile
    cells = [Cell(f" {counted(summary.pending, 'pending entry', 'pending entries')}", Tone.STRONG)]
    if consumer is not None:
        held = dict(summary.consumers).get(consumer, 0)
        cells.append(Cell(f" in the group, {held:,} of {safe(consumer)}"))
    if profile is not None and profile.longest_idle is not None:
        cells.append(Cell(f" · longest idle {duration(profile.longest_idle.idle)}", Tone.DIM))
    if profile is not None and profile.free:
        cells.append(Cell(f" · {profile.free:,} free for any consumer", Tone.DIM))
    if profile is not None and profile.coverage < 1:
        seen = f" · {percent(profile.coverage)} looked at, the oldest"
        cells.append(Cell(seen, Tone.UNKNOWN))
    return tuple(cells)


def _idle(profile: PendingProfile) -> Sequence[Part]:
    names = [*(f"≤{terse(bound)}" for bound in IDLE_BOUNDS), f">{terse(IDLE_BOUNDS[-1])}"]
    return _buckets(names, profile.idle_buckets, LONG_IDLE)


def _deliveries(profile: PendingProfile) -> Sequence[Part]:
    names = [*(f"≤{bound}" for bound in DELIVERY_BOUNDS), f">{DELIVERY_BOUNDS[-1]}"]
    return _buckets(["1", *names[1:]], profile.delivery_buckets, OFTEN)


def _buckets(names: Sequence[str], numbers: Sequence[int], warn_from: int) -> Sequence[Part]:
    return [
        Part(name, number, Tone.WARN if at >= warn_from else Tone.OK)
        for at, (name, number) in enumerate(zip(names, numbers, strict=True))
    ]


def _owner(name: str, pending: int, *, of: int) -> Part:
    return Part(f"{safe(name)} {percent(pending / of, rounded=True) if of else ''}".rstrip(), pending)
