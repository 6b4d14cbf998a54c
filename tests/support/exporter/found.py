"""Observations with findings, invented for tests of notices."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from streamops.exporter.alerts import AlertSource, Condition, Evaluation
from streamops.model.observation import (
    Finding,
    FindingCode,
    GroupView,
    Health,
    Observation,
    Rates,
    StreamView,
)
from streamops.model.streams import ConsumerGroup, ReadError, ServerNode
from tests.support.invented import NOW, group, node, snapshot, stream

LONG_AGO = NOW - timedelta(days=1)


def finding(code: FindingCode, level: Health = Health.WARN, text: str = "some text") -> Finding:
    return Finding(code, level, text, "do something")


def group_view(
    *findings: Finding,
    group_: ConsumerGroup | None = None,
    stream_name: str = "orders",
) -> GroupView:
    health = max((one.level for one in findings), default=Health.OK)
    return GroupView(
        stream_name,
        group_ or group(),
        Rates(),
        (),
        None,
        findings,
        health,
    )


def stream_view(*views: GroupView, name: str = "orders", findings: Sequence[Finding] = ()) -> StreamView:
    state = stream(name, [view.group for view in views])
    return StreamView(state, None, tuple(findings), views, Health.OK)


def observation(
    *streams: StreamView,
    findings: Sequence[Finding] = (),
    gaps: Iterable[ReadError] = (),
    nodes: Sequence[ServerNode] = (node(),),
    since: datetime = LONG_AGO,
) -> Observation:
    taken = snapshot(*(view.stream for view in streams), gaps=gaps, nodes=nodes)
    return Observation(taken, since, streams, tuple(findings), Health.OK)


def condition(subject: AlertSource, level: Health = Health.WARN, text: str = "some text") -> Condition:
    return Condition(subject, level, text, "do something")


def look(found: Iterable[Condition] = (), unknown: Iterable[AlertSource] = ()) -> Evaluation:
    left_open = frozenset(unknown)
    return Evaluation({one.subject: one for one in found}, lambda subject: subject in left_open)
