"""What KEDA is answered over gRPC."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from typing import Any

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from msgspec.structs import replace

from streamops.autoscaling.keda.answers import Board, GroupRead, PoolView
from streamops.autoscaling.keda.server import GrpcOptions, serving
from streamops.errors import SettingsError
from tests.support.autoscaling.keda.serving import (
    ASLEEP,
    BLIND,
    DEADLINE,
    KNOWN,
    ORDERS,
    Counting,
    KedaClient,
    scaling,
)
from tests.support.eventually import eventually

HEALTHY = health_pb2.HealthCheckResponse.SERVING


@pytest.fixture
async def keda(board: Board) -> AsyncIterator[KedaClient]:
    async with scaling(board) as client:
        yield client


async def next_of(stream: grpc.aio.UnaryStreamCall[Any, Any]) -> Any:  # noqa: ANN401 - any message
    """The next message, which may be long in coming but not for ever."""
    async with asyncio.timeout(DEADLINE):
        message = await stream.read()
    assert message is not grpc.aio.EOF
    return message


async def test_the_number_stands_in_both_fields(board: Board, keda: KedaClient) -> None:
    board.post("orders", KNOWN)
    value = await keda.value()
    assert (value.metricName, value.metricValue, value.metricValueFloat) == ("streamops-orders", 7, 7.0)


async def test_the_spec_rests_on_nothing_that_is_read(board: Board, keda: KedaClient) -> None:
    before = await keda.spec()
    board.post("orders", BLIND)
    assert await keda.spec() == before


@pytest.mark.parametrize("view", [PoolView(), BLIND], ids=["not looked at", "nothing to see"])
async def test_what_was_never_known_is_unavailable_and_not_nothing(
    board: Board, keda: KedaClient, view: PoolView
) -> None:
    board.post("orders", view)
    for call in (keda.value(), keda.is_active()):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await call
        assert failure.value.code() is grpc.StatusCode.UNAVAILABLE
        assert (
            failure.value.details() == f"how many workers pool orders should have is not known: {view.reason}"
        )


async def test_what_was_known_is_repeated(board: Board, keda: KedaClient) -> None:
    board.post("orders", KNOWN)
    board.post("orders", BLIND)
    assert (await keda.value()).metricValueFloat == 7
    assert await keda.is_active() is True


async def test_who_slept_when_sight_was_lost_sleeps_on(board: Board, keda: KedaClient) -> None:
    board.post("orders", ASLEEP)
    board.post("orders", BLIND)
    assert (await keda.value()).metricValue == 0
    assert await keda.is_active() is False


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"group": "billing"}, "the trigger's metadata has no pool; known: orders, mail"),
        ({"pool": "order"}, "no pool order; known: orders, mail"),
        ({"pool": "a\nb"}, r"no pool a\nb; known: orders, mail"),
        (
            {**ORDERS, "strem": "orders"},
            "the trigger's metadata says strem, which is not known; known: pool, stream, group",
        ),
        (
            {**ORDERS, "stream": "returns", "group": "billing"},
            "pool orders is not of stream returns, group billing; its workers read stream orders as group billing",
        ),
    ],
)
async def test_a_trigger_that_makes_no_sense_is_told_why(
    keda: KedaClient, metadata: dict[str, str], problem: str
) -> None:
    calls = (keda.value(**metadata), keda.is_active(**metadata), keda.spec(**metadata))
    streams = (keda.actives(**metadata).read(), keda.specs(**metadata).read())
    for call in (*calls, *streams):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await call
        assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert failure.value.details() == problem


async def test_metrics_go_by_their_names(board: Board, keda: KedaClient) -> None:
    board.post("orders", KNOWN)
    assert (await keda.value("")).metricValue == 7
    assert (await keda.value("s0-streamops-orders")).metricName == "streamops-orders"
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await keda.value("streamops-mail")
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.value.details() == "pool orders has the metric streamops-orders, and not streamops-mail"


async def test_activity_is_told_at_once_and_then_when_it_changes(board: Board, keda: KedaClient) -> None:
    board.post("orders", ASLEEP)
    stream = keda.actives()
    told = [(await next_of(stream)).result]
    board.post("orders", replace(ASLEEP, reason="another reason"))
    board.post("orders", KNOWN)
    told.append((await next_of(stream)).result)
    board.post("orders", replace(KNOWN, desired=9))
    board.post("orders", BLIND)
    board.post("orders", ASLEEP)
    told.append((await next_of(stream)).result)
    assert told == [False, True, False]
    stream.cancel()


async def test_a_stream_waits_for_what_is_not_known_yet(board: Board, keda: KedaClient) -> None:
    stream = keda.actives()
    await stream.wait_for_connection()
    board.post("orders", BLIND)
    board.post("orders", KNOWN)
    assert (await next_of(stream)).result is True
    stream.cancel()


async def test_pools_are_told_apart(board: Board, keda: KedaClient) -> None:
    board.post("mail", KNOWN)
    stream = keda.actives(pool="orders")
    board.post("orders", ASLEEP)
    assert (await next_of(stream)).result is False
    assert await keda.is_active(pool="mail") is True
    stream.cancel()


async def test_streams_end_well_when_the_server_stops(board: Board) -> None:
    board.post("orders", ASLEEP)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(GrpcOptions(port=0), board))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            keda = KedaClient(channel, port)
            actives, specs = keda.actives(), keda.specs()
            await actives.read()
            assert [spec.metricName for spec in (await next_of(specs)).metricSpecs] == ["streamops-orders"]
            await stack.aclose()
            for stream in (actives, specs):
                assert await stream.read() is grpc.aio.EOF
                assert await stream.code() is grpc.StatusCode.OK
            with pytest.raises(grpc.aio.AioRpcError):
                await keda.spec()


async def test_nobody_waits_for_a_client_that_left() -> None:
    board = Counting({"orders": GroupRead("orders", "billing")})
    board.post("orders", KNOWN)
    async with scaling(board) as keda:
        streams = [keda.actives() for _ in range(3)]
        for stream in streams:
            await stream.read()
        await eventually(lambda: board.waiting == len(streams))
        for stream in streams:
            stream.cancel()
        await eventually(lambda: board.waiting == 0)
        board.post("orders", ASLEEP)
        assert await keda.is_active() is False


class Broken(Board):
    """A board with a bug."""

    def view(self, pool: str) -> PoolView | None:
        raise ZeroDivisionError(pool)


async def test_a_bug_is_told_in_a_line_and_logged() -> None:
    async with scaling(Broken({"orders": GroupRead("orders", "billing")})) as keda:
        with structlog.testing.capture_logs() as logs, pytest.raises(grpc.aio.AioRpcError) as failure:
            await keda.value()
        assert failure.value.code() is grpc.StatusCode.INTERNAL
        assert failure.value.details() == "a bug in streamops; its log says more"
        (line,) = [log for log in logs if log["log_level"] == "error"]
        assert line["problem"] == "ZeroDivisionError: orders"


async def test_what_no_scaler_serves_is_unimplemented(keda: KedaClient) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await keda.channel.unary_unary("/externalscaler.ExternalScaler/Scale", bytes, bytes)(b"")
    assert failure.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_requests_are_bounded(keda: KedaClient) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await keda.spec(pool="o" * (1 << 17))
    assert failure.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_burst_of_calls_is_answered(board: Board, keda: KedaClient) -> None:
    board.post("orders", KNOWN)
    values = await asyncio.gather(*(keda.value() for _ in range(200)))
    assert {value.metricValue for value in values} == {7}


async def test_calls_at_once_are_bounded(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamops.autoscaling.keda.server.MOST_CALLS", 2)
    async with scaling(board) as keda:
        streams = [keda.specs(), keda.specs()]
        for stream in streams:
            await next_of(stream)
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await keda.spec()
        assert failure.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("service", ["", "externalscaler.ExternalScaler"])
async def test_health_is_served_as_kubernetes_asks_for_it(board: Board, service: str) -> None:
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(GrpcOptions(port=0), board))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service=service)
            assert (await stub.Check(request)).status == HEALTHY
            # Who watches is told of the end.
            watching = stub.Watch(request)
            assert (await watching.read()).status == HEALTHY
            stopping = asyncio.create_task(stack.aclose())
            assert (await watching.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
            watching.cancel()
            await stopping


async def test_an_address_that_is_taken_is_told_in_words(
    board: Board, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError) as failure:
            async with serving(GrpcOptions(port=port), board):
                pass
    assert failure.value.message == f"cannot listen at 127.0.0.1:{port}: Address already in use"
    assert failure.value.hint == "Choose another address with --listen HOST:PORT."
    assert capfd.readouterr().err == ""


async def test_an_address_that_is_taken_in_the_last_moment(
    board: Board, keda: KedaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.autoscaling.keda.server.check_address", lambda _: None)
    with pytest.raises(SettingsError, match=f"cannot listen at 127.0.0.1:{keda.port}: "):
        async with serving(GrpcOptions(port=keda.port), board):
            pass


async def test_a_host_that_is_none_is_told_in_words(board: Board) -> None:
    with pytest.raises(SettingsError, match=r"cannot listen at nowhere\.invalid:0: "):
        async with serving(GrpcOptions(host="nowhere.invalid", port=0), board):
            pass


async def test_an_address_of_ipv6(board: Board) -> None:
    board.post("orders", KNOWN)
    async with (
        serving(GrpcOptions(host="::1", port=0), board) as port,
        grpc.aio.insecure_channel(f"[::1]:{port}") as channel,
    ):
        assert (await KedaClient(channel, port).value()).metricValue == 7
