"""Every way to a server: TCP, unix socket, database, ACL user, TLS."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import SettingsError, Unreachable
from streamops.model.ids import LAST_ID, ZERO_ID
from streamops.wire.connect import connect_client
from streamops.wire.faults import Fault
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.reads import read_page
from streamops.wire.server import Server
from tests.deployments import Certificates
from tests.servers import RunningServer, StartServer
from tests.wire.refusals import PLANTED, refusal, with_password


async def read_marker(options: ConnectionOptions) -> bytes:
    """The value of the one entry of the stream ``marker``, read as the console reads entries."""
    server = await Server.connect(options)
    try:
        page = await read_page(server, "marker", ZERO_ID, LAST_ID, 10, newest_first=False)
    finally:
        await server.close()
    assert not isinstance(page, Fault)
    return page[0].fields[0][1]


def mark(server: RunningServer, value: str = "here") -> None:
    server.command("XADD", "marker", "*", "is", value)


async def test_tcp_and_unix_socket(server: RunningServer) -> None:
    mark(server)
    assert await read_marker(server.tcp_options) == b"here"
    assert await read_marker(server.options) == b"here"


async def test_host_by_name(any_server: RunningServer) -> None:
    mark(any_server)
    by_name = ConnectionOptions(addresses=(("localhost", any_server.port),), label="redis://localhost/0")
    assert await read_marker(by_name) == b"here"


async def test_database(server: RunningServer) -> None:
    mark(server)
    server.connect(db=3).xadd("marker", {"is": "in three"})
    for options in (server.options, server.tcp_options):
        assert await read_marker(replace(options, database=3)) == b"in three"
        assert await read_marker(options) == b"here"


async def test_user_and_password(start_server: StartServer) -> None:
    server = start_server()
    mark(server)
    server.command("ACL", "SETUSER", "default", "resetpass", f">{PLANTED}")
    server.command("ACL", "SETUSER", "observer", "on", ">öther", "~*", "+@all")
    for options in (server.options, server.tcp_options):
        assert await read_marker(with_password(options)) == b"here"
        assert await read_marker(replace(options, username="observer", password=Secret("öther"))) == b"here"


async def test_client_is_named(any_server: RunningServer) -> None:
    server = await Server.connect(replace(any_server.options, client_name="streamops-test"))
    names = [client["name"] for client in any_server.client.client_list()]
    await server.close()
    assert "streamops-test" in names


async def test_workers_client_speaks_the_same(any_server: RunningServer) -> None:
    async with connect_client(any_server.options) as client:
        added = await client.xadd("marker", {"is": "here"})
        assert await client.xrange("marker") == [(added, {b"is": b"here"})]


def tls_options(server: RunningServer, tls: Tls | None, host: str = "127.0.0.1") -> ConnectionOptions:
    return ConnectionOptions(addresses=((host, server.port),), tls=tls, label=f"rediss://{host}/0")


async def test_tls_with_client_certificate(tls_server: RunningServer, certificates: Certificates) -> None:
    mark(tls_server)
    for host in ("127.0.0.1", "localhost"):
        assert await read_marker(tls_options(tls_server, certificates.client_tls, host)) == b"here"


async def test_tls_without_client_certificate(tls_server: RunningServer, certificates: Certificates) -> None:
    error = await refusal(tls_options(tls_server, Tls(ca_file=str(certificates.ca_file))))
    assert isinstance(error, Unreachable)
    # Its alert may be lost in the server's hanging up.
    assert "certificate required" in error.message or "closed the connection" in error.message
    assert "`cert`" in error.hint


async def test_tls_by_another_authority(tls_server: RunningServer, certificates: Certificates) -> None:
    error = await refusal(
        with_password(
            tls_options(tls_server, replace(certificates.client_tls, ca_file=str(certificates.other_ca_file)))
        )
    )
    assert isinstance(error, Unreachable)
    assert "TLS failed" in error.message
    assert "`ca`" in error.hint


async def test_tls_unverified(tls_server: RunningServer, certificates: Certificates) -> None:
    mark(tls_server)
    other = replace(certificates.client_tls, ca_file=str(certificates.other_ca_file), verify=False)
    assert await read_marker(tls_options(tls_server, other)) == b"here"


async def test_tls_towards_a_plain_port(any_server: RunningServer, certificates: Certificates) -> None:
    impatient = replace(tls_options(any_server, certificates.client_tls), timeout=timedelta(milliseconds=200))
    error = await refusal(impatient)
    assert isinstance(error, Unreachable)
    assert "that the port speaks TLS" in error.hint


async def test_plain_towards_a_tls_port(tls_server: RunningServer) -> None:
    await refusal(tls_options(tls_server, None))


async def test_tls_file_that_is_not_there(any_server: RunningServer) -> None:
    with pytest.raises(SettingsError, match=r"/nonexistent/ca\.pem cannot be read: No such file"):
        await Server.connect(tls_options(any_server, Tls(ca_file="/nonexistent/ca.pem")))


async def test_tls_file_that_is_no_certificate(any_server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("not a certificate")
    error = await refusal(tls_options(any_server, Tls(ca_file=str(tmp_path / "ca.pem"))))
    assert isinstance(error, Unreachable)
    assert "TLS failed" in error.message


async def test_server_name_is_asked_for_and_checked(
    tls_server: RunningServer, certificates: Certificates
) -> None:
    """The certificate is for localhost and 127.0.0.1: any other name must fail, and the name replaces the host."""
    mark(tls_server)
    named = replace(certificates.client_tls, server_name="localhost")
    assert await read_marker(tls_options(tls_server, named, "127.0.0.1")) == b"here"
    error = await refusal(
        tls_options(tls_server, replace(certificates.client_tls, server_name="redis.example.org"))
    )
    assert isinstance(error, Unreachable)
    assert "TLS failed" in error.message
