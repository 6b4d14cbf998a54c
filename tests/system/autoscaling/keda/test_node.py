"""The scaler, asked by gRPC's implementation in JavaScript."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.autoscaling.keda.answers import Board, GroupRead
from streamops.autoscaling.keda.server import LIMITS, TlsFiles
from tests.support.autoscaling.keda.nodejs import calling, install
from tests.support.autoscaling.keda.serving import ASLEEP, BLIND, KNOWN, Counting, KedaClient, scaling
from tests.support.deployments import Certificates
from tests.support.eventually import eventually

PATIENCE = {"grpc.keepalive_time_ms", "grpc.http2.ping_timeout_ms"}

ORDERS = {
    "name": "worker",
    "namespace": "shop",
    "scalerMetadata": {"scalerAddress": "streamops-keda:9644", "pool": "orders"},
}


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest) -> Path:
    return install(request.config.cache.mkdir("npm"))


@pytest.fixture
async def keda(board: Board) -> AsyncIterator[KedaClient]:
    async with scaling(board) as running:
        yield running


async def ask(
    client: Path, keda: KedaClient, method: str, request: dict[str, Any], **tls: Any
) -> dict[str, Any]:
    async with calling(client, keda.port, method, request, **tls) as node:
        return await node.line()


async def test_a_poll_of_keda_is_answered_with_metric_and_value(
    client: Path, board: Board, keda: KedaClient
) -> None:
    board.post("orders", KNOWN)
    assert await ask(client, keda, "GetMetricSpec", ORDERS) == {
        "message": {
            "metricSpecs": [{"metricName": "streamops-orders", "targetSize": 1, "targetSizeFloat": 1}]
        }
    }
    asked = {"scaledObjectRef": ORDERS, "metricName": "streamops-orders"}
    assert await ask(client, keda, "GetMetrics", asked) == {
        "message": {
            "metricValues": [{"metricName": "streamops-orders", "metricValue": 7, "metricValueFloat": 7}]
        }
    }
    assert await ask(client, keda, "IsActive", ORDERS) == {"message": {"result": True}}


async def test_statuses_and_their_words(client: Path, board: Board, keda: KedaClient) -> None:
    board.post("orders", BLIND)
    asked = {"scaledObjectRef": ORDERS, "metricName": "streamops-orders"}
    assert await ask(client, keda, "GetMetrics", asked) == {
        "error": {
            "code": "UNAVAILABLE",
            "details": "how many workers pool orders should have is not known: Redis does not answer",
        }
    }
    other = {**ORDERS, "scalerMetadata": {"pool": "bücher"}}
    assert await ask(client, keda, "IsActive", other) == {
        "error": {"code": "INVALID_ARGUMENT", "details": "no pool bücher; known: orders, mail"}
    }


async def test_activity_is_pushed_until_the_server_stops(client: Path, board: Board) -> None:
    board.post("orders", ASLEEP)
    async with scaling(board) as keda, calling(client, keda.port, "StreamIsActive", ORDERS) as node:
        assert await node.line() == {"message": {"result": False}}
        board.post("orders", KNOWN)
        assert await node.line() == {"message": {"result": True}}
        board.post("orders", replace(KNOWN, desired=8))
        board.post("orders", ASLEEP)
        assert await node.line() == {"message": {"result": False}}


async def test_a_client_that_says_nothing_any_more_is_given_up(
    client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without its client: nothing closes it, and nothing answers."""
    quick = {name: value // 100 if name in PATIENCE else value for name, value in LIMITS}
    assert quick.keys() >= PATIENCE
    monkeypatch.setattr("streamops.autoscaling.keda.server.LIMITS", tuple(quick.items()))
    board = Counting({"orders": GroupRead("orders", "billing")})
    board.post("orders", KNOWN)
    async with scaling(board) as keda, calling(client, keda.port, "StreamIsActive", ORDERS) as node:
        await node.line()
        await eventually(lambda: board.waiting == 1)
        node.process.send_signal(signal.SIGSTOP)
        await eventually(lambda: board.waiting == 0)


async def test_the_end_of_the_server_is_the_end_of_its_streams(client: Path, board: Board) -> None:
    async with scaling(board) as keda:
        running = calling(client, keda.port, "StreamMetricSpec", ORDERS)
        node = await running.__aenter__()
        spec = {"metricName": "streamops-orders", "targetSize": 1, "targetSizeFloat": 1}
        assert await node.line() == {"message": {"metricSpecs": [spec]}}
    assert await node.line() == {"end": True}
    await running.__aexit__(None, None, None)


async def test_tls_with_certificates_of_both(client: Path, board: Board, certificates: Certificates) -> None:
    board.post("orders", KNOWN)
    files = TlsFiles(
        certificate=certificates.server_certificate_file,
        key=certificates.server_key_file,
        client_authorities=certificates.ca_file,
    )
    ours = {
        "ca": str(certificates.ca_file),
        "certificate": str(certificates.client_certificate_file),
        "key": str(certificates.client_key_file),
    }
    async with scaling(board, files) as keda:
        assert await ask(client, keda, "IsActive", ORDERS, tls=ours) == {"message": {"result": True}}
        refused = await ask(client, keda, "IsActive", ORDERS, tls={"ca": ours["ca"]})
        assert refused["error"]["code"] == "UNAVAILABLE"
