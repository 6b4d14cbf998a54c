"""A queue of dead letters whose stream is worked on."""

from streamops.model.acting import Confirmation
from streamops.operations.replay.intent import ReplayIntent
from tests.support.monitor.dead_letters import add_pairs
from tests.support.servers import RunningServer

EVENTS, TARGET = "events", "archive"
REPLAYING = ReplayIntent(queue=EVENTS, to=TARGET)
YES = Confirmation(yes=True)


def add_events(server: RunningServer, many: int = 3) -> None:
    for number in range(1, many + 1):
        add_pairs(server, EVENTS, [("n", "1")], f"{number}-0")
