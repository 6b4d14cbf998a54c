"""Benchmarks on real servers: figures for everything, and no key left, however it ends."""

import pytest

from streamops.errors import SettingsError
from streamops.model.bench import BenchPlan, Figure
from streamops.runtime.bench.measuring import measure
from streamops.runtime.bench.place import new_tag
from tests.support.deployments import RunningCluster
from tests.support.runtime.bench.measuring import MEASURED, SMALL, nobody
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


def plausible(figure: Figure) -> bool:
    if figure.per_second is not None:
        return figure.per_second > 0 and figure.p50 is None
    assert figure.p50 is not None
    assert figure.p99 is not None
    assert figure.longest is not None
    return figure.p50 <= figure.p99 <= figure.longest


async def test_everything_is_measured_and_nothing_left(server: RunningServer) -> None:
    told: set[str] = set()
    figures = await measure(server.options, SMALL, new_tag(), lambda what, *_: told.add(what))
    assert {one.measure for one in figures} == MEASURED
    assert all(map(plausible, figures))
    assert {one.measure for one in figures if one.of_bare is None} == {"promotion"}
    assert all(any(what.startswith(one.what) for what in told) for one in figures)
    assert keys(server) == set()


async def test_two_workers_drain_a_cluster(cluster: RunningCluster) -> None:
    plan = BenchPlan(entries=60, workers=2, rate=1_000)
    figures = await measure(cluster.options, plan, new_tag(), nobody)
    assert {one.measure for one in figures} == MEASURED
    with pytest.raises(SettingsError, match="not on a cluster"):
        await measure(cluster.options, SMALL, new_tag(), nobody)
