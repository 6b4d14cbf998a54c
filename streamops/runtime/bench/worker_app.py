"""The application whose workers drain: a handler that does nothing, of a typed body."""

import os
from typing import Final

from streamops.runtime.app import Streamops
from streamops.runtime.bench.bodies import Event
from streamops.runtime.bench.place import GROUP
from streamops.runtime.bench.processes import STREAM_VARIABLE

NAME: Final = f"{__name__}:app"

app: Final = Streamops(name="streamops bench")


@app.handler(os.environ.get(STREAM_VARIABLE, ""), group=GROUP)
async def nothing(event: Event) -> None:
    """Do nothing."""
