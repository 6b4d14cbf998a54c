"""What ``entries trace`` prints, on a real server; what changes from run to run is masked.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcript anew; read the difference before it is committed.
"""

from pathlib import Path

from tests.support.cli.golden import FORMATS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_trace")
ID = "1526919030474-0"
LINES = [
    *(["entries", "trace", "orders", ID, "-o", output] for output in FORMATS),
    ["entries", "trace", "orders", "5-0"],
    ["entries", "trace", "nothing", ID],
    ["entries", "trace", "orders", "soon"],
    ["streams", "story", "orders", ID],
]
HIDDEN = (
    (r"less than a second ago", "1 s ago"),
    (r"the last \d+ s ago", "the last 1 s ago"),
    (r"20[2-9]\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z", "2026-03-01 14:00:00Z"),
    (r"unix://\S+", "unix:///redis.sock"),
)


def test_a_trace_is_told_in_every_format(server: RunningServer, cli: Cli, place: Place) -> None:
    server.command("XADD", "orders", ID, "order", "A-1")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XGROUP", "CREATE", "orders", "audit", "$")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", "orders", ">")
    server.command(
        "XADD", "orders:dlq", "1526919099999-0", "order", "A-1", "_so_origin_id", ID, "_so_group", "audit",
        "_so_reason", "timeout", "_so_error", "it took too long", "_so_deliveries", "5",
    )  # fmt: skip
    config = f'default_context = "local"\n[contexts.local]\nurl = "{server.url}"\n'
    place.configure(config)
    compare("trace", told(cli, LINES, place, HIDDEN), GOLDEN)
