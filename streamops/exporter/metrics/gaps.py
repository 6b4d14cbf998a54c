"""What could not be read of that which is shown, so that nobody takes for quiet what is only unseen. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from streamops.exporter.catalogue.others import GAPS
from streamops.exporter.metrics.guards import Guards, wants
from streamops.exporter.metrics.samples import Block, labelled
from streamops.model.snapshot import NO_SUCH_STREAM, Gap

STREAMS: Final = "streams"
NODES: Final = "nodes"
NODE: Final = "node "


def gap_block(gaps: Iterable[Gap], unread: Iterable[str], guards: Guards) -> Block:
    """How much cannot be read at present, by the part.

    Args:
        gaps: What a snapshot could not read.
        unread: What is read beside snapshots and cannot be.
        guards: What is shown: what is not is not missed.
    """
    parts = Counter(_part(gap) for gap in gaps if _is_missed(gap, guards))
    parts.update(unread)
    values: Mapping[tuple[str], int] = {(part,): number for part, number in sorted(parts.items())}
    return labelled(GAPS, values)


def _part(gap: Gap) -> str:
    if gap.stream is None:
        return NODES if gap.part.startswith(NODE) else gap.part
    return gap.part or STREAMS


def _is_missed(gap: Gap, guards: Guards) -> bool:
    # What a limit leaves out is counted as omitted.
    if gap.capped or gap.reason == NO_SUCH_STREAM:
        return False
    if gap.stream is None:
        return True
    return (gap.group is None or guards.shows_groups) and wants(guards, gap.stream)
