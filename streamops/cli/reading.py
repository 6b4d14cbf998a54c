"""The readings that commands share: every stream that was asked for, or one by its exact name."""

from collections.abc import Sequence
from typing import NamedTuple

from streamops.cli.session import Session
from streamops.errors import NotFound, Refused, ServerError
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.streams import NO_SUCH_STREAM
from streamops.operations.console import Console


class StreamsReading(NamedTuple):
    """What one look at all streams brought.

    Attributes:
        observation: What was read.
        scanned: Whether all keys were gone through to find the streams.
    """

    observation: Observation
    scanned: bool


def observe_streams(session: Session, patterns: Sequence[str], *, queues: bool = False) -> StreamsReading:
    """Find the streams, and delayed queues without one if ``queues``, and observe them; raises ``StreamopsError``."""

    async def read(console: Console) -> StreamsReading:
        await console.discover(queues=queues)
        return StreamsReading(await console.observe(), console.discovery.is_open)

    return session.run(read, patterns)


def observe_stream(session: Session, stream: str) -> Observation:
    """Observe one stream.

    Raises:
        NotFound: There is none of that name.
        ServerError: It could not be read.
    """
    return session.run(lambda console: console.observe([stream]))


def only_stream(observation: Observation, name: str) -> StreamView:
    """The stream that was asked for alone.

    Raises:
        NotFound: There is none of that name.
        Refused: The user may not read it.
        ServerError: It could not be read.
    """
    for view in observation.streams:
        if view.stream.name == name:
            return view
    for gap in observation.snapshot.gaps:
        if gap.stream == name and gap.denied:
            raise Refused(f"stream {name}: {gap.reason}", "`streamops doctor` says what this user may do.")
        if gap.stream == name and gap.reason != NO_SUCH_STREAM:
            raise ServerError(f"stream {name}: {gap.reason}")
    raise NotFound(f"there is no stream {name}", "`streamops streams ls` lists those there are.")


def only_group(view: StreamView, name: str) -> GroupView:
    """The group of that name; raises ``NotFound`` where there is none."""
    for group in view.groups:
        if group.group.name == name:
            return group
    names = ", ".join(group.group.name for group in view.groups) or "none"
    raise NotFound(f"stream {view.stream.name} has no group {name}", f"Its groups: {names}.")
