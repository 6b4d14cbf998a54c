"""Whether what waits gets delivered and acknowledged, and the position and the stream's beginning stand where they should."""

from datetime import timedelta
from typing import Final

from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import ConsumerGroup
from streamops.model.wording import command, counted, span
from streamops.monitor.rates import lag_growth
from streamops.monitor.rules.evidence import (
    NO_TIME,
    GroupEvidence,
    holders_seen_ago,
    poison_entry,
    suspects,
    undelivered_for,
    waited,
)
from streamops.monitor.rules.rule import Need, Remedy, Rule, RuleScope
from streamops.monitor.samples import GroupSample, SampleSeries
from streamops.monitor.thresholds import Thresholds


def no_consumers(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """Entries wait for a group that has no consumers; critical once it would count as stopped."""
    if evidence.group.consumers:
        return None
    wait = waited(evidence)
    if wait is None or wait < thresholds.no_consumers_after:
        return None
    return Finding(
        FindingCode.NO_CONSUMERS,
        Health.CRITICAL if wait >= thresholds.stopped_after else Health.WARN,
        f"{_waiting(evidence)}, the first for {span(wait)}, and the group has no consumers",
        "Start a consumer, or remove the group (XGROUP DESTROY) if it is not needed",
    )


def stalled(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """Entries are pending and nothing is acknowledged.

    Critical where more entries wait behind consumers that are seen. If none is seen, ``stopped`` says so if entries
    wait, and ``dead_consumer`` once one is suspected; one entry with nothing waiting behind it may be ``poison``.
    """
    group, history = evidence.group, evidence.history
    if not group.pending:
        return None
    unacked = evidence.now - history.unacked_since
    if unacked < thresholds.stalled_after:
        return None
    seen = _seen_ago(evidence)
    unseen = seen >= thresholds.stalled_after
    if unseen and (evidence.has_waiting or suspects(evidence, thresholds)):
        return None
    if not evidence.has_waiting and poison_entry(evidence, thresholds) is not None:
        return None
    listing = command("pending ls", evidence.stream.name, group.name)
    return Finding(
        FindingCode.STALLED,
        Health.CRITICAL if evidence.has_waiting else Health.WARN,
        f"{counted(group.pending, 'entry is', 'entries are')} pending and none was acknowledged for "
        f"{span(unacked)}, {_unseen(evidence, seen) if unseen else f'though a consumer that owns some of them was seen {span(seen)} ago'}",
        f"Look for a handler that hangs or never calls XACK: {listing}",
    )


def _unseen(evidence: GroupEvidence, seen: timedelta) -> str:
    if evidence.members is None:
        return "and it is unknown whether its consumers are alive"
    if evidence.sees_asking:
        return f"and no consumer that owns any of them was seen for {span(seen)}"
    return (
        f"and no consumer that owns any of them was delivered an entry for {span(seen)}: this server does "
        "not report whether they wait, work or are dead"
    )


def stopped(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """Entries wait and none is delivered.

    Where entries are pending, consumers may just be busy with them. Then it is critical once nothing was acknowledged
    meanwhile, or no consumer got anything for as long as makes it a suspect. Until either is known, as in a single
    reading, it is a warning; if they were seen to acknowledge, nothing.
    """
    wait = waited(evidence)
    if wait is None or wait < thresholds.stopped_after or not evidence.group.consumers:
        return None
    idle = min(wait, undelivered_for(evidence))
    if idle < thresholds.stopped_after:
        return None
    level, doubt = Health.CRITICAL, ""
    if pending := evidence.group.pending:
        unacked_since = evidence.history.unacked_since
        if evidence.now - unacked_since < thresholds.stopped_after:
            if unacked_since > evidence.history.began:
                # They were seen to acknowledge: they are at work.
                return None
            if idle < thresholds.consumer_unseen:
                level = Health.WARN
                doubt = (
                    f"; whether its consumers still process {counted(pending, 'pending entry', 'pending entries')} "
                    "is not known yet"
                )
    listing = command("consumers ls", evidence.stream.name, evidence.group.name)
    return Finding(
        FindingCode.STOPPED,
        level,
        f"{_waiting(evidence)} and none was delivered for {span(idle)}{doubt}",
        f"Check that its consumers run and read: {listing}",
    )


def lag_growing(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """The lag matters, has grown over the span, grew steadily and still grows."""
    slope, lag = evidence.rates.lag_per_second, evidence.history.lag
    if lag is None or slope is None or slope <= 0 or not lag_matters(lag, evidence.group, thresholds):
        return None
    age = evidence.group.time_lag.age or NO_TIME
    growth = lag_growth(evidence.history.trend, thresholds.lag_growing_for)
    if growth is None or not growth.steady or lag < growth.began * thresholds.lag_growing_ratio:
        return None
    listing = command("consumers ls", evidence.stream.name, evidence.group.name)
    return Finding(
        FindingCode.LAG_GROWING,
        Health.CRITICAL if age >= thresholds.time_lag_critical else Health.WARN,
        f"the lag grew from {growth.began:,} to {counted(lag, 'entry', 'entries')} in {span(growth.span)}, "
        f"now by {slope:,.1f}/s",
        f"Add consumers or process entries faster; current consumers: {listing}",
    )


def lag_matters(lag: int | None, group: ConsumerGroup, thresholds: Thresholds) -> bool:
    """Whether a lag is worth a word if it grows: by its count, or by how long the first entry has waited."""
    return (lag or 0) >= thresholds.lag_growing_entries or (
        group.time_lag.age or NO_TIME
    ) >= thresholds.time_lag


def behind(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """The first entry not delivered has waited for too long, however many wait behind it."""
    age = evidence.group.time_lag.age
    if age is None or age < thresholds.time_lag or not evidence.has_waiting:
        return None
    listing = command("consumers ls", evidence.stream.name, evidence.group.name)
    return Finding(
        FindingCode.BEHIND,
        Health.CRITICAL if age >= thresholds.time_lag_critical else Health.WARN,
        f"{_waiting(evidence)}, the first for {span(age)}",
        f"If that is too late, add consumers until the group has caught up; current consumers: {listing}",
    )


def _waiting(evidence: GroupEvidence) -> str:
    lag = evidence.history.lag
    if lag is not None:
        return counted(lag, "entry waits", "entries wait")
    return "at least " + counted(evidence.group.lag.lower or 0, "entry waits", "entries wait")


def _seen_ago(evidence: GroupEvidence) -> timedelta:
    """Time since a consumer that holds pending entries was last seen.

    By its idle time, or by a delivery to whichever. If nothing was delivered since watching began,
    that is longer ago than the last acknowledgement can be, and nobody counts as seen by it.
    """
    by_position = evidence.now - evidence.history.position_since
    seen = holders_seen_ago(evidence.members or ())
    return by_position if seen is None else min(by_position, seen)


SUSTAINED = 3
"""Readings that must agree before a passing state counts."""


def rewound(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """The position moved back a short while ago and has not caught up with if it was."""
    history, position = evidence.history, evidence.group.last_delivered_id
    at, origin = history.rewound_at, history.rewound_from
    if at is None or origin is None or position >= origin or evidence.now - at >= thresholds.report_for:
        return None
    info = command("groups show", evidence.stream.name, evidence.group.name)
    return Finding(
        FindingCode.REWOUND,
        Health.WARN,
        f"the position moved back from {origin} {span(evidence.now - at)} ago and stands at {position}: "
        "entries are delivered again",
        f"If this rewind or re-creation was not intended, see who did it: {info}",
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
        f"{least}{counted(history.lost, 'entry was', 'entries were')} trimmed before delivery, "
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
        f"at most {counted(history.lost_before, 'entry was', 'entries were')} trimmed before delivery, "
        "before the first reading",
        _spare(evidence),
    )


def _spare(evidence: GroupEvidence) -> str:
    return f"Raise MAXLEN in the producers, or trim safely instead: {_trim(evidence)}"


def retention_edge(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """A stream is being trimmed while the group has nearly all of it still to read.

    Silent on Redis 6.2, which does not report trimming from deleting.
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
        "being trimmed are not yet delivered",
        f"Make the group faster, raise MAXLEN in the producers, or trim safely: {_trim(evidence)}",
    )


def _trim(evidence: GroupEvidence) -> str:
    return command("trim", evidence.stream.name, options="--before 7d")


def _at_edge(recent: SampleSeries[GroupSample], ratio: float) -> bool:
    """Whether all recent readings, and enough of them, show most of the stream undelivered."""
    return len(recent.values) >= SUSTAINED and all(
        sample.lag is not None and sample.lag > ratio * sample.stream.length for sample in recent.values
    )


RULES: Final = (
    Rule(
        no_consumers,
        alert="StreamopsConsumerGroupNotReading",
        judged=RuleScope.WAITING,
        needs=frozenset({Need.WAITING}),
        means="Entries wait for a group that has no consumer at all: they will not be read.",
        cause=(
            "The workers were never started, or all of their consumers were removed; or the service "
            "was retired: its group is unused and blocks trims."
        ),
        look=(
            "whether the group's service should be running; the group's name usually says which service that is",
            "ADDED: how fast the backlog grows while nothing is read",
        ),
        fixes=(
            Remedy("", "Start the workers: XREADGROUP creates their consumers."),
            Remedy("groups.destroy", "The group is no longer needed; its pending entries are lost with it."),
        ),
    ),
    Rule(
        stalled,
        alert="StreamopsConsumerGroupNotAcking",
        judged=RuleScope.PENDING,
        needs=frozenset({Need.PAST, Need.CONSUMERS}),
        means="Consumers hold pending entries, and acknowledge none.",
        cause=(
            "A handler hangs (a lock, a database, a call without a timeout); or it never calls XACK; "
            "or one entry blocks a consumer that works in order."
        ),
        look=(
            "the pending entries (l): one owner or all, the same idle time or spread",
            "the logs of the consumer that holds the oldest entry",
            "DELIVERED and ACKED: are entries still being delivered",
        ),
        fixes=(
            Remedy("", "Restart the hanging worker: its entries stay pending and are claimed."),
            Remedy("claim", "Claim its entries for a consumer that works."),
            Remedy("ack", "The entry was processed, and only XACK is missing."),
        ),
    ),
    Rule(
        stopped,
        alert="StreamopsConsumerGroupNotReading",
        judged=RuleScope.WAITING,
        needs=frozenset({Need.WAITING}),
        explained_by=(no_consumers, stalled),
        means="Entries wait, and none has been delivered for too long: the consumers do not read.",
        cause=(
            "The workers are down, while the server still lists their consumers; or they cannot reach "
            "the server, block on something else, or read another stream or group."
        ),
        look=(
            "IDLE and INACTIVE of the consumers (Enter): when they last polled, and when they last got an entry",
            "whether worker processes run at all (:workers)",
            "the server's CLIENT LIST: blocked readers show as xreadgroup",
        ),
        fixes=(
            Remedy("", "Start the workers, or fix their connection to the server."),
            Remedy("claim", "Claim a dead consumer's entries for a live one."),
        ),
    ),
    Rule(
        lag_growing,
        alert="StreamopsConsumerGroupBehind",
        judged=RuleScope.WAITING,
        needs=frozenset({Need.PAST, Need.LAG}),
        explained_by=(no_consumers, stalled, stopped),
        means="Entries are added faster than they are delivered to the group: it falls behind.",
        cause="More entries are added, processing became slower, or workers are down.",
        look=(
            "ADDED and ACKED: the difference is the missing capacity",
            "LAG AGE: how late it is already",
            "PENDING and the number of consumers: are all of them busy",
        ),
        fixes=(
            Remedy("", "Run more workers, or process entries faster."),
            Remedy("trim", "Last resort, if old entries are worthless: undelivered entries are lost."),
        ),
    ),
    Rule(
        rewound,
        alert="StreamopsGroupRewound",
        judged=RuleScope.PAST,
        means="The group's position moved back, so entries are delivered to it again.",
        cause=(
            "An operator or a client set it (XGROUP SETID), or destroyed and recreated the group; a restore from an old backup, or a "
            "failover to a replica that was behind, does the same."
        ),
        look=(
            "the audit log (7): whether streamops did it, by which user and why",
            "whether the handlers can see entries twice",
        ),
        fixes=(
            Remedy("undo", "It was done with streamops by mistake: undo it in the audit log (7, z)."),
            Remedy("groups.rewind", "Set the position forward again; the plan says what is skipped."),
        ),
    ),
    Rule(
        lost,
        alert="StreamopsEntriesLost",
        judged=RuleScope.PAST,
        means="Entries were trimmed before they were delivered to the group. They are lost.",
        cause="The stream is trimmed (MAXLEN, MINID, XTRIM), and the group was further behind than the stream is long.",
        look=(
            "LENGTH and LAG: how much of the stream is undelivered",
            "who trims: XADD with MAXLEN in the producers, a cron job, a policy",
        ),
        fixes=(
            Remedy("", "Raise MAXLEN in the producers, or make the group faster."),
            Remedy("trim", "Trim with streamops instead: it keeps what any group still needs."),
        ),
    ),
    Rule(
        retention_edge,
        alert="StreamopsEntriesAboutToBeTrimmed",
        judged=RuleScope.PAST,
        needs=frozenset({Need.LAG}),
        explained_by=(lost,),
        means="The stream is trimmed while most of it is undelivered to the group: the group is about to lose entries.",
        cause="The group is slow or stopped, and retention is shorter than its backlog.",
        look=(
            "LAG against LENGTH",
            "ADDED: how soon the oldest undelivered entry is trimmed",
        ),
        fixes=(
            Remedy("", "Raise the producers' MAXLEN now; then make the group faster."),
            Remedy("trim", "Trim with streamops instead: it keeps what any group still needs."),
        ),
    ),
    Rule(
        behind,
        alert="StreamopsConsumerGroupBehind",
        judged=RuleScope.WAITING,
        needs=frozenset({Need.AGE}),
        explained_by=(no_consumers, stalled, stopped, lag_growing),
        means="The group's next undelivered entry is too old, though entries are delivered and the lag does not grow.",
        cause=(
            "The group is catching up after a burst or downtime; or it was created at the start of "
            "an old stream and reads history."
        ),
        look=(
            "TREND and DELIVERED: how long catching up will take",
            "LAG AGE: whether it falls from minute to minute",
        ),
        fixes=(
            Remedy("", "Wait, or run more workers until it has caught up."),
            Remedy(
                "groups.rewind",
                "If old entries do not matter: set the position to the end ($); the plan says what is skipped.",
            ),
        ),
    ),
)
