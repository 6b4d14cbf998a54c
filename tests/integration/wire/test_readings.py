"""The script reads what the plain commands read, payloads left out."""

from streamops.model.streams import StreamReading
from streamops.wire.server import Server
from streamops.wire.stream_reader import LARGE_BYTES, StreamReader
from tests.support.servers import RunningServer


async def test_large_stream_made_anew_with_the_same_ids(server: RunningServer, connected: Server) -> None:
    """Length, first and last ID are the same: only that it was gone in between tells the two apart."""
    reader = StreamReader(connected)
    for size in (LARGE_BYTES, 2 * LARGE_BYTES):
        server.command("XADD", "large", "1-1", "f", "x" * size)
        reading = (await reader.read(["large"])).streams[0]
        assert isinstance(reading, StreamReading)
        assert reading.entry_bytes == size + 1
        server.command("DEL", "large")
        await reader.read(["large"])
