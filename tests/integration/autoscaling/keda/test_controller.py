"""From a real Redis by the real controller to what KEDA hears, an outage in between."""

import grpc
import pytest
from msgspec.structs import replace

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.decisions import Assignment, ControllerOptions
from streamops.autoscaling.keda.answers import Board, GroupRead
from streamops.model.pools import PoolSize
from streamops.operations.console import Console
from tests.support.autoscaling.keda.serving import ORDERS, scaling
from tests.support.servers import StartServer

ASSIGNMENT = Assignment(pool="orders", stream="orders", group="billing")


class Workers:
    """Somebody who runs workers and does as told."""

    kind = "invented"
    label = "workers of a test"
    count = 3

    async def read(self) -> PoolSize:
        return PoolSize(ordered=self.count, ready=self.count)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - a target's
        self.count = workers

    async def close(self) -> None:
        """There is nothing to let go of."""


async def test_the_controllers_number_is_told_through_an_outage(start_server: StartServer) -> None:
    server = start_server()
    server.command("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM")
    for number in range(20):
        server.command("XADD", "orders", "*", "n", str(number))
    board = Board({"orders": GroupRead("orders", "billing")})
    async with (
        await Console.open(replace(server.options, label="here")) as console,
        scaling(board) as keda,
    ):
        console.place.targets.use("orders", Workers())
        controller = Controller(
            console,
            ControllerOptions(holder="test", assignments=(ASSIGNMENT,)),
            lambda report: board.post_round(report.decisions),
        )
        with pytest.raises(grpc.aio.AioRpcError, match="not been evaluated yet"):
            await keda.value()
        await controller.round()
        assert (await keda.value(**ORDERS)).metricValue == 3
        assert await keda.is_active() is True
        server.stop()
        await controller.round()
        view = board.view("orders")
        assert view is not None
        assert not view.lag_known
        assert (await keda.value(**ORDERS, stream="orders")).metricValue == 3
        assert await keda.is_active() is True
        assert (await keda.spec()).targetSize == 1
