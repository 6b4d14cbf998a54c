"""TLS, client certificates, passwords and rate limits by a web-config file that changes while the server runs."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import bcrypt
import pytest
import structlog
import trustme

from streamops.errors import SettingsError
from streamops.exporter import scraper as scraper_module
from streamops.service.authentication import Authentication
from tests.support.exporter.serving import Answer, Exporter, exporting
from tests.support.servers import RunningServer

PATHS = ("/", "/metrics", "/probe?target=here", "/api/v1/status", "/-/healthy", "/-/ready", "/nothing")
ALICE = {"Authorization": aiohttp.encode_basic_auth("alice", "her secret")}
BOB = {"Authorization": aiohttp.encode_basic_auth("bob", "his secret")}
TLS = "tls_server_config: {cert_file: server.pem, key_file: server.key"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages never age: what is read is not the matter here."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 60.0)


class Place:
    """A directory with a web-config file, and an authority whose certificates lie beside it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "web.yml"
        self.authority = trustme.CA()
        self.authority.cert_pem.write_to_path(directory / "ca.pem")
        self.renew()

    def write(self, text: str) -> Path:
        """Write the web-config file."""
        self.file.write_text(text)
        return self.file

    def renew(self, authority: trustme.CA | None = None) -> None:
        """Issue another certificate for the server."""
        issued = (authority or self.authority).issue_cert("localhost", "127.0.0.1")
        issued.private_key_pem.write_to_path(self.directory / "server.key")
        issued.cert_chain_pems[0].write_to_path(self.directory / "server.pem")

    def client(
        self, *names: str, of: trustme.CA | None = None, most: ssl.TLSVersion | None = None
    ) -> ssl.SSLContext:
        """What a client speaks TLS with; with a certificate where it is given names."""
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        if names:
            (of or self.authority).issue_cert(*names).configure_cert(context)
        if most is not None:
            context.maximum_version = most
        return context


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def users(**passwords: str) -> str:
    """A ``basic_auth_users`` of such users."""
    rows = [
        f'  {name}: "{bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()}"'
        for name, password in passwords.items()
    ]
    return "\n".join(["basic_auth_users:", *rows, ""])


@asynccontextmanager
async def serving_by(server: RunningServer, file: Path) -> AsyncIterator[Exporter]:
    async with exporting(server, web_config=file) as running:
        await running.scraper.scrape()
        yield running


async def tls_get(
    running: Exporter, context: ssl.SSLContext, path: str = "/-/healthy", **given: Any
) -> Answer:
    """Ask by a connection of its own."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context), timeout=aiohttp.ClientTimeout(total=20)
    ) as session:
        return await running._replace(session=session).get(path, scheme="https", **given)


async def certificate_of(running: Exporter, context: ssl.SSLContext) -> Mapping[str, Any]:
    _, writer = await asyncio.open_connection("localhost", running.port, ssl=context)
    found: Mapping[str, Any] = writer.get_extra_info("peercert")
    writer.close()
    await writer.wait_closed()
    return found


REFUSED = (aiohttp.ClientError, ConnectionError, ssl.SSLError)


async def test_a_password_is_asked_for_on_every_path(server: RunningServer, place: Place) -> None:
    async with serving_by(server, place.write(users(alice="her secret"))) as running:
        for path in PATHS:
            refused = await running.get(path)
            assert (refused.status, refused.text) == (401, "Unauthorized\n")
            assert refused.headers["WWW-Authenticate"].startswith("Basic")
            assert (await running.get(path, headers=BOB)).status == 401
            assert (await running.get(path, headers=ALICE)).status == (404 if path == "/nothing" else 200)
        assert (await running.get("/metrics", "POST")).status == 401


async def test_an_exporter_with_tls_answers_https_and_refuses_http(
    server: RunningServer, place: Place
) -> None:
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        answer = await tls_get(running, place.client(), "/metrics")
        assert (answer.status, answer.value("streamops_up")) == (200, 1)
        with pytest.raises(REFUSED):
            await running.get("/metrics")
        with pytest.raises(REFUSED):
            await tls_get(running, ssl.create_default_context())


async def test_client_certificates(server: RunningServer, place: Place) -> None:
    wanted = f"{TLS}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert}}"
    async with serving_by(server, place.write(wanted)) as running:
        assert (await tls_get(running, place.client("prometheus.example.net"))).status == 200
        with pytest.raises(REFUSED):
            await tls_get(running, place.client())
        with pytest.raises(REFUSED):
            await tls_get(running, place.client("prometheus.example.net", of=trustme.CA()))


async def test_users_change_while_it_runs(server: RunningServer, place: Place) -> None:
    async with serving_by(server, place.write(users(alice="her secret"))) as running:
        assert (await running.get("/-/healthy", headers=ALICE)).status == 200
        place.write(users(bob="his secret"))
        assert (await running.get("/-/healthy", headers=ALICE)).status == 401
        assert (await running.get("/-/healthy", headers=BOB)).status == 200
        place.write("")
        assert (await running.get("/-/healthy")).status == 200


async def test_certificates_change_while_it_runs(server: RunningServer, place: Place) -> None:
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        context = place.client()
        first = await certificate_of(running, context)
        place.renew()
        second = await certificate_of(running, context)
        assert first["serialNumber"] != second["serialNumber"]


async def test_a_connection_that_is_kept_open_moves_to_the_new_certificate(
    server: RunningServer, place: Place
) -> None:
    """Without an error to the client."""
    made: list[object] = []
    trace = aiohttp.TraceConfig()

    async def note(_: object, __: object, connection: object) -> None:
        made.append(connection)

    trace.on_connection_create_end.append(note)
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        connector = aiohttp.TCPConnector(ssl=place.client(), limit=1)
        async with aiohttp.ClientSession(connector=connector, trace_configs=[trace]) as session:
            kept = running._replace(session=session)
            for connections in (1, 2):
                for _ in range(2):
                    assert (await kept.get("/-/healthy", scheme="https")).status == 200
                assert len(made) == connections
                place.renew()


@pytest.mark.parametrize(("before", "after"), [("", f"{TLS}}}"), (f"{TLS}}}", "")], ids=["added", "removed"])
async def test_tls_that_is_added_or_removed_while_it_runs_waits_for_a_restart(
    server: RunningServer, place: Place, before: str, after: str
) -> None:
    async with serving_by(server, place.write(before)) as running:
        with structlog.testing.capture_logs() as logs:
            place.write(after)
            for _ in range(2):
                served = running.get("/-/healthy") if after else tls_get(running, place.client())
                assert (await served).status == 200
        (line,) = logs
        assert line["problem"].endswith("adding or removing tls_server_config needs a restart")


async def test_a_connection_without_a_certificate_ends_once_one_is_asked_for(
    server: RunningServer, place: Place
) -> None:
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        context = place.client()
        reader, writer = await asyncio.open_connection("localhost", running.port, ssl=context)
        request = b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n"
        writer.write(request)
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\nhealthy\n")
        place.write(f"{TLS}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert}}")
        writer.write(request)
        assert await _rest(reader) == b""
        writer.close()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(20):
            return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize(
    "broken",
    ["basic_auth_users: [", "tls_server_config: {cert_file: gone.pem, key_file: server.key}", None],
    ids=["malformed", "without its certificate", "vanished"],
)
async def test_what_cannot_be_understood_changes_nothing(
    server: RunningServer, place: Place, broken: str | None
) -> None:
    async with serving_by(server, place.write(users(alice="her secret"))) as running:
        with structlog.testing.capture_logs() as logs:
            if broken is None:
                place.file.unlink()
            else:
                place.write(broken)
            for _ in range(3):
                assert (await running.get("/-/healthy")).status == 401
                assert (await running.get("/-/healthy", headers=ALICE)).status == 200
        (line,) = logs
        assert "stays in force" in line["event"]
        assert line["problem"].startswith(str(place.file))
        place.write(users(bob="his secret"))
        assert (await running.get("/-/healthy", headers=BOB)).status == 200


async def test_a_certificate_that_comes_later_is_noticed(server: RunningServer, place: Place) -> None:
    """The web-config file itself does not change then."""
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        first = await certificate_of(running, place.client())
        place.write(f"{TLS.replace('server.pem', 'later.pem').replace('server.key', 'later.key')}}}")
        assert await certificate_of(running, place.client()) == first
        place.renew()
        for kind in ("key", "pem"):
            (place.directory / f"server.{kind}").rename(place.directory / f"later.{kind}")
        assert await certificate_of(running, place.client()) != first


async def test_a_half_renewed_certificate_waits_for_the_other_half(
    server: RunningServer, place: Place
) -> None:
    async with serving_by(server, place.write(f"{TLS}}}")) as running:
        context = place.client()
        first = await certificate_of(running, context)
        issued = place.authority.issue_cert("localhost")
        issued.private_key_pem.write_to_path(place.directory / "server.key")
        assert (await certificate_of(running, context))["serialNumber"] == first["serialNumber"]
        issued.cert_chain_pems[0].write_to_path(place.directory / "server.pem")
        assert (await certificate_of(running, context))["serialNumber"] != first["serialNumber"]


def test_at_the_start_a_broken_file_is_an_error(place: Place) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        Authentication(place.directory / "missing.yml")
    with pytest.raises(SettingsError, match="not YAML"):
        Authentication(place.write("a: ["))
    with pytest.raises(SettingsError, match=r"cannot read .*gone\.pem"):
        Authentication(place.write("tls_server_config: {cert_file: gone.pem, key_file: server.key}"))
