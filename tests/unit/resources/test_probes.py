"""The answer of a probe in words."""

import json
from datetime import timedelta

from streamops.model.json_text import encode
from streamops.model.observation import Observation
from streamops.monitor.probes import ProbeLimits, assess_probe
from streamops.resources.probes import nagios_line, probe_document, probe_line
from tests.support.resources.observations import NOTHING, OBSERVATION
from tests.support.tables import table

WHOLE = Observation(
    OBSERVATION.snapshot,
    OBSERVATION.observed_since,
    OBSERVATION.streams,
    OBSERVATION.findings,
    OBSERVATION.health,
)
LAG = ProbeLimits(lag=1_000)
ALL = ProbeLimits(lag=1_000, time_lag=timedelta(minutes=1), pending_age=timedelta(hours=1), dead_letters=0)


@table(
    ("limits", "line"),
    [
        (
            LAG,
            "BREACHED: orders/billing lag 1,204 above 1,000; secret: no permission for this key; orders/mail lag 1 to 5,000, limit 1,000; 1 more",
        ),
        (
            ProbeLimits(time_lag=timedelta(minutes=5)),
            "NOT KNOWN: secret: no permission for this key; orders/audit lag age unknown, limit 5m",
        ),
        (
            ProbeLimits(pending_age=timedelta(minutes=5)),
            "BREACHED: orders/billing pending age 40m00s above 5m; orders/audit pending age at least 10m00s above 5m; secret: no permission for this key",
        ),
        (
            ProbeLimits(dead_letters=1),
            "BREACHED: orders:dlq dead letters 2 above 1; secret: no permission for this key",
        ),
    ],
)
def test_a_probe_is_told_in_one_line(limits: ProbeLimits, line: str) -> None:
    assert probe_line(assess_probe(WHOLE, limits), limits) == line


def test_nothing_at_all_is_not_known() -> None:
    assert probe_line(assess_probe(NOTHING, LAG), LAG) == "NOT KNOWN: server: no stream matches"


def test_nagios_gets_performance_data_with_unknowns_as_u() -> None:
    line = nagios_line(assess_probe(WHOLE, ALL), ALL)
    assert line.startswith("STREAMOPS CRITICAL - ")
    assert line.endswith(
        "| lag=9999;;1000;0 time_lag=U;;60;0 pending_age=U;;3600;0 dead_letters=2;;0;0 groups=3;;;0"
    )
    assert line.count("|") == 1


def test_the_document_tells_everything_that_was_judged() -> None:
    document = json.loads(encode(probe_document(assess_probe(WHOLE, ALL))))
    assert document["schema"] == "streamops.check/1"
    assert document["verdict"] == "breached"
    measures = {reading["measure"] for reading in document["readings"]}
    assert measures == {"reading", "lag", "time_lag_seconds", "pending_age_seconds", "dead_letters"}
