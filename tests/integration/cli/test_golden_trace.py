"""Exit codes and JSON of ``entries trace``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcript anew; read the difference before it is committed.
"""

from pathlib import Path

from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_trace")
ID = "1526919030474-0"
LINES = [
    ["entries", "trace", "orders", ID],
    ["entries", "trace", "orders", ID, "-o", "json"],
    ["entries", "trace", "orders", "5-0", "-o", "json"],
    ["entries", "trace", "nothing", ID],
    ["entries", "trace", "orders", "soon"],
    ["streams", "story", "orders", ID],
]


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
    compare("trace", told(cli, LINES, place, MASKS), GOLDEN)
