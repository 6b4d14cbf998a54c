"""What is said with fewer permissions is less, but as true."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test

from streamops.operate.collect import Collector
from streamops.operate.watch import Watch
from streamops.wire.stream_reader import Depth, StreamReader
from tests.support.operate.truth import STINGY, STREAM, StreamTruth
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover


class RestrictedTruth(StreamTruth):
    """The same histories, read as far down the ladder as it goes."""

    @initialize()
    def connect(self) -> None:
        super().connect()
        self.collectors = {
            depth: Collector(self.server, Watch(), STINGY if depth is Depth.GROUPS else None)
            for depth in (Depth.TRANSACTION, Depth.GROUPS)
        }
        for depth, collector in self.collectors.items():
            assert isinstance(collector._reader, StreamReader)
            collector._reader.depth = depth

    @invariant()
    def everything_said_is_true(self) -> None:
        if not hasattr(self, "collectors"):
            return
        for depth, collector in self.collectors.items():
            snapshot = self.do(collector.collect([STREAM], discovered=1, complete=True))
            if depth is not Depth.GROUPS:
                self.check(snapshot, count=False)
                continue
            (stream,) = snapshot.streams
            assert stream.length == len(self.ids)
            for group in stream.groups:
                self.check_lag(group)
                # Where not even the bounds may be read, it takes a count to know that nothing waits.
                if group.time_lag.age is not None or (group.lag.known and group.lag.entries == 0):
                    self.check_time_lag(group, snapshot)
                self.check_pending(group)


@pytest.mark.every_server("histories are played on each version")
def test_every_number_is_true_with_fewer_permissions(server: RunningServer) -> None:
    RestrictedTruth.running = server
    plan = settings(
        max_examples=10,
        stateful_step_count=40,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(RestrictedTruth, settings=plan)
