"""The kinds of histories: each plays seeds on a server, and fails where an entry is lost, doubled or told falsely."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from tests.chaos.histories import (
    claims,
    consumer_removal,
    consuming,
    delayed,
    moving_truth,
    promoting,
    reclaiming,
    replays,
)
from tests.support.servers import RunningServer

Play = Callable[[RunningServer, range], Awaitable[None]]

KINDS: Final[Mapping[str, Play]] = {
    "claims": claims.play,
    "consumer_removal": consumer_removal.play,
    "consuming": consuming.play,
    "delayed": delayed.play,
    "moving_truth": moving_truth.play,
    "promoting": promoting.play,
    "reclaiming": reclaiming.play,
    "replays": replays.play,
}
