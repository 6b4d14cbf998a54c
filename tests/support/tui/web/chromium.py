"""A real Chromium, driven over its own debugging socket; what its terminal shows is read from the frames that it got."""

import asyncio
import base64
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pyte

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 20.0
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-port=0", "--window-size=1100,700",
)  # fmt: skip


class Page:
    """One tab.

    Attributes:
        requests: The addresses of everything it asked for.
        closes: Codes with which its connections were closed.
        console: What its scripts complained of.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        self.requests: list[str] = []
        self.console: list[str] = []
        self.frames = 0
        self._reading = asyncio.create_task(self._read())

    async def open(self, url: str) -> None:
        """Go to an address."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.call("Page.navigate", url=url)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Tell the browser something, and wait for its answer."""
        self._number += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._number] = answer
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        async with asyncio.timeout(PATIENCE):
            return await answer

    async def value(self, script: str) -> Any:  # noqa: ANN401 - whatever the script says
        """What a script comes to."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def type(self, text: str) -> None:
        """Type into the terminal."""
        for character in text:
            await self.call("Input.dispatchKeyEvent", type="char", text=character)

    async def press(self, key: str, code: int) -> None:
        """Press a key that is no character."""
        text = {"Enter": "\r"}.get(key)
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            await self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more
            )

    async def shown(self, words: str) -> None:
        """Wait until words stand in the terminal."""
        await self._until(lambda: words in self.text, lambda: f"{words!r} is not shown:\n{self.text}")

    async def told(self, words: str) -> None:
        """Wait until the page itself says something."""
        for _ in range(int(PATIENCE / 0.05)):
            notice = await self.value("document.getElementById('notice')?.textContent")
            if notice and words in notice:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{words!r} was not told, but {notice!r}")

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def colour(self, words: str) -> str:
        """The colour behind words that stand in the terminal."""
        row, line = next((row, line) for row, line in enumerate(self._screen.display) if words in line)
        return self._screen.buffer[row][line.index(words)].bg

    async def recoloured(self, words: str, before: str) -> None:
        """Wait until another colour is behind words."""
        await self._until(lambda: self.colour(words) != before, lambda: f"behind {words!r} is {before}")

    async def picture(self, path: Path) -> None:
        """Draw the tab into a file."""
        shot = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    async def _until(self, condition: Any, otherwise: Any) -> None:  # noqa: ANN401 - two lambdas
        end = asyncio.get_running_loop().time() + PATIENCE
        while not condition():
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(otherwise())
            await asyncio.sleep(0.05)

    async def _read(self) -> None:
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told.get("result", {}))
            else:
                self._take(told["method"], told["params"])

    def _take(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(params["url"])
            case "Network.webSocketFrameReceived" if params["response"]["opcode"] == 2:
                self.frames += 1
                self._stream.feed(base64.b64decode(params["response"]["payloadData"]))
            case "Network.webSocketFrameSent" if '"resize"' in params["response"]["payloadData"]:
                size = json.loads(params["response"]["payloadData"])[1]
                self._screen.resize(size["height"], size["width"])
            case "Log.entryAdded":
                self.console.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.console.append(json.dumps(params["exceptionDetails"])[:400])


@asynccontextmanager
async def chromium() -> AsyncIterator["Browser"]:
    """A browser with nothing in it; it ends on the way out."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            port = await _port(Path(profile))
            async with aiohttp.ClientSession() as session:
                yield Browser(session, port)
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            async with asyncio.timeout(PATIENCE):
                await process.wait()


class Browser:
    """A running browser."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._port = port

    @asynccontextmanager
    async def page(self, url: str) -> AsyncIterator[Page]:
        """A new tab at an address; it is closed on the way out."""
        address = f"http://127.0.0.1:{self._port}/json"
        async with self._session.put(f"{address}/new?about:blank") as answer:
            target = await answer.json(content_type=None)
        async with self._session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            page = Page(socket)
            try:
                await page.open(url)
                yield page
            finally:
                page._reading.cancel()
                with suppress(asyncio.CancelledError):
                    await page._reading
                async with self._session.get(f"{address}/close/{target['id']}"):
                    pass


async def _port(profile: Path) -> int:
    written = profile / "DevToolsActivePort"
    for _ in range(int(PATIENCE / 0.05)):
        with suppress(FileNotFoundError, IndexError, ValueError):
            return int(written.read_text().splitlines()[0])
        await asyncio.sleep(0.05)
    raise AssertionError("Chromium did not start")
