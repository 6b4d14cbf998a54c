"""Rules 1 to 4: whether what waits gets delivered and acknowledged."""

from datetime import timedelta

from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import ConsumerGroup
from streamops.model.wording import command, counted, span
from streamops.monitor.rates import lag_growth
from streamops.monitor.rules.subject import (
    NO_TIME,
    GroupSubject,
    holders_seen_ago,
    poison_entry,
    suspects,
    undelivered_for,
    waited,
)
from streamops.monitor.thresholds import Thresholds


def no_consumers(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 1: entries wait for a group that has no consumers; critical once it would count as stopped."""
    if subject.group.consumers:
        return None
    wait = waited(subject)
    if wait is None or wait < thresholds.no_consumers_after:
        return None
    return Finding(
        FindingCode.NO_CONSUMERS,
        Health.CRITICAL if wait >= thresholds.stopped_after else Health.WARN,
        f"{_waiting(subject)}, the first for {span(wait)}, and the group has no consumers",
        "Start a consumer, or remove the group (XGROUP DESTROY) if nobody needs it",
    )


def stalled(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 2: entries are pending and nothing is acknowledged.

    Critical where more entries wait behind consumers that are seen. Where none is seen, rule 3 says so if entries
    wait, and rule 5 once one is suspected; a poison entry with nothing waiting behind it is rule 6's.
    """
    group, history = subject.group, subject.history
    if not group.pending:
        return None
    unacked = subject.now - history.unacked_since
    if unacked < thresholds.stalled_after:
        return None
    seen = _seen_ago(subject)
    unseen = seen >= thresholds.stalled_after
    if unseen and (subject.has_waiting or suspects(subject, thresholds)):
        return None
    if not subject.has_waiting and poison_entry(subject, thresholds) is not None:
        return None
    listing = command("pending ls", subject.stream.name, group.name)
    return Finding(
        FindingCode.STALLED,
        Health.CRITICAL if subject.has_waiting else Health.WARN,
        f"{counted(group.pending, 'entry is', 'entries are')} pending and none was acknowledged for "
        f"{span(unacked)}, {_unseen(subject, seen) if unseen else f'though a consumer that holds some was seen {span(seen)} ago'}",
        f"Look for a handler that hangs, or that never reaches XACK: {listing}",
    )


def _unseen(subject: GroupSubject, seen: timedelta) -> str:
    if subject.members is None:
        return "and whether its consumers live is not known"
    if subject.sees_asking:
        return f"and no consumer that holds some was seen for {span(seen)}"
    return (
        f"and no consumer that holds some was given an entry for {span(seen)}: this server does not tell whether "
        "they wait, work or are dead"
    )


def stopped(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 3: entries wait and none is delivered.

    Where entries are pending, consumers may just be busy with them. Then it takes either that nothing
    was acknowledged meanwhile, or that no consumer got anything for as long as makes it a suspect.
    """
    wait = waited(subject)
    if wait is None or wait < thresholds.stopped_after or not subject.group.consumers:
        return None
    idle = min(wait, undelivered_for(subject))
    if idle < thresholds.stopped_after or idle < _patience(subject, thresholds):
        return None
    listing = command("consumers ls", subject.stream.name, subject.group.name)
    return Finding(
        FindingCode.STOPPED,
        Health.CRITICAL,
        f"{_waiting(subject)} and none was delivered for {span(idle)}",
        f"Check that its consumers run and read: {listing}",
    )


def lag_growing(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 4: the lag matters, has grown over the span, grew steadily and still grows."""
    slope, lag = subject.rates.lag_per_second, subject.history.lag
    if lag is None or slope is None or slope <= 0 or not lag_matters(lag, subject.group, thresholds):
        return None
    age = subject.group.time_lag.age or NO_TIME
    growth = lag_growth(subject.history.trend, thresholds.lag_growing_for)
    if growth is None or not growth.steady or lag < growth.began * thresholds.lag_growing_ratio:
        return None
    listing = command("consumers ls", subject.stream.name, subject.group.name)
    return Finding(
        FindingCode.LAG_GROWING,
        Health.CRITICAL if age >= thresholds.time_lag_critical else Health.WARN,
        f"the lag grew from {growth.began:,} to {counted(lag, 'entry', 'entries')} in {span(growth.span)}, "
        f"now by {slope:,.1f}/s",
        f"Add consumers or make handling faster; who works now: {listing}",
    )


def lag_matters(lag: int | None, group: ConsumerGroup, thresholds: Thresholds) -> bool:
    """Whether a lag is worth a word if it grows: by its count, or by how long the first entry has waited."""
    return (lag or 0) >= thresholds.lag_growing_entries or (
        group.time_lag.age or NO_TIME
    ) >= thresholds.time_lag


def behind(subject: GroupSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 11: the first entry not delivered has waited for too long, however many wait behind it."""
    age = subject.group.time_lag.age
    if age is None or age < thresholds.time_lag or not subject.has_waiting:
        return None
    listing = command("consumers ls", subject.stream.name, subject.group.name)
    return Finding(
        FindingCode.BEHIND,
        Health.CRITICAL if age >= thresholds.time_lag_critical else Health.WARN,
        f"{_waiting(subject)}, the first for {span(age)}",
        f"Add consumers until it has caught up, if that is too long; who works now: {listing}",
    )


def _waiting(subject: GroupSubject) -> str:
    lag = subject.history.lag
    if lag is not None:
        return counted(lag, "entry waits", "entries wait")
    return "at least " + counted(subject.group.lag.lower or 0, "entry waits", "entries wait")


def _seen_ago(subject: GroupSubject) -> timedelta:
    """Time since a consumer that holds pending entries was last seen.

    By its idle time, or by a delivery to whichever. Where nothing was delivered since watching began,
    that is longer ago than the last acknowledgement can be, and nobody counts as seen by it.
    """
    by_position = subject.now - subject.history.position_since
    seen = holders_seen_ago(subject.members or ())
    return by_position if seen is None else min(by_position, seen)


def _patience(subject: GroupSubject, thresholds: Thresholds) -> timedelta:
    """How long consumers that hold pending entries may go without asking for more."""
    history = subject.history
    if not subject.group.pending or subject.now - history.unacked_since >= thresholds.stopped_after:
        return thresholds.stopped_after
    if history.unacked_since > history.began:
        # They were seen to acknowledge: they are at work.
        return timedelta.max
    return max(thresholds.stopped_after, thresholds.consumer_unseen)
