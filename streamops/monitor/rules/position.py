"""Rules 8 to 10: whether the position and the stream's beginning stand where they should."""

from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.wording import command, counted, span
from streamops.monitor.rules.subject import GroupSubject
from streamops.monitor.samples import Column, GroupSample
from streamops.monitor.thresholds import Thresholds

SUSTAINED = 3
"""Readings that must agree before a passing state counts."""


def rewound(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 8: the position moved back a short while ago and has not caught up with where it was."""
    history, position = subject.history, subject.group.last_delivered_id
    at, origin = history.rewound_at, history.rewound_from
    if at is None or origin is None or position >= origin or subject.now - at >= thresholds.report_for:
        return None
    info = command("groups info", subject.stream.name, subject.group.name)
    return Finding(
        FindingCode.REWOUND,
        Health.WARN,
        f"the position moved back from {origin} {span(subject.now - at)} ago and stands at {position}: "
        "entries are delivered again",
        f"If nobody meant to rewind the group or make it anew, find out who did: {info}",
    )


def lost(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 9: trimming took entries that the group had not been given; a warning of what was gone at the start."""
    history = subject.history
    if history.lost_at is None or subject.now - history.lost_at >= thresholds.report_for:
        return _lost_before(subject, thresholds)
    least = "" if history.lost_known else "at least "
    return Finding(
        FindingCode.LOST,
        Health.CRITICAL,
        f"{least}{counted(history.lost, 'entry was', 'entries were')} trimmed away before delivery, "
        f"the last {span(subject.now - history.lost_at)} ago",
        _spare(subject),
    )


def _lost_before(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    history = subject.history
    # A position that was moved back stands before entries that it had passed.
    if not history.lost_before or history.rewound_at is not None:
        return None
    if subject.now - history.began >= thresholds.report_for:
        return None
    return Finding(
        FindingCode.LOST,
        Health.WARN,
        f"at most {counted(history.lost_before, 'entry was', 'entries were')} trimmed away before delivery, "
        "before watching began",
        _spare(subject),
    )


def _spare(subject: GroupSubject) -> str:
    return f"Raise MAXLEN where entries are added, or leave trimming to what spares them: {_trim(subject)}"


def retention_edge(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 10: a stream is being trimmed while the group has nearly all of it still to read.

    Silent on Redis 6.2, which does not tell trimming from deleting.
    """
    trimmed_at, lag, length = subject.trimmed_at, subject.history.lag, subject.stream.length
    if trimmed_at is None or lag is None or subject.now - trimmed_at >= thresholds.report_for:
        return None
    if not _at_edge(subject.history.recent, thresholds.retention_ratio):
        return None
    return Finding(
        FindingCode.RETENTION_EDGE,
        Health.WARN,
        f"{lag:,} of the {counted(length, 'entry', 'entries')} in a stream that is "
        "being trimmed are still to be delivered",
        f"Make the group faster, raise MAXLEN where entries are added, or trim safely: {_trim(subject)}",
    )


def _trim(subject: GroupSubject) -> str:
    return command("trim", subject.stream.name, options="--before 7d")


def _at_edge(recent: Column[GroupSample], ratio: float) -> bool:
    """Whether all recent readings, and enough of them, show most of the stream undelivered."""
    return len(recent.values) >= SUSTAINED and all(
        sample.lag is not None and sample.lag > ratio * sample.stream.length for sample in recent.values
    )
