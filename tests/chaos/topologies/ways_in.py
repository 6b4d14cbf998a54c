"""Ways to a server: a socket, a user with the printed rules, TLS with certificates on both sides."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.secret import Secret
from streamops.resources.acl import STREAM, AclRole, acl_rules
from streamops.wire.options import ConnectionOptions
from tests.support.deployments import Certificates
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartError

PASSWORD: Final = "right"  # noqa: S105 - of a server that lives for a test


class Way(Struct, frozen=True):
    """A way to a server.

    Attributes:
        server: The server.
        operator: How an operator reaches it.
        worker: How a worker does.
    """

    server: RunningServer
    operator: ConnectionOptions
    worker: ConnectionOptions


@asynccontextmanager
async def by_socket(program: ServerProgram, _: Certificates) -> AsyncIterator[Way]:
    """By its unix socket, as users that may do what `doctor --acl` prints and nothing more."""
    with RunningServer(program) as server:
        yield as_users(server, server.patient_options)


@asynccontextmanager
async def by_tls(program: ServerProgram, certificates: Certificates) -> AsyncIterator[Way]:
    """By TLS, with a certificate of the client's, as such users; in front of servers that were built without it."""
    async with AsyncExitStack() as stack:
        try:
            server = stack.enter_context(RunningServer(program, *certificates.server_args, tls=True))
            port = server.port
        except StartError:
            server = stack.enter_context(RunningServer(program))
            port = await stack.enter_async_context(tls_front(server, certificates))
        options = ConnectionOptions(
            addresses=(("localhost", port),),
            tls=certificates.client_tls,
            label=f"rediss://localhost:{port}/0",
        )
        yield as_users(server, options)


def as_users(server: RunningServer, options: ConnectionOptions) -> Way:
    """Make the users, and turn everybody else away."""
    for role in (AclRole.OPERATOR, AclRole.RUNTIME):
        rules = acl_rules(role)
        text = rules.rules_6_2 if server.program.version < (7,) else rules.rules
        words = text.replace(STREAM, "orders").split()
        server.command("ACL", "SETUSER", role.value, "reset", "on", f">{PASSWORD}", *words)
    # Connections of before keep their rights: ours of the socket are there.
    server.client.ping()
    server.command("ACL", "SETUSER", "default", "resetpass", ">other")
    operator, worker = (
        replace(options, username=role.value, password=Secret(PASSWORD))
        for role in (AclRole.OPERATOR, AclRole.RUNTIME)
    )
    return Way(server, operator, worker)


@asynccontextmanager
async def tls_front(server: RunningServer, certificates: Certificates) -> AsyncIterator[int]:
    """What ends TLS in front of a server that has none, and asks for certificates; its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.ca_file))
    context.load_cert_chain(certificates.server_certificate_file, certificates.server_key_file)
    context.verify_mode = ssl.CERT_REQUIRED

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(server.socket_path))
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    front = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)
    try:
        yield front.sockets[0].getsockname()[1]
    finally:
        front.close()
        await front.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes, until it ends."""
    with suppress(OSError, ssl.SSLError):
        while part := await reader.read(1 << 16):
            writer.write(part)
            await writer.drain()
    with suppress(OSError, ssl.SSLError):
        writer.close()
        await writer.wait_closed()
