"""Readings that surveyors share: a stream with its groups, by name, and which one it is."""

from streamops.errors import NotFound
from streamops.model.acting import Identity
from streamops.model.readings import GroupReading, StreamReading
from streamops.wire.faults import Fault
from streamops.wire.server import Server
from streamops.wire.stream_reader import Readings, StreamReader


async def read_stream(server: Server, stream: str) -> tuple[StreamReading, Identity]:
    """One stream with its groups, and its identity.

    Raises:
        NotFound: There is no such stream.
        ServerError: It could not be read.
    """
    readings = await StreamReader(server).read([stream])
    reading = readings.streams[0]
    if isinstance(reading, Fault):
        raise reading.error(f"stream {stream}")
    return reading, identity_of(readings, reading)


def identity_of(readings: Readings, reading: StreamReading) -> Identity:
    """Which stream a reading is of."""
    return Identity(
        tuple(ident for node in readings.server.nodes for ident in node.replication_ids),
        reading.last_generated_id,
        tuple((group.name, group.last_delivered_id) for group in reading.groups),
    )


def group_of(reading: StreamReading, name: str) -> GroupReading:
    """A stream's group by name; raises ``NotFound`` where there is none."""
    for group in reading.groups:
        if group.name == name:
            return group
    names = ", ".join(group.name for group in reading.groups) or "none"
    raise NotFound(f"stream {reading.name} has no group {name}", f"Its groups: {names}.")
