"""Every way to a server: TCP, unix socket, database, ACL user, TLS."""

from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.wire.options import Tls
from tests.support.deployments import Certificates
from tests.support.servers import RunningServer
from tests.support.wire.connect import mark, read_marker, tls_options
from tests.support.wire.refusals import refusal, with_password


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


async def test_a_certificate_of_another_authority_is_taken_where_nothing_is_verified(
    tls_server: RunningServer, certificates: Certificates
) -> None:
    mark(tls_server)
    other = replace(certificates.client_tls, ca_file=str(certificates.other_ca_file), verify=False)
    assert await read_marker(tls_options(tls_server, other)) == b"here"


async def test_plain_towards_a_tls_port(tls_server: RunningServer) -> None:
    await refusal(tls_options(tls_server, None))


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
