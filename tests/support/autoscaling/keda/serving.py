"""Both servers in a test's own process, with a board behind them that the test writes on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from msgspec import Struct

from streamops.autoscaling.keda.answers import Board, GroupRead, PoolView
from streamops.autoscaling.keda.proto import externalscaler_pb2 as pb
from streamops.autoscaling.keda.server import GrpcOptions, TlsFiles, serving

PROTO: Final = Path(pb.__file__).with_name("externalscaler.proto")
NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
ORDERS: Final = {"pool": "orders"}
DEADLINE: Final = 20.0

KNOWN: Final = PoolView(
    desired=7, active=True, lag_known=True, looked=True, at=NOON, reason="backlog of 900 entries"
)
ASLEEP: Final = PoolView(
    desired=0, active=False, lag_known=True, looked=True, at=NOON, reason="nothing came for 900 s"
)
BLIND: Final = PoolView(looked=True, reason="Redis does not answer")
"""A look that failed."""


class Counting(Board):
    """A board that knows how many wait for it."""

    waiting = 0

    async def after(self, pool: str, seen: PoolView) -> PoolView:
        self.waiting += 1
        try:
            return await super().after(pool, seen)
        finally:
            self.waiting -= 1


def new_board() -> Board:
    """Two pools that were not looked at yet."""
    return Board({"orders": GroupRead("orders", "billing"), "mail": GroupRead("mail", "post")})


class KedaClient(Struct, frozen=True):
    """Asks as KEDA does.

    Attributes:
        channel: A channel to the scaler.
        port: Its port.
    """

    channel: grpc.aio.Channel
    port: int

    async def is_active(self, **metadata: str) -> bool:
        """The method of that name."""
        answer: pb.IsActiveResponse = await self._unary("IsActive", pb.IsActiveResponse)(
            reference(**metadata), timeout=DEADLINE
        )
        return answer.result

    async def spec(self, **metadata: str) -> pb.MetricSpec:
        """The one metric."""
        answer: pb.GetMetricSpecResponse = await self._unary("GetMetricSpec", pb.GetMetricSpecResponse)(
            reference(**metadata), timeout=DEADLINE
        )
        (spec,) = answer.metricSpecs
        return spec

    async def value(self, metric: str = "streamops-orders", **metadata: str) -> pb.MetricValue:
        """The metric's value."""
        request = pb.GetMetricsRequest(scaledObjectRef=reference(**metadata), metricName=metric)
        answer: pb.GetMetricsResponse = await self._unary("GetMetrics", pb.GetMetricsResponse)(
            request, timeout=DEADLINE
        )
        (value,) = answer.metricValues
        return value

    def actives(self, **metadata: str) -> grpc.aio.UnaryStreamCall[Any, pb.IsActiveResponse]:
        """Whether there is work, as it changes."""
        return self._streaming("StreamIsActive", pb.IsActiveResponse)(reference(**metadata))

    def specs(self, **metadata: str) -> grpc.aio.UnaryStreamCall[Any, pb.GetMetricSpecResponse]:
        """The metrics, as they change."""
        return self._streaming("StreamMetricSpec", pb.GetMetricSpecResponse)(reference(**metadata))

    def _unary(self, method: str, answer: Any) -> grpc.aio.UnaryUnaryMultiCallable[Any, Any]:  # noqa: ANN401 - a message's type
        return self.channel.unary_unary(_path(method), _serialize, answer.FromString)

    def _streaming(self, method: str, answer: Any) -> grpc.aio.UnaryStreamMultiCallable[Any, Any]:  # noqa: ANN401 - the same
        return self.channel.unary_stream(_path(method), _serialize, answer.FromString)


def _path(method: str) -> str:
    return f"/externalscaler.ExternalScaler/{method}"


def _serialize(message: Any) -> bytes:  # noqa: ANN401 - any message
    data: bytes = message.SerializeToString()
    return data


def reference(**metadata: str) -> pb.ScaledObjectRef:
    """What KEDA says of a ScaledObject: the trigger's metadata as they stand, its own among them."""
    kedas = {"scalerAddress": "streamops-keda:9644", "enableTLS": "false"}
    return pb.ScaledObjectRef(
        name="worker", namespace="shop", scalerMetadata={**kedas, **(metadata or ORDERS)}
    )


@asynccontextmanager
async def scaling(board: Board, tls: TlsFiles | None = None) -> AsyncIterator[KedaClient]:
    """A scaler at a port of the kernel's choice, and a client that speaks plain text."""
    async with (
        serving(GrpcOptions(port=0, tls=tls), board) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        yield KedaClient(channel, port)


@pytest.fixture
def board() -> Board:
    return new_board()
