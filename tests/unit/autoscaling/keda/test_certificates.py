"""TLS of the gRPC server."""

from pathlib import Path

import grpc
import pytest
import structlog
import trustme

from streamops.autoscaling.keda.answers import Board
from streamops.autoscaling.keda.server import GrpcOptions, TlsFiles, serving
from streamops.errors import SettingsError
from tests.support.autoscaling.keda.serving import KNOWN, KedaClient, new_board


class Place:
    """A directory with a server's certificate and its authority's."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = trustme.CA()
        self.authority.cert_pem.write_to_path(directory / "ca.pem")
        self.renew(self.authority)

    def renew(self, authority: trustme.CA) -> None:
        """Give the server another certificate."""
        issued = authority.issue_cert("localhost")
        issued.private_key_pem.write_to_path(self.directory / "key.pem")
        issued.cert_chain_pems[0].write_to_path(self.directory / "server.pem")

    def files(self, *, of_clients: bool = False) -> TlsFiles:
        """What the server is given."""
        return TlsFiles(
            certificate=self.directory / "server.pem",
            key=self.directory / "key.pem",
            client_authorities=self.directory / "ca.pem" if of_clients else None,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def board() -> Board:
    board = new_board()
    board.post("orders", KNOWN)
    return board


def trusting(authority: trustme.CA, client: trustme.LeafCert | None = None) -> grpc.ChannelCredentials:
    if client is None:
        return grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    return grpc.ssl_channel_credentials(
        authority.cert_pem.bytes(), client.private_key_pem.bytes(), client.cert_chain_pems[0].bytes()
    )


async def ask(port: int, credentials: grpc.ChannelCredentials | None) -> int:
    """The number, by a new connection."""
    # Without this, channels of one address share their connections.
    own = (("grpc.use_local_subchannel_pool", 1),)
    address = f"localhost:{port}"
    channel = (
        grpc.aio.insecure_channel(address, own)
        if credentials is None
        else grpc.aio.secure_channel(address, credentials, own)
    )
    async with channel:
        return (await KedaClient(channel, port).value()).metricValue


async def test_the_server_shows_its_certificate(place: Place, board: Board) -> None:
    async with serving(GrpcOptions(port=0, tls=place.files()), board) as port:
        assert await ask(port, trusting(place.authority)) == 7
        for credentials in (None, trusting(trustme.CA())):
            with pytest.raises(grpc.aio.AioRpcError) as failure:
                await ask(port, credentials)
            assert failure.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_clients_show_theirs_where_their_authority_is_given(place: Place, board: Board) -> None:
    keda = place.authority.issue_cert("keda@example.org")
    stranger = trustme.CA().issue_cert("keda@example.org")
    async with serving(GrpcOptions(port=0, tls=place.files(of_clients=True)), board) as port:
        assert await ask(port, trusting(place.authority, keda)) == 7
        for certificate in (None, stranger):
            with pytest.raises(grpc.aio.AioRpcError) as failure:
                await ask(port, trusting(place.authority, certificate))
            assert failure.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_renewed_certificate_is_in_force_for_the_next_connection(place: Place, board: Board) -> None:
    other = trustme.CA()
    async with serving(GrpcOptions(port=0, tls=place.files()), board) as port:
        assert await ask(port, trusting(place.authority)) == 7
        place.renew(other)
        with structlog.testing.capture_logs() as logs:
            assert await ask(port, trusting(other)) == 7
        assert [log["event"] for log in logs] == ["certificate read again"]


async def test_a_broken_certificate_changes_nothing_and_is_logged_once(place: Place, board: Board) -> None:
    async with serving(GrpcOptions(port=0, tls=place.files()), board) as port:
        (place.directory / "server.pem").write_text("rubbish")
        with structlog.testing.capture_logs() as logs:
            assert await ask(port, trusting(place.authority)) == 7
            assert await ask(port, trusting(place.authority)) == 7
        assert [log["event"] for log in logs] == ["certificate not taken, the one before stays in force"]
        assert "no certificate with its key" in logs[0]["problem"]
        place.renew(place.authority)
        assert await ask(port, trusting(place.authority)) == 7


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("server.pem", None, "--tls-cert: cannot read "),
        ("key.pem", None, "--tls-key: cannot read "),
        ("ca.pem", None, "--tls-client-ca: cannot read "),
        ("server.pem", "rubbish", "--tls-cert, --tls-key: "),
        ("ca.pem", "rubbish", "--tls-client-ca: "),
    ],
)
async def test_files_that_cannot_be_used_are_told(
    place: Place, board: Board, name: str, text: str | None, problem: str
) -> None:
    path = place.directory / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingsError) as failure:
        async with serving(GrpcOptions(port=0, tls=place.files(of_clients=True)), board):
            pass
    assert failure.value.message.startswith(problem)
    assert failure.value.hint
