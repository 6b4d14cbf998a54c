"""Whether the position and the stream's beginning stand where they should."""

from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.wording import command, counted, span
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.samples import Column, GroupSample
from streamops.monitor.thresholds import Thresholds

SUSTAINED = 3
"""Readings that must agree before a passing state counts."""


def rewound(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """The position moved back a short while ago and has not caught up with where it was."""
    history, position = evidence.history, evidence.group.last_delivered_id
    at, origin = history.rewound_at, history.rewound_from
    if at is None or origin is None or position >= origin or evidence.now - at >= thresholds.report_for:
        return None
    info = command("groups info", evidence.stream.name, evidence.group.name)
    return Finding(
        FindingCode.REWOUND,
        Health.WARN,
        f"the position moved back from {origin} {span(evidence.now - at)} ago and stands at {position}: "
        "entries are delivered again",
        f"If nobody meant to rewind the group or make it anew, find out who did: {info}",
    )


def lost(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """Trimming took entries that the group had not been given; a warning of what was gone at the start."""
    history = evidence.history
    if history.lost_at is None or evidence.now - history.lost_at >= thresholds.report_for:
        return _lost_before(evidence, thresholds)
    least = "" if history.lost_known else "at least "
    return Finding(
        FindingCode.LOST,
        Health.CRITICAL,
        f"{least}{counted(history.lost, 'entry was', 'entries were')} trimmed away before delivery, "
        f"the last {span(evidence.now - history.lost_at)} ago",
        _spare(evidence),
    )


def _lost_before(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    history = evidence.history
    # A position that was moved back stands before entries that it had passed.
    if not history.lost_before or history.rewound_at is not None:
        return None
    if evidence.now - history.began >= thresholds.report_for:
        return None
    return Finding(
        FindingCode.LOST,
        Health.WARN,
        f"at most {counted(history.lost_before, 'entry was', 'entries were')} trimmed away before delivery, "
        "before watching began",
        _spare(evidence),
    )


def _spare(evidence: GroupEvidence) -> str:
    return f"Raise MAXLEN where entries are added, or leave trimming to what spares them: {_trim(evidence)}"


def retention_edge(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """A stream is being trimmed while the group has nearly all of it still to read.

    Silent on Redis 6.2, which does not tell trimming from deleting.
    """
    trimmed_at, lag, length = evidence.trimmed_at, evidence.history.lag, evidence.stream.length
    if trimmed_at is None or lag is None or evidence.now - trimmed_at >= thresholds.report_for:
        return None
    if not _at_edge(evidence.history.recent, thresholds.retention_ratio):
        return None
    return Finding(
        FindingCode.RETENTION_EDGE,
        Health.WARN,
        f"{lag:,} of the {counted(length, 'entry', 'entries')} in a stream that is "
        "being trimmed are still to be delivered",
        f"Make the group faster, raise MAXLEN where entries are added, or trim safely: {_trim(evidence)}",
    )


def _trim(evidence: GroupEvidence) -> str:
    return command("trim", evidence.stream.name, options="--before 7d")


def _at_edge(recent: Column[GroupSample], ratio: float) -> bool:
    """Whether all recent readings, and enough of them, show most of the stream undelivered."""
    return len(recent.values) >= SUSTAINED and all(
        sample.lag is not None and sample.lag > ratio * sample.stream.length for sample in recent.values
    )
