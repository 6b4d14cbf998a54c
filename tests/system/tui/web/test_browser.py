"""The console in a real browser."""

import asyncio

import pytest
from aiohttp import web

from tests.support.servers import RunningServer
from tests.support.tui.web.chromium import CHROMIUM, chromium
from tests.support.tui.web.program import web_console

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

FOREIGN = """<!DOCTYPE html><title>waiting</title><script>
const socket = new WebSocket("ws://%s/ws?width=80&height=24");
socket.onopen = () => { document.title = "opened"; };
socket.onerror = () => { document.title = "refused"; };
</script>"""


async def test_a_group_is_found_and_a_plan_opens_and_is_refused(server: RunningServer) -> None:
    for stream in ("orders", "payments"):
        server.command("XGROUP", "CREATE", stream, "billing", "0", "MKSTREAM")
        server.command("XADD", stream, "1-1", "a", "1")
        server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", stream, ">")
    async with (
        web_console("--url", server.unix_url) as program,
        chromium() as browser,
        browser.page(program.url) as page,
    ):
        await page.shown("payments")
        assert await page.value("location.hash") == ""
        await page.type("/")
        await page.shown("!word")
        await page.type("payments billing")
        await page.press("Enter", 13)
        await page.shown("1 of 2")
        await page.type("C")
        await page.shown("Claim pending entries for another consumer")
        await page.type("worker-2")
        for field in ("Only entries of this consumer", "Only entries last delivered"):
            await page.press("ArrowDown", 40)
            await page.shown(field)
        await page.type("0s")
        await page.shown("0s")
        await page.press("Enter", 13)
        await page.shown("1 entry")
        plain = page.colour("[ Apply ]")
        await page.press("Tab", 9)
        await page.recoloured("[ Apply ]", plain)
        await page.press("Enter", 13)
        await page.shown("read-only: nothing is changed here")
        assert server.command("XPENDING", "payments", "billing")[3] == [[b"worker-1", b"1"]]
        # It asked nobody but the server.
        own = (program.origin, program.origin.replace("http", "ws"))
        assert [url for url in page.requests if not url.startswith(own)] == []
        assert "Content Security Policy" not in " ".join(page.console)
        assert "404" not in " ".join(page.console)
        await page.call("Page.reload")
        await page.shown("payments")


async def test_a_browser_that_copies_nothing_says_so(server: RunningServer) -> None:
    """The console only knows that it asked the terminal; without a window nobody may use the clipboard."""
    server.command("XADD", "orders", "1-1", "a", "1")
    async with (
        web_console("--url", server.unix_url) as program,
        chromium() as browser,
        browser.page(program.url) as page,
    ):
        await page.shown("orders")
        await page.type("y")
        await page.shown("copied by the terminal (OSC 52): orders")
        await page.told("Not copied")
        assert not [line for line in page.console if "Uncaught" in line]


async def test_strangers_are_turned_away(server: RunningServer) -> None:
    async with web_console("--url", server.unix_url) as program, chromium() as browser:
        async with browser.page(f"{program.origin}/#wrong") as page:
            await page.told("Wrong token")
            assert page.frames == 0
        async with browser.page(f"{program.origin.replace('127.0.0.1', 'localhost')}/") as page:
            await page.told("No token")
        async with foreign_page(program.origin.partition("//")[2]) as address, browser.page(address) as page:
            for _ in range(100):
                title = await page.value("document.title")
                if title in ("opened", "refused"):
                    break
                await asyncio.sleep(0.05)
            assert title == "refused"


class foreign_page:  # noqa: N801 - used as a function
    """A page of somebody else's that connects to an address."""

    def __init__(self, address: str) -> None:
        self._page = FOREIGN % address

    async def __aenter__(self) -> str:
        async def page(request: web.Request) -> web.Response:
            del request
            return web.Response(text=self._page, content_type="text/html")

        app = web.Application()
        app.router.add_get("/", page)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        return f"http://{host}:{port}/"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
