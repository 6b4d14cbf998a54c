"""Every way to a server: TCP, unix socket, database, ACL user, TLS."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import SettingsError, Unreachable
from streamops.wire.connect import connect_client
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.server import Server
from tests.support.deployments import Certificates
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.connect import mark, read_marker, tls_options
from tests.support.wire.refusals import PLANTED, refusal, with_password


async def test_a_server_is_reached_by_its_name(server: RunningServer) -> None:
    mark(server)
    by_name = ConnectionOptions(addresses=(("localhost", server.port),), label="redis://localhost/0")
    assert await read_marker(by_name) == b"here"


async def test_a_user_with_a_password_is_let_in(start_server: StartServer) -> None:
    server = start_server()
    mark(server)
    server.command("ACL", "SETUSER", "default", "resetpass", f">{PLANTED}")
    server.command("ACL", "SETUSER", "observer", "on", ">öther", "~*", "+@all")
    for options in (server.options, server.tcp_options):
        assert await read_marker(with_password(options)) == b"here"
        assert await read_marker(replace(options, username="observer", password=Secret("öther"))) == b"here"


async def test_client_is_named(server: RunningServer) -> None:
    connection = await Server.connect(replace(server.options, client_name="streamops-test"))
    names = [client["name"] for client in server.client.client_list()]
    await connection.close()
    assert "streamops-test" in names


async def test_workers_client_speaks_the_same(server: RunningServer) -> None:
    async with connect_client(server.options) as client:
        added = await client.xadd("marker", {"is": "here"})
        assert await client.xrange("marker") == [(added, {b"is": b"here"})]


async def test_tls_towards_a_plain_port(server: RunningServer, certificates: Certificates) -> None:
    impatient = replace(tls_options(server, certificates.client_tls), timeout=timedelta(milliseconds=200))
    error = await refusal(impatient)
    assert isinstance(error, Unreachable)
    assert "that the port speaks TLS" in error.hint


async def test_tls_file_that_is_not_there(server: RunningServer) -> None:
    with pytest.raises(SettingsError, match=r"/nonexistent/ca\.pem cannot be read: No such file"):
        await Server.connect(tls_options(server, Tls(ca_file="/nonexistent/ca.pem")))


async def test_tls_file_that_is_no_certificate(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("not a certificate")
    error = await refusal(tls_options(server, Tls(ca_file=str(tmp_path / "ca.pem"))))
    assert isinstance(error, Unreachable)
    assert "TLS failed" in error.message


async def test_a_server_is_reached_by_tcp_and_by_unix_socket(server: RunningServer) -> None:
    mark(server)
    assert await read_marker(server.tcp_options) == b"here"
    assert await read_marker(server.options) == b"here"


async def test_the_database_of_the_options_is_read(server: RunningServer) -> None:
    mark(server)
    server.connect(db=3).xadd("marker", {"is": "in three"})
    for options in (server.options, server.tcp_options):
        assert await read_marker(replace(options, database=3)) == b"in three"
        assert await read_marker(options) == b"here"
