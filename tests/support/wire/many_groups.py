"""Streams with more groups than a script reads."""

from datetime import timedelta

from msgspec.structs import replace

from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer

MOST = 1_000
MAKE = """
for each = 1, 3 do redis.call('XADD', KEYS[1], each, 'n', each) end
for number = 1, ARGV[1] do
  local group = 'g' .. number
  redis.call('XGROUP', 'CREATE', KEYS[1], group, '0')
  redis.call('XREADGROUP', 'GROUP', group, 'worker', 'COUNT', 1, 'STREAMS', KEYS[1], '>')
end
"""


def patient(server: RunningServer) -> ConnectionOptions:
    """How it is reached by who waits on a machine that is busy."""
    return replace(server.options, timeout=timedelta(seconds=30))


def make(server: RunningServer, stream: str, groups: int) -> None:
    """Three entries, the first of them pending with each group."""
    server.command("EVAL", MAKE, 1, stream, groups)
