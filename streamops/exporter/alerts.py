"""Which findings fire a notice, which are resolved, and what a notice says. Pure; the time passed is an argument.

A condition that holds for ``fire_after`` fires, once more if it becomes critical later, and again after each
``repeat_after``. It is resolved when it has been gone for ``resolve_after``. A look that cannot tell whether a condition
holds changes nothing about it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.observation import Finding, FindingCode, GroupView, Health, Observation
from streamops.model.streams import NO_SUCH_STREAM
from streamops.model.wording import command, quoted, span
from streamops.monitor.observe import findings_of_owners, without_repeats
from streamops.monitor.rules import EXPLAINED_BY, RULES, Need, Rule
from streamops.resources.text import safe, shorten

REDIS_DOWN: Final = "redis_down"
COLLECTION_FAILING: Final = "collection_failing"
SETTLING: Final = timedelta(minutes=10)
"""A history younger than this, as after a new connection, does not show yet that a condition has passed."""
LISTED: Final = 10
"""Notices of a message that are written out in full; further ones are counted."""

_WIDTH: Final = 500
_TITLE_WIDTH: Final = 200
_NAME_WIDTH: Final = 120
_RULE_OF: Final[dict[str, Rule]] = {rule.code.value: rule for rule in RULES}


class AlertSource(Struct, frozen=True, order=True, gc=False):
    """What a condition is about.

    Attributes:
        code: A finding's code, ``redis_down`` or ``collection_failing``.
        stream: The stream; empty for the server.
        group: The group; empty for the stream itself, and for the server.
    """

    code: str
    stream: str = ""
    group: str = ""


class Condition(Struct, frozen=True, gc=False):
    """Something that is not as it should be.

    Attributes:
        subject: What, and where.
        level: How bad it is.
        text: One sentence with the numbers.
        advice: The fix.
    """

    subject: AlertSource
    level: Health
    text: str
    advice: str


class Evaluation(Struct, frozen=True):
    """What one look at the server showed.

    Attributes:
        found: The conditions that hold.
        unknown: Whether a condition that was not found may hold all the same.
    """

    found: dict[AlertSource, Condition]
    unknown: Callable[[AlertSource], bool]


class Notice(Struct, frozen=True, gc=False):
    """One thing to say.

    Attributes:
        condition: The condition, as it was found last.
        peak: The worst level that was said of it since it fired.
        lasted: Since it was found first.
        resolved: Whether it is over.
    """

    condition: Condition
    peak: Health
    lasted: timedelta
    resolved: bool = False


class Origin(Struct, frozen=True):
    """Which server notices are about.

    Attributes:
        label: The server in words, without secrets.
        selector: Options of a command line that choose it.
    """

    label: str
    selector: tuple[str, ...] = ()


class Notification(Struct, frozen=True):
    """What is sent.

    Attributes:
        title: One line.
        body: Plain text, lines apart by LF.
        level: How bad the worst of it is; ``OK`` if all of it is resolved.
    """

    title: str
    body: str
    level: Health


def evaluation_of(observation: Observation) -> Evaluation:
    """What an observation shows: findings about groups, streams and the server, and what its gaps leave unknown."""
    placed: list[tuple[str, str, tuple[Finding, ...]]] = [
        (one.stream or "", "", (one,)) for one in observation.findings
    ]
    owners = findings_of_owners(observation.streams)
    for view in observation.streams:
        placed.append((view.stream.name, "", view.findings))
        placed += [(view.stream.name, one.group.name, without_repeats(one, owners)) for one in view.groups]
    found: dict[AlertSource, Condition] = {}
    for stream, group, findings in placed:
        for finding in findings:
            subject = AlertSource(finding.code, stream, group)
            # Of several processes of a cluster that suffer from the same, the worst.
            if subject not in found or finding.level > found[subject].level:
                found[subject] = Condition(subject, finding.level, finding.text, finding.advice)
    return Evaluation(found, _unknown_in(observation))


def evaluate_failing(reason: str, *, down: bool) -> Evaluation:
    """What is known while nothing can be collected: that alone.

    Args:
        reason: Why, in words.
        down: Whether Redis does not answer at all.
    """
    code = REDIS_DOWN if down else COLLECTION_FAILING
    text = f"Redis {'does not answer' if down else 'cannot be read'}: {reason}"
    advice = "Nothing else is known until it answers. Check that it runs, the network, the user's permissions and the load"
    condition = Condition(AlertSource(code), Health.CRITICAL, text, advice)
    return Evaluation({condition.subject: condition}, lambda _: True)


def _unknown_in(observation: Observation) -> Callable[[AlertSource], bool]:
    """Whether a condition that an observation does not show may hold all the same."""
    snapshot = observation.snapshot
    gaps = {
        (gap.stream or "", gap.group or "", gap.part) for gap in snapshot.gaps if gap.reason != NO_SUCH_STREAM
    }
    streams = {view.stream.name for view in observation.streams}
    groups = {
        (view.stream, view.group.name): view for stream in observation.streams for view in stream.groups
    }
    young = snapshot.collected_at - observation.observed_since < SETTLING
    of_server = {part for stream, _, part in gaps if not stream} - {"server clock"}
    hidden = (
        not snapshot.discovery_complete
        or snapshot.discovered > len(snapshot.streams)
        or bool(of_server - {"server information"})
    )
    memory = bool(of_server) or any(
        node.used_memory is None or node.max_memory is None for node in snapshot.server.nodes
    )

    def unknown(subject: AlertSource) -> bool:
        stream, group = subject.stream, subject.group
        rule = _RULE_OF.get(subject.code)
        if rule is None:
            return False
        if not stream:
            return memory and Need.MEMORY in rule.needs
        if stream not in streams:
            return hidden or (stream, "", "") in gaps
        if not group:
            return Need.DELAYED in rule.needs and (stream, "", Need.DELAYED) in gaps
        if (stream, group, "") in gaps:
            return True
        view = groups.get((stream, group))
        parts = {part for *where, part in gaps if where == [stream, group]}
        return view is not None and _may_hold(rule, view, parts, young=young)

    return unknown


def _may_hold(rule: Rule, view: GroupView, parts: Collection[str], *, young: bool) -> bool:
    """Whether a rule that is not seen to find anything about a group may hold; some parts of it could not be read."""
    if rule.code is FindingCode.NO_CONSUMERS and view.group.consumers:
        return False
    found = {finding.code for finding in view.findings}
    # It was found, and left out because the group of this retry stream has an alert already; or another one explains it.
    if rule.code in found or EXPLAINED_BY[rule.code] & found:
        return True
    return any(_lacks(need, view, parts, young=young) for need in rule.needs)


def _lacks(need: Need, view: GroupView, parts: Collection[str], *, young: bool) -> bool:
    group = view.group
    match need:
        case Need.PAST:
            return young
        case Need.LAG:
            return group.lag.entries is None
        case Need.WAITING:
            return group.lag.entries is None and not group.lag.waits
        case Need.AGE:
            return group.lag.entries is None and group.time_lag.age is None
    return bool(group.pending) and need in parts


class _Alert:
    """A condition from when it was found until it is resolved."""

    def __init__(self, condition: Condition, since: timedelta) -> None:
        self.condition = condition
        self.since = since
        self.gone_at: timedelta | None = None
        self.peak = Health.OK
        """The worst level that fired; ``OK`` before it has."""
        self.fired_at = since


class AlertEvaluator:
    """Remembers which conditions hold.

    Args:
        level: Conditions below it are left out.
        fire_after: How long a condition must hold before it fires.
        resolve_after: How long it must be gone before it is resolved.
        repeat_after: How long after it fired it fires again; zero for never.
    """

    def __init__(
        self,
        level: Health,
        fire_after: timedelta,
        resolve_after: timedelta,
        repeat_after: timedelta = timedelta(0),
    ) -> None:
        self._level = level
        self._fire_after = fire_after
        self._resolve_after = resolve_after
        self._repeat_after = repeat_after
        self._alerts: dict[AlertSource, _Alert] = {}

    def evaluate(self, look: Evaluation, at: timedelta) -> list[Notice]:
        """What fires and what is resolved with this look, the worst first.

        Args:
            look: What it showed.
            at: Now, on a clock that never goes back.
        """
        found = {one.subject: one for one in look.found.values() if one.level >= self._level}
        for subject in found.keys() - self._alerts.keys():
            self._alerts[subject] = _Alert(found[subject], at)
        notices = []
        for subject, alert in list(self._alerts.items()):
            condition = found.get(subject)
            if condition is not None:
                alert.condition, alert.gone_at = condition, None
                if at - alert.since >= self._fire_after and self._is_news(alert, at):
                    alert.peak, alert.fired_at = max(alert.peak, condition.level), at
                    notices.append(Notice(condition, alert.peak, at - alert.since))
            elif not look.unknown(subject) and self._is_over(alert, at):
                del self._alerts[subject]
                if alert.peak:
                    notices.append(Notice(alert.condition, alert.peak, at - alert.since, resolved=True))
        return sorted(notices, key=_rank)

    def _is_news(self, alert: _Alert, at: timedelta) -> bool:
        is_due = bool(self._repeat_after) and at - alert.fired_at >= self._repeat_after
        return alert.condition.level > alert.peak or is_due

    def _is_over(self, alert: _Alert, at: timedelta) -> bool:
        if alert.gone_at is None:
            alert.gone_at = at
        return not alert.peak or at - alert.gone_at >= self._resolve_after


def _rank(notice: Notice) -> tuple[bool, int, AlertSource]:
    return notice.resolved, -notice.condition.level, notice.condition.subject


def render_message(notices: Iterable[Notice], origin: Origin) -> Notification:
    """The message of some notices, at least one."""
    ranked = sorted(notices, key=_rank)
    firing = [notice for notice in ranked if not notice.resolved]
    counts = {"FIRING": len(firing), "RESOLVED": len(ranked) - len(firing)}
    stated = ", ".join(f"{state}:{number}" for state, number in counts.items() if number)
    title = f"[{stated}] streamops {safe(origin.label)}"
    if len(ranked) == 1:
        title += f": {_name(ranked[0].condition.subject)}"
    lines = [f"Server: {safe(origin.label)}"]
    for notice in ranked[:LISTED]:
        lines += ["", *_lines(notice, origin)]
    if (more := len(ranked) - LISTED) > 0:
        lines += [
            "",
            f"... and {more:,} more. Look: {_line(_look_command(AlertSource(''), origin.selector))}",
        ]
    level = max((notice.condition.level for notice in firing), default=Health.OK)
    return Notification(shorten(title, _TITLE_WIDTH), "\n".join(lines) + "\n", level)


def _look_command(subject: AlertSource, selector: Sequence[str]) -> str:
    verb = "groups show" if subject.group else "streams show" if subject.stream else "status"
    names = [name for name in (subject.stream, subject.group) if name]
    return command(verb, *names, options=" ".join(map(quoted, selector)))


def _name(subject: AlertSource) -> str:
    where = "/".join(shorten(safe(name), _NAME_WIDTH) for name in (subject.stream, subject.group) if name)
    return f"{subject.code} {where}".rstrip()


def _lines(notice: Notice, origin: Origin) -> Iterator[str]:
    condition = notice.condition
    state = "RESOLVED" if notice.resolved else condition.level.word.upper()
    lasted = f"{'after' if notice.resolved else 'for'} {span(notice.lasted)}"
    yield f"{state} {_name(condition.subject)}, {lasted}"
    if not notice.resolved:
        yield f"  {_line(condition.text)}"
        yield f"  {_line(condition.advice)}"
        yield f"  Look: {_line(_look_command(condition.subject, origin.selector))}"


def _line(text: str) -> str:
    return shorten(safe(text), _WIDTH)
