"""The application of a drill: each event takes its time, and fails as often as it says."""

import asyncio
import os
from typing import Final

from streamops.errors import HandlerError
from streamops.runtime.app import Streamops
from streamops.runtime.bench.drill_events import DrillEvent
from streamops.runtime.bench.ledger import HANDLED, REPEATED, Ledger
from streamops.runtime.bench.place import GROUP, keys_beside
from streamops.runtime.bench.processes import STREAM_VARIABLE
from streamops.runtime.entry import Entry
from streamops.runtime.policy import Exponential

MOST_STARTS: Final = 4

STREAM: Final = os.environ.get(STREAM_VARIABLE, "")
TAG: Final = STREAM.rpartition(":")[0]
KEYS: Final = [STREAM, f"{TAG}:{HANDLED}", f"{TAG}:{REPEATED}", *keys_beside(STREAM)]

app: Final = Streamops(name="streamops bench drill")
ledger: Final = Ledger(lambda: app.connection, f"{TAG}:{HANDLED}", f"{TAG}:{REPEATED}", KEYS)


@app.handler(
    STREAM, group=GROUP, start="0", retry=Exponential(base=0.1, cap=1.0), max_deliveries=MOST_STARTS, lease=10
)
async def work(event: DrillEvent, entry: Entry) -> None:
    """Take the event's time, fail where it is to fail, else note it."""
    ledger.open()
    await asyncio.sleep(event.work)
    if entry.attempt <= event.fails:
        raise HandlerError(f"event {event.number} is to fail")
    await ledger.note(event.number)
