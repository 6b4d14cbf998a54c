"""What is read by XINFO STREAM FULL is as true, and tells of consumers what the server itself tells of them."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test

from streamops.model.ids import EntryId
from streamops.model.streams import ConsumerGroup, StreamState
from streamops.operate.collect import Collector
from streamops.operate.watch import Watch
from tests.support.operate.truth import STINGY, STREAM, StreamTruth
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

SLACK = timedelta(seconds=2)
"""Time between a collection and the question that it is compared with."""


class DeepTruth(StreamTruth):
    """The same histories, with somebody who sets the last ID by hand."""

    @initialize()
    def connect(self) -> None:
        super().connect()
        self.deep = [Collector(self.server, Watch(deep=True), budget) for budget in (None, STINGY)]

    @precondition(lambda self: self.ids)
    @rule(step=st.integers(1, 10_000))
    def set_last_id(self, step: int) -> None:
        """Nothing tells from then on, but reading, whether an entry of the last ID is there."""
        self.last_generated = EntryId(self.last_generated.ms + step, 0)
        self.running.command("XSETID", STREAM, str(self.last_generated))

    @invariant()
    def everything_said_is_true(self) -> None:
        for collector in getattr(self, "deep", ()):
            self.check(self.do(collector.collect([STREAM], discovered=1, complete=True)), count=False)

    def check_bounds(self, stream: StreamState) -> None:
        first, last = (self.ids[0], self.ids[-1]) if self.ids else (None, None)
        assert stream.first_id == first
        assert stream.last_id in (last, None)
        assert stream.last_generated_id == self.last_generated

    def check_pending(self, group: ConsumerGroup) -> None:
        super().check_pending(group)
        assert group.members is not None
        told = {row[b"name"].decode(): row for row in self.consumers(group.name)}
        assert {member.name for member in group.members} == told.keys()
        assert group.consumers == len(told)
        for member in group.members:
            row = told[member.name]
            assert member.pending == row[b"pending"]
            assert abs(member.idle - timedelta(milliseconds=row[b"idle"])) < SLACK
            inactive = row.get(b"inactive", -1)
            assert (member.inactive is None) == (inactive < 0)

    def consumers(self, group: str) -> list[dict[bytes, Any]]:
        rows = self.running.command("XINFO", "CONSUMERS", STREAM, group)
        return [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]


@pytest.mark.every_server("histories are played on each version")
def test_every_number_read_in_full_is_true(server: RunningServer) -> None:
    DeepTruth.running = server
    plan = settings(
        max_examples=10,
        stateful_step_count=40,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(DeepTruth, settings=plan)
