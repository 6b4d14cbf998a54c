"""The application whose workers drain: a handler that does nothing, of a typed body."""

import os

from streamops.runtime.app import Streamops
from streamops.runtime.bench.bodies import Event
from streamops.runtime.bench.place import GROUP
from streamops.runtime.bench.processes import STREAM_VARIABLE

app = Streamops(name="streamops bench")


@app.handler(os.environ.get(STREAM_VARIABLE, ""), group=GROUP)
async def nothing(event: Event) -> None:
    """Do nothing."""
