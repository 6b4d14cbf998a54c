"""What a poison finding is about."""

from streamops.model.entries import EntryId
from streamops.monitor.thresholds import Thresholds
from streamops.operations.console import Console
from tests.support.servers import RunningServer


async def test_poison_finding_names_its_entry(server: RunningServer) -> None:
    for number in (1, 2):
        server.command("XADD", "orders", f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "w", "STREAMS", "orders", ">")
    async with await Console.open(server.options, thresholds=Thresholds(poison_deliveries=1)) as console:
        for number in (1, 2):
            (view,) = (await console.observe(["orders"])).streams[0].groups
            assert [finding.entry for finding in view.findings] == [EntryId(number, 0)]
            server.command("XACK", "orders", "billing", f"{number}-0")
