"""The Prometheus alerts, and how they become the YAML that Prometheus reads. Pure.

``streamops_finding`` carries what the health rules of ``streamops.monitor.rules`` decided, so an alert on one of them repeats no
threshold: what ``[health]`` says holds here too. The other alerts are about what those rules cannot see: the exporter, workers' own
metrics, controllers, and a Redis that does not answer.

Unknown values are absent, and absent series raise nothing, but for ``StreamopsExporterDown`` and ``StreamopsMetricsIncomplete``, which
say that something is absent.
"""

from typing import Final

import yaml
from msgspec import Struct

from dashboards.runbooks import advice
from streamops.monitor.rules import RULES, Rule, RuleScope

RULES_FILE: Final = "streamops.rules.yml"
COMPONENT: Final = "streamops"
"""The label ``component`` of every alert."""
WIDTH: Final = 1_000_000
"""No line is folded: a text stands on one line, however long, so that a search finds it."""

CRITICAL: Final = "critical"
WARNING: Final = "warning"
INFO: Final = "info"

PREAMBLE: Final = """\
Written by `python -m dashboards`; do not edit.

Scrape exporters as job `streamops`, workers' own metrics as `streamops-workers`, every minute or more often.
Two exporters on one Redis raise every alert twice: group notifications by alertname, db, stream and group.
An alert on a finding goes on for 6 minutes after it was last found; its text and its numbers are those of then.
"""
UNLINKED: Final = """\
The annotation `fix` is what RUNBOOKS.md says to do. Where you serve that file at an address, have a checkout print the
rules with a `runbook_url` for each alert too: `python -m dashboards --runbooks https://HOST/RUNBOOKS.md`.
"""


class Alert(Struct, frozen=True, kw_only=True):
    """An alerting rule.

    Attributes:
        name: Its name; several alerts with one name say that the same is wrong, each by a sign of its own.
        code: The sign, which is the label ``code``; empty where the name says it all.
        expr: What must hold.
        summary: One line: what is wrong with what.
        description: One or two sentences with the numbers.
        severity: ``critical``, get up; ``warning``, today; ``info``, when there is time. Empty where its series say it.
        lasting: For how long it must hold before it fires, as Prometheus writes it.
        kept: For how long it goes on firing after that, as Prometheus writes it; empty for not at all.
    """

    name: str
    expr: str
    summary: str
    description: str
    severity: str
    lasting: str
    kept: str = ""
    code: str = ""

    @property
    def runbook(self) -> str:
        """The heading of its runbook."""
        return self.code or self.name


# ----- what the health rules found

FINDING_LASTS: Final = "1m"
"""The rules have spans of their own: this is for readings that come right again at once."""
FINDING_KEPT: Final = "6m"
"""Longer than any rule takes to find again, from a history that begins anew, what it had found before the exporter's restart."""

FLAPPING_KEPT: Final = "10m"
"""What hovers around a threshold is one alert."""

SERVER: Final = "The Redis of {{ $labels.instance }}"
STREAM: Final = "Stream {{ $labels.stream }}"
GROUP: Final = "Group {{ $labels.group }} of stream {{ $labels.stream }}"
SUBJECTS: Final = {
    RuleScope.WAITING: GROUP,
    RuleScope.PENDING: GROUP,
    RuleScope.PAST: GROUP,
    RuleScope.STREAM: STREAM,
    RuleScope.QUEUE: "The delayed messages of {{ or $labels.stream $labels.instance }}",
    RuleScope.NODE: SERVER,
    RuleScope.SERVER: SERVER,
}


OF_SERVER: Final = ("job", "instance", "db")
OF_STREAM: Final = (*OF_SERVER, "stream")
OF_GROUP: Final = (*OF_STREAM, "group")
COUNT: Final = '{{ . | first | value | printf "%.0f" }}'
SPAN: Final = "{{ . | first | value | humanizeDuration }}"


def _where_there_is(expr: str, words: str, labels: tuple[str, ...]) -> str:
    """Words about what an expression answers, if it does; names may have quotes in them.

    Args:
        expr: It, with ``OF`` in place of the matchers that pick the alert's own subject.
        words: The words, which begin as the sentence goes on, with a template of the answer in them.
        labels: The labels that say what the alert is about.
    """
    matchers = ",".join(f"{label}=%[{at}]q" for at, label in enumerate(labels, start=1))
    values = " ".join(f"$labels.{label}" for label in labels)
    return f'{{{{ with query (printf "{expr.replace("OF", matchers)}" {values}) }}}}{words}{{{{ end }}}}'


LAG_AND_PENDING: Final = _where_there_is(
    "streamops_group_lag_entries{OF}", f"; lag {COUNT}", OF_GROUP
) + _where_there_is("streamops_group_pending_entries{OF}", f"; pending {COUNT}", OF_GROUP)
LAG_AGE: Final = _where_there_is(
    "streamops_group_time_lag_seconds{OF} > 0", f"; the next entry had waited for {SPAN}", OF_GROUP
)
OLDEST_PENDING: Final = _where_there_is(
    "time() - streamops_group_oldest_pending_delivered_timestamp_seconds{OF}",
    f"; the oldest pending entry was last delivered {SPAN} before",
    OF_GROUP,
)
UNSEEN: Final = _where_there_is(
    "topk(1, time() - streamops_consumer_last_seen_timestamp_seconds{OF} and streamops_consumer_pending_entries{OF} > 0)",
    f'; of the consumers that hold entries, {{{{ . | first | label "consumer" }}}} was unseen for longest, {SPAN}',
    OF_GROUP,
)
NUMBERS: Final = {
    RuleScope.WAITING: LAG_AND_PENDING + LAG_AGE,
    RuleScope.PENDING: LAG_AND_PENDING + OLDEST_PENDING + UNSEEN,
    RuleScope.PAST: LAG_AND_PENDING + LAG_AGE,
    RuleScope.STREAM: _where_there_is("streamops_dlq_entries{OF}", f"; dead letters {COUNT}", OF_STREAM),
}


def _finding(rule: Rule) -> Alert:
    subject, code = SUBJECTS[rule.judged], rule.code.value
    return Alert(
        name=rule.alert,
        code=code,
        expr=f'streamops_finding{{code="{code}"}}',
        summary=f"{subject}: {code.replace('_', ' ')}",
        # What is kept firing keeps the text of the last finding, so that its numbers are shown as those of then.
        description=f"{rule.means} Last found by {{{{ $labels.instance }}}}, database {{{{ $labels.db }}}}"
        f"{NUMBERS.get(rule.judged, '')}.",
        severity="",
        lasting=FINDING_LASTS,
        kept=FINDING_KEPT,
    )


# ----- the exporter: without it, all others are silent

EXPORTER: Final = "on (job, instance)"
SEEN_BY: Final = " Seen by the exporter {{ $labels.instance }}"
JOBS: Final = "streamops(-exporter|-probe)?"
"""The names that jobs of exporters have. That of workers has another, as workers come and go."""

EXPORTER_ALERTS: Final = (
    Alert(
        name="StreamopsRedisDown",
        expr="streamops_up == 0",
        lasting="1m",
        severity=CRITICAL,
        summary="Redis does not answer the exporter {{ $labels.instance }}",
        description="For 1 minute the exporter {{ $labels.instance }} could not read Redis. "
        "All other alerts about this Redis are silent until then.",
    ),
    Alert(
        name="StreamopsExporterDown",
        expr=f'up{{job=~"{JOBS}"}} == 0 or absent(up{{job=~"{JOBS}"}})',
        lasting="2m",
        severity=CRITICAL,
        summary="{{ with $labels.instance }}The exporter {{ . }} cannot be scraped{{ else }}"
        "Prometheus scrapes no exporter of streamops{{ end }}",
        description="For 2 minutes Prometheus got no metrics from "
        "{{ with $labels.instance }}the exporter {{ . }}{{ else }}any exporter of streamops{{ end }}. "
        "All other alerts about its Redis are silent until then.",
    ),
    # Prometheus exports the real timeout only with its feature extra-scrape-metrics; else its default, 10 s, counts.
    Alert(
        name="StreamopsScrapeSlow",
        expr=f"""
(sum without (phase) (streamops_scrape_duration_seconds) > {EXPORTER} group_left () 0.5 * scrape_timeout_seconds)
or
(sum without (phase) (streamops_scrape_duration_seconds) > 5 unless {EXPORTER} scrape_timeout_seconds)
""",
        lasting="10m",
        kept=FLAPPING_KEPT,
        severity=WARNING,
        summary="Reading Redis takes the exporter {{ $labels.instance }} long",
        description="Reading Redis takes the exporter {{ $labels.instance }} {{ $value | humanizeDuration }}, more than half "
        "of what Prometheus waits. Beyond that, a scrape says that Redis is down.",
    ),
    # By Prometheus's clock against Redis's: one that is wrong shows here.
    Alert(
        name="StreamopsClockSkew",
        expr=f"""
time() - streamops_snapshot_timestamp_seconds > 120
unless {EXPORTER} streamops_up == 0
""",
        lasting="2m",
        severity=WARNING,
        summary="The clocks of Prometheus and of the Redis of {{ $labels.instance }} differ",
        description="By the clock of Prometheus, what the exporter {{ $labels.instance }} reads of Redis is {{ $value | humanizeDuration }} old. "
        "It reads Redis for each scrape, so the clocks differ by as much.",
    ),
    # What cannot be read is absent, and raises nothing else. All of it, all the time, is StreamopsRedisDown.
    Alert(
        name="StreamopsMetricsIncomplete",
        code="collect_errors",
        expr=f"""
increase(streamops_collect_errors_total[10m]) > 0
unless {EXPORTER} max_over_time(streamops_up[10m]) == 0
or
streamops_scrape_partial_failures > 0
""",
        lasting="15m",
        severity=WARNING,
        summary="The exporter {{ $labels.instance }} cannot read everything",
        description="The exporter {{ $labels.instance }} "
        '{{ if $labels.part }}finds {{ $value | printf "%.0f" }} gaps in what it reads: {{ $labels.part }}{{ else }}'
        'met about {{ $value | printf "%.0f" }} errors at the stage {{ $labels.stage }} '
        "within 10 minutes{{ end }}. Alerts on what could not be read are silent.",
    ),
    # What a pattern, a granularity or a long absence leaves out is meant to be left out.
    Alert(
        name="StreamopsMetricsIncomplete",
        code="series_limit",
        expr='streamops_series_omitted{reason=~"max_.+|same_name"} > 0',
        lasting="15m",
        severity=INFO,
        summary="The exporter {{ $labels.instance }} leaves something out",
        description='Left out by the exporter {{ $labels.instance }}: {{ $value | printf "%.0f" }} of scope '
        "{{ $labels.scope }}, because of {{ $labels.reason }}. Alerts on these are silent.",
    ),
)

# ----- streams and groups, beyond the health rules

STREAM_ALERTS: Final = (
    # Groups of dead-letter queues are not judged: such a group reads when a person wants it to.
    Alert(
        name="StreamopsMetricsIncomplete",
        code="lag_unknown",
        expr="streamops_group_lag_known == 0\nunless on (job, instance, db, stream) streamops_dlq_entries",
        lasting="30m",
        severity=INFO,
        summary=f"{GROUP}: lag unknown",
        description="For 30 minutes it was not known how many entries wait for "
        "group {{ $labels.group }} of stream {{ $labels.stream }}. Alerts on its lag are silent."
        + _where_there_is("streamops_group_lag_upper_bound_entries{OF}", f" At most: {COUNT}.", OF_GROUP)
        + f"{SEEN_BY}, database {{{{ $labels.db }}}}.",
    ),
    # Trimming by whole nodes leaves a hundred entries more.
    Alert(
        name="StreamopsStreamOverLimit",
        expr="streamops_stream_length > 1.2 * streamops_stream_max_length + 100",
        lasting="1h",
        severity=WARNING,
        summary=f"{STREAM} is longer than its retention policy says",
        description=f'{STREAM} in database {{{{ $labels.db }}}} has {{{{ $value | printf "%.0f" }}}} entries, and for '
        f"1 hour had over 1.2 times as many as its retention policy says.{SEEN_BY}.",
    ),
)

# ----- workers, and the controllers of their pools

POOL: Final = "pool {{ $labels.pool }}"
DECISIONS: Final = "streamops_autoscaler_decisions_total"
FAILURES: Final = "streamops_handler_failures_total"
CALLS: Final = "streamops_handler_duration_seconds_count"


def _mostly(reasons: str, span: str) -> str:
    """More than half of the decisions of the span were for one of the reasons."""
    return f"""
sum without (direction, reason) (increase({DECISIONS}{{reason=~"{reasons}"}}[{span}]))
>
0.5 * sum without (direction, reason) (increase({DECISIONS}[{span}]))
"""


WORKER_ALERTS: Final = (
    # Of all workers of a job together: which of them met the failures says little. One failure in a quiet hour is a large share of
    # little.
    Alert(
        name="StreamopsHandlerFailures",
        expr=f"""
sum without (instance, pod) (rate({FAILURES}[10m]))
/
sum without (instance, pod) (rate({CALLS}[10m]))
> 0.05
and
sum without (instance, pod) (increase({FAILURES}[10m])) > 5
""",
        lasting="10m",
        kept=FLAPPING_KEPT,
        severity=WARNING,
        summary=f"Handler {{{{ $labels.handler }}}} of {GROUP[0].lower()}{GROUP[1:]} fails",
        description="{{ $value | humanizePercentage }} of the calls of handler {{ $labels.handler }} "
        "failed within 10 minutes.",
    ),
    Alert(
        name="StreamopsPoolNotScaling",
        code="paused",
        expr="streamops_pool_paused == 1",
        lasting="1h",
        severity=INFO,
        summary="Pool {{ $labels.pool }} is paused",
        description=f"The workers of {POOL} have been paused for 1 hour or more.{SEEN_BY}.",
    ),
    # By Redis's own clock, and only while the exporter reads it.
    Alert(
        name="StreamopsPoolNotScaling",
        code="no_leader",
        expr="streamops_snapshot_timestamp_seconds"
        " - ignoring (pool) group_right () streamops_autoscaler_last_evaluation_timestamp_seconds > 120",
        lasting="3m",
        severity=WARNING,
        summary=f"No controller decides about {POOL}",
        description=f"The last decision about {POOL} is {{{{ $value | humanizeDuration }}}} old: no controller leads "
        f"it. Its worker count stays as it is, whatever the lag.{SEEN_BY}.",
    ),
    Alert(
        name="StreamopsPoolNotScaling",
        code="no_signal",
        expr=_mostly("unreadable|lag_unknown", "5m"),
        lasting="10m",
        kept=FLAPPING_KEPT,
        severity=WARNING,
        summary=f"The controller of {POOL} has no inputs",
        description=f"For 10 minutes, most decisions about {POOL} have been to change nothing, because "
        f"its stream, its group's lag or its target could not be read.{SEEN_BY}.",
    ),
    # One failure passes by itself: the controller tries again.
    Alert(
        name="StreamopsPoolNotScaling",
        code="target_failing",
        expr="increase(streamops_autoscaler_apply_errors_total[15m]) > 1.5",
        lasting="5m",
        kept=FLAPPING_KEPT,
        severity=WARNING,
        summary=f"The workers of {POOL} cannot be scaled",
        description='About {{ $value | printf "%.0f" }} times within 15 minutes, the target that runs the workers '
        f"of {POOL} failed or refused to set the worker count.{SEEN_BY}.",
    ),
    # Where the health rules page for the pool's group, they say the same: one group that is dead is one page.
    Alert(
        name="StreamopsConsumerGroupNotAcking",
        code="pool_stuck",
        expr=f"""
({_mostly("stuck", "2m")})
* on (job, instance, pool) group_left (stream, group) streamops_autoscaler_info
unless on (job, instance, stream, group) streamops_finding{{code=~"no_consumers|stopped|stalled", severity="critical"}}
""",
        lasting="5m",
        severity=CRITICAL,
        summary=f"The workers of {POOL} finish nothing",
        description=f"For 5 minutes the workers of {POOL}, {GROUP[0].lower()}{GROUP[1:]}, have held entries and acknowledged "
        f"none. More workers would not help, and none are started.{SEEN_BY}.",
    ),
    Alert(
        name="StreamopsPoolNotScaling",
        code="at_maximum",
        expr="""
streamops_autoscaler_predicted_wait_seconds > on (job, instance, pool) streamops_autoscaler_objective_seconds
and on (job, instance, pool) streamops_autoscaler_desired_replicas >= streamops_autoscaler_max_replicas
""",
        lasting="10m",
        kept=FLAPPING_KEPT,
        severity=WARNING,
        summary=f"All the workers that {POOL} may have are too few",
        description=f"{{{{ $value | humanizeDuration }}}} is how long entries are going to wait for {POOL}, which has all "
        f"the workers that it may have, for 10 minutes or more.{SEEN_BY}.",
    ),
)

ALERTS: Final = {
    "streamops-exporter": EXPORTER_ALERTS,
    "streamops-findings": tuple(_finding(rule) for rule in RULES),
    "streamops-streams": STREAM_ALERTS,
    "streamops-workers": WORKER_ALERTS,
}
"""All alerts, by the group of rules that they are in."""


def build_rules(runbooks: str = "") -> str:
    """The rules as Prometheus reads them.

    Args:
        runbooks: The absolute address of the runbooks, to which the anchor is added; empty where they have none, so that
            each alert says itself what to do.

    Raises:
        ValueError: The address is not absolute.
    """
    groups = [
        {"name": name, "rules": [_rule(alert, runbooks) for alert in alerts]}
        for name, alerts in ALERTS.items()
    ]
    preamble = PREAMBLE if runbooks else PREAMBLE + UNLINKED
    comment = "".join(f"# {line}".rstrip() + "\n" for line in preamble.splitlines())
    text: str = yaml.dump(
        {"groups": groups}, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True
    )
    return comment + text


def rule_files() -> dict[str, str]:
    """The file, by its path below this package's directory."""
    return {RULES_FILE: build_rules()}


def _rule(alert: Alert, runbooks: str) -> dict[str, object]:
    kept = {"keep_firing_for": alert.kept} if alert.kept else {}
    severity = {"severity": alert.severity} if alert.severity else {}
    code = {"code": alert.code} if alert.code else {}
    annotations = {
        "summary": alert.summary,
        "description": alert.description,
        **advice(alert.runbook, runbooks),
    }
    return {
        "alert": alert.name,
        "expr": alert.expr.strip() + "\n" if "\n" in alert.expr.strip() else alert.expr,
        "for": alert.lasting,
        **kept,
        "labels": {"component": COMPONENT, **code, **severity},
        "annotations": annotations,
    }


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their keys, as Prometheus's own examples do, and texts of several lines as such."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002 - PyYAML's signature
        """Indent a level, whether or not PyYAML thinks that a list needs it."""
        del indentless
        super().increase_indent(flow, indentless=False)


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)
