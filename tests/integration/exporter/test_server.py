"""What the exporter answers over HTTP. On real servers."""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
import structlog
from aiohttp import web
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families

from streamops.errors import SettingsError
from streamops.exporter import scraper as scraper_module
from streamops.exporter import server as server_module
from streamops.exporter.server import read_deadline
from streamops.exporter.targets import ScrapeTargets
from streamops.model.json_text import encode
from streamops.monitor.observe import fold_retries
from streamops.operations.console import Console
from streamops.resources.status import status_document
from streamops.service.authentication import Authentication
from streamops.service.listening import bind, listening
from tests.support.eventually import eventually
from tests.support.exporter.serving import OPENMETRICS, Exporter, exporting, grow_old
from tests.support.servers import RunningServer, StartServer

HURRIED = {"X-Prometheus-Scrape-Timeout-Seconds": "0.2"}


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age when a test says so, and not by themselves."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 60.0)


@pytest.fixture
async def exporter(server: RunningServer) -> AsyncIterator[Exporter]:
    server.command("XADD", "orders", "1-1", "a", "b")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    async with exporting(server) as running:
        yield running


async def test_metrics_are_told_as_prometheus_text(exporter: Exporter) -> None:
    answer = await exporter.get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {family.name for family in text_string_to_metric_families(answer.text)}
    assert {"streamops_up", "streamops_stream_length", "process_cpu_seconds", "python_info"} <= names
    assert answer.value('streamops_stream_length{db="0",stream="orders"}') == 1


async def test_metrics_are_told_as_openmetrics_to_who_asks_for_it(exporter: Exporter) -> None:
    answer = await exporter.get("/metrics", headers=OPENMETRICS)
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.text.endswith("\n# EOF\n")
    assert answer.text.count("# EOF") == 1
    names = {family.name for family in openmetrics_parser.text_string_to_metric_families(answer.text)}  # type: ignore[no-untyped-call]
    assert {"streamops_up", "streamops_stream_length", "process_cpu_seconds", "python_info"} <= names


@pytest.mark.parametrize("headers", [{}, OPENMETRICS], ids=["text", "openmetrics"])
async def test_gzip_is_the_same_page(exporter: Exporter, headers: dict[str, str]) -> None:
    asked = {**headers, "Accept-Encoding": "gzip"}
    for _ in range(2):
        async with exporter.session.get(
            f"http://localhost:{exporter.port}/metrics", headers=asked, auto_decompress=False
        ) as response:
            packed = await response.read()
        assert response.headers["Content-Encoding"] == "gzip"
        assert int(response.headers["Content-Length"]) == len(packed)
        plain = await exporter.get("/metrics", headers={**headers, "Accept-Encoding": "identity"})
        assert "Content-Encoding" not in plain.headers

        def ours(text: str) -> list[str]:
            return [line for line in text.splitlines() if line.startswith(("streamops", "# EOF"))]

        assert ours(gzip.decompress(packed).decode()) == ours(plain.text)


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("br, GZIP;q=0.5", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", None),
        ("deflate, gzip; q=0.000, *", None),
        ("", None),
    ],
)
async def test_gzip_is_sent_to_whoever_takes_it(
    exporter: Exporter, accepted: str, encoding: str | None
) -> None:
    async with exporter.session.get(
        f"http://localhost:{exporter.port}/metrics", headers={"Accept-Encoding": accepted}
    ) as response:
        assert response.headers.get("Content-Encoding") == encoding


async def test_head_has_no_body(exporter: Exporter) -> None:
    for path in ("/metrics", "/api/v1/status", "/", "/-/healthy"):
        head = await exporter.get(path, "HEAD")
        assert (head.status, head.text) == (200, "")
        assert int(head.headers["Content-Length"]) > 0
    assert (await exporter.get("/metrics")).status == 200


async def test_other_paths_and_methods_are_refused(exporter: Exporter) -> None:
    assert (await exporter.get("/nothing")).status == 404
    assert (await exporter.get("/metrics", "POST")).status == 405
    assert (await exporter.get("/metrics", "DELETE")).headers["Allow"] == "GET,HEAD"


async def test_the_exporter_is_healthy_at_once_and_ready_once_it_has_read(exporter: Exporter) -> None:
    assert (await exporter.get("/-/healthy")).text == "healthy\n"
    await eventually(lambda: exporter.scraper.page is not None)
    assert (await exporter.get("/-/ready")).text == "ready\n"


async def test_the_status_document_is_that_of_the_command_line(exporter: Exporter) -> None:
    answer = await exporter.get("/api/v1/status")
    assert answer.headers["Content-Type"].startswith("application/json")
    document = json.loads(answer.text)
    assert document["schema"] == "streamops.status/1"
    (stream,) = document["streams"]
    assert (stream["stream"], stream["length"]) == ("orders", 1)
    assert stream["groups"][0]["lag"]["entries"] == 1


async def test_the_status_document_says_what_any_console_says(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-1", "a", "b")
    server.command("XADD", "orders", "1-2", "a", "b")
    server.command("XGROUP", "CREATE", "orders", "billing", "1-1")
    async with exporting(server) as running, await Console.open(server.options) as console:
        told = json.loads((await running.get("/api/v1/status")).text)
        await console.discover()
        expected = json.loads(encode(status_document(await console.observe())))
    for document in (told, expected):
        del document["collected_at"]
        # A deep reading leaves the last entry out.
        assert document["streams"][0].pop("last_id") in (None, "1-2")
    assert told == expected


async def test_retries_are_told_with_their_groups(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM")
    server.command("XGROUP", "CREATE", "{orders}:retry:billing", "billing", "0", "MKSTREAM")
    async with exporting(server) as running:
        document = json.loads((await running.get("/api/v1/status")).text)
        page = running.scraper.page
        assert page is not None
        assert page.reading.observation is not None
        assert len(page.reading.observation.streams) == 2
        assert len(fold_retries(page.reading.observation.streams)) == 1
        assert [stream["stream"] for stream in document["streams"]] == ["orders"]


async def test_a_server_that_answers_after_the_deadline(start_server: StartServer) -> None:
    server = start_server()
    server.command("XADD", "orders", "1-1", "a", "b")
    async with exporting(server) as running:
        first = await running.get("/metrics")
        grow_old(running.scraper)
        server.pause()
        late = await running.get("/metrics", headers=HURRIED)
        name = "streamops_snapshot_timestamp_seconds"
        assert late.value("streamops_up") == 0
        assert "streamops_stream_length" not in late.text
        # What this process says of itself is of the moment all the same.
        assert late.value("process_cpu_seconds_total") >= first.value("process_cpu_seconds_total")
        probes = await asyncio.gather(*(running.get("/metrics", headers=HURRIED) for _ in range(20)))
        assert {probe.value("streamops_up") for probe in probes} == {0}
        assert (await running.get("/api/v1/status", headers=HURRIED)).status == 503
        server.resume()
        await eventually(lambda: not running.scraper.busy)
        assert (await running.get("/metrics")).value(name) > first.value(name)


async def test_not_ready_before_the_first_collection(start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    async with exporting(server) as running:
        assert (await running.get("/-/ready")).status == 503
        assert (await running.get("/-/healthy")).status == 200
        assert (await running.get("/metrics", headers=HURRIED)).value("streamops_up") == 0
        assert (await running.get("/api/v1/status", headers=HURRIED)).status == 503
        server.resume()
        await eventually(lambda: running.scraper.page is not None)
        assert (await running.get("/-/ready")).status == 200


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 400, "say which context"),
        ("?target=", 400, "say which context"),
        ("?target=here&target=other", 400, "say which context"),
        ("?target=nowhere", 404, "Known contexts: here"),
        ("?target=redis://127.0.0.1:6379/0", 404, "no context of that name"),
        ("?target=127.0.0.1:6379", 404, "no context of that name"),
        ("?target=%3Cscript%3E", 404, "no context of that name"),
    ],
)
async def test_only_contexts_are_probed(exporter: Exporter, query: str, status: int, words: str) -> None:
    answer = await exporter.get(f"/probe{query}")
    assert (answer.status, words in answer.text) == (status, True)
    assert "script" not in answer.text
    assert answer.headers["Content-Type"].startswith("text/plain")


async def test_a_configuration_that_is_broken_meanwhile(server: RunningServer) -> None:
    async with exporting(server) as running:

        def names() -> list[str]:
            raise SettingsError("config.toml: not TOML", "See its syntax.")

        running.targets._names = names
        answer = await running.get("/probe?target=other")
        assert (answer.status, answer.text) == (500, "config.toml: not TOML\nSee its syntax.\n")
        assert (await running.get("/metrics")).status == 200


async def test_a_bug_is_no_traceback(exporter: Exporter) -> None:
    def names() -> list[str]:
        raise RuntimeError("a secret place")

    exporter.targets._names = names
    answer = await exporter.get("/probe?target=other")
    assert answer.status == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("10", 9.5),
        ("10.0", 9.5),
        ("1", 0.5),
        ("0.6", 0.3),
        ("0.2", 0.1),
        ("1e9", 600.0),
        ("", None),
        ("0", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("ten", None),
        ("1,5", None),
        (None, None),
    ],
)
def test_the_deadline_comes_from_prometheus(header: str | None, seconds: float | None) -> None:
    found = read_deadline(header)
    assert (None if found is None else found.total_seconds()) == seconds


async def test_headers_are_safe(exporter: Exporter) -> None:
    for path in ("/", "/metrics", "/nothing"):
        headers = (await exporter.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Server"] == "streamops"


def rude(port: int, words: bytes) -> socket.socket:
    """A client that sends and then does nothing."""
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(words)
    return client


async def test_clients_that_do_nothing_keep_nobody_waiting(exporter: Exporter) -> None:
    words = [
        b"",
        b"GET /metrics HT",
        b"\x16\x03\x01",
        b"\0" * 100,
        b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
    clients = [rude(exporter.port, word) for word in words for _ in range(5)]
    try:
        assert (await exporter.get("/metrics")).status == 200
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize(
    "words",
    [
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n",
    ],
    ids=["version", "long path", "many headers", "two lengths", "second request"],
)
async def test_who_speaks_no_http_fills_no_log(
    exporter: Exporter, words: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", exporter.port)
    writer.write(words)
    async with asyncio.timeout(20):
        assert b" 400 Bad Request\r\n" in await reader.read()
    writer.close()
    assert [record.getMessage() for record in caplog.records] == []
    assert (await exporter.get("/-/healthy")).status == 200


async def test_a_client_that_goes_away_fills_no_log(
    start_server: StartServer, caplog: pytest.LogCaptureFixture
) -> None:
    server = start_server()
    with structlog.testing.capture_logs() as logs:
        await leave_while_it_is_read(server)
    assert [record.getMessage() for record in caplog.records] == []
    assert logs == []


async def leave_while_it_is_read(server: RunningServer) -> None:
    async with exporting(server) as running:
        await running.get("/metrics")
        grow_old(running.scraper)
        server.pause()
        with closing(rude(running.port, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")):
            await eventually(lambda: running.scraper.busy)
        assert (await running.get("/-/healthy")).status == 200
        server.resume()
        # Its answer is tried before that of whoever asks after it.
        assert (await running.get("/metrics")).value("streamops_up") == 1


async def test_a_client_that_does_not_read_holds_a_piece_and_loses_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "READ_SECONDS", 0.1)
    held: list[int] = []
    ended = asyncio.Event()

    async def page(request: web.Request) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        task = asyncio.create_task(server_module.send(request, b"x" * (64 << 20), {}))
        await eventually(lambda: transport.get_write_buffer_size() > 0)
        for _ in range(100):
            await asyncio.sleep(0)
        held.append(transport.get_write_buffer_size())
        response = await task
        ended.set()
        return response

    app = web.Application()
    app.router.add_get("/", page)
    async with listening(app, "127.0.0.1", 0, Authentication(None)) as port:
        with closing(rude(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")):
            async with asyncio.timeout(20):
                await ended.wait()
    assert 0 < held[0] <= 4 * server_module.PIECE


async def test_what_is_under_way_is_waited_for_once_and_not_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops this process kills it after a while."""
    monkeypatch.setattr("streamops.service.listening.GRACE_SECONDS", 0.1)
    begun = asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("it was waited for")

    app = web.Application()
    app.router.add_get("/", slow)
    async with listening(app, "127.0.0.1", 0, Authentication(None)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
    async with asyncio.timeout(20):
        assert await reader.read() == b""
    writer.close()


def test_an_address_that_is_taken() -> None:
    with closing(bind("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(SettingsError, match="Address already in use") as failure:
            bind("127.0.0.1", port)
    assert "--listen" in failure.value.hint


async def test_targets_are_closed_when_nobody_asks(server: RunningServer) -> None:
    async with exporting(server, contexts={"other": server}) as running:
        targets: ScrapeTargets = running.targets
        await running.get("/probe?target=other")
        kept = await targets.find("other")
        await targets._close_unused(kept.used_at - 1)
        assert await targets.find("other") is kept
        await targets._close_unused(kept.used_at + 1)
        assert await targets.find("other") is not kept
        assert (await running.get("/probe?target=other")).value("streamops_up") == 1


async def test_a_target_that_is_being_read_is_kept(start_server: StartServer) -> None:
    server = start_server()
    async with exporting(server, contexts={"other": server}) as running:
        server.pause()
        await running.get("/probe?target=other", headers=HURRIED)
        kept = await running.targets.find("other")
        assert kept.busy
        await running.targets._close_unused(kept.used_at + 1)
        assert await running.targets.find("other") is kept
        server.resume()
        await eventually(lambda: not kept.busy)


async def test_targets_are_bounded(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamops.exporter.targets.MOST", 2)
    contexts = dict.fromkeys("abc", server)
    async with exporting(server, contexts=contexts) as running:
        for name in "abca":
            assert (await running.get(f"/probe?target={name}")).status == 200
        assert sorted(running.targets._scrapers) == ["a", "c"]


async def test_targets_are_bounded_for_all_who_come_at_once(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.exporter.targets.MOST", 2)
    contexts = dict.fromkeys("abcde", server)
    async with exporting(server, contexts=contexts) as running:
        for name in "ab":
            await running.get(f"/probe?target={name}")
        await asyncio.gather(*(running.targets.find(name) for name in "cde"))
        assert len(running.targets._scrapers) == 2


async def test_more_targets_than_can_be_busy_at_once(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.exporter.targets.MOST", 2)
    server = start_server()
    async with exporting(server, contexts=dict.fromkeys("abc", server)) as running:
        server.pause()
        await asyncio.gather(*(running.get(f"/probe?target={name}", headers=HURRIED) for name in "ab"))
        refused = await running.get("/probe?target=c", headers=HURRIED)
        assert (refused.status, "too many targets" in refused.text) == (503, True)
        server.resume()


async def test_a_page_names_nothing_that_could_run(server: RunningServer) -> None:
    evil = "<script>alert('x')</script>"
    async with exporting(server, contexts={evil: server}) as running:
        page = await running.get("/")
        assert "<script" not in page.text
        assert "&lt;script&gt;" in page.text
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert (await running.get("/probe", params={"target": evil})).status == 200
