"""Whatever is called exact or reported is so, after any history, on every server."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from streamops.model.lag import LagBasis
from tests.support.operate.truth import StreamTruth, wrong_commands_do_not_hide
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

STEPS = int(os.environ.get("STREAMOPS_TRUTH_STEPS", "1000"))
KNOWN_SHARE = 0.98


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
def test_every_number_is_true(server: RunningServer) -> None:
    wrong_commands_do_not_hide(server)
    StreamTruth.running = server
    StreamTruth.steps = 0
    StreamTruth.bases.clear()
    StreamTruth.reasons.clear()
    plan = settings(
        max_examples=25,
        stateful_step_count=50,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    while StreamTruth.steps < STEPS:
        run_state_machine_as_test(StreamTruth, settings=plan)
    readings = sum(StreamTruth.bases.values())
    known = StreamTruth.bases[LagBasis.EXACT] + StreamTruth.bases[LagBasis.REPORTED]
    assert known >= KNOWN_SHARE * readings
