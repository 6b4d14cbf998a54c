"""Rule 13: dead letters."""

from streamops.analysis.columns import Column
from streamops.analysis.rates import arrivals
from streamops.analysis.rules.subject import StreamSubject
from streamops.analysis.samples import StreamSample
from streamops.analysis.thresholds import Thresholds
from streamops.analysis.wording import command, counted, quoted, span
from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import StreamRole


def dead_letters(subject: StreamSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 13: a dead-letter stream has entries; critical while they keep coming."""
    stream = subject.stream
    if stream.role is not StreamRole.DEAD_LETTERS or stream.length < thresholds.dead_letters:
        return None
    text = counted(stream.length, "dead letter", "dead letters")
    if stream.source is not None:
        text += f" of {quoted(stream.source)}"
    growth = subject.history.growth
    added = arrivals(growth.values[0], growth.values[-1]) if growth is not None else None
    critical = growth is not None and added is not None and _fast(growth, added, thresholds)
    if growth is not None and added:
        text += f", {added:,} added in {span(growth.span)}"
    show = command("dlq show", stream.name)
    replay = command("replay", stream.name)
    return Finding(
        FindingCode.DEAD_LETTERS,
        Health.CRITICAL if critical else Health.WARN,
        text,
        f"See why they died: {show}; mend the cause, then replay them: {replay}",
    )


def _fast(growth: Column[StreamSample], added: int, thresholds: Thresholds) -> bool:
    """Whether enough came, or, where readings are sparse and span longer, proportionally more."""
    longer = max(1.0, growth.span / thresholds.dead_letters_growth_within)
    return added >= thresholds.dead_letters_growth * longer
