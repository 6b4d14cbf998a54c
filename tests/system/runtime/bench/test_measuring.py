"""Benchmarks on real servers: figures for everything, and no key left, however it ends."""

import pytest

from streamops.errors import SettingsError
from streamops.model.bench import BenchPlan
from streamops.runtime.bench.measuring import measure
from streamops.runtime.bench.place import new_tag
from tests.support.deployments import RunningCluster
from tests.support.runtime.bench.measuring import MEASURED, SMALL, nobody


async def test_two_workers_drain_a_cluster(cluster: RunningCluster) -> None:
    plan = BenchPlan(entries=60, workers=2, rate=1_000)
    figures = await measure(cluster.options, plan, new_tag(), nobody)
    assert {one.measure for one in figures} == MEASURED
    with pytest.raises(SettingsError, match="not on a cluster"):
        await measure(cluster.options, SMALL, new_tag(), nobody)
