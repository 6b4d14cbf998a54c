"""Workers that whatever answers a URL counts and sets. Importing this imports aiohttp."""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

import streamops
from streamops.analysis.safe_text import encodable
from streamops.analysis.signing import SIGNATURE, sign
from streamops.errors import TargetError
from streamops.model.pools import PoolSize
from streamops.targets.specs import WebhookSpec
from streamops.targets.telling import MOST_BYTES, decode_size, one_line, require_done, require_expected
from streamops.targets.webhook_faults import refusal, transport_words

SUCCESS: Final = range(200, 300)
_CONNECT_SECONDS: Final = 5.0
_HINT: Final = "Ask the URL by hand, as with `curl -i`."


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Refusal(Struct):
    error: str


class WebhookTarget:
    """A URL: GET answers a number, or ``{"ordered": 3, "ready": 2}``; POST takes another one.

    What is posted is ``{"pool", "current", "desired", "reason", "decided_at"}``, with the ``Idempotency-Key`` of the
    decision, signed as callbacks are (a GET as one with an empty body). A receiver answers 409 or 412 where it has
    another number than ``current``. An ``ETag`` of the GET comes back as ``If-Match``. Redirections are not followed:
    what was signed goes to who was named.
    """

    kind: str = "webhook"

    def __init__(
        self,
        pool: str,
        spec: WebhookSpec,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - a signature names the time for the receiver
    ) -> None:
        parts = urlsplit(spec.url.reveal())
        # Without its path: that may be a secret.
        self.label = f"webhook {parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._pool = pool
        self._spec = spec
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._decided = ("", "")

    async def read(self) -> PoolSize:
        """As ``Target.read``."""
        answer = await self._ask("GET", b"", {})
        return self._size(answer)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:
        """As ``Target.resize``."""
        found = await self.read()
        require_expected(self.label, found, expected)
        body = msgspec.json.encode(
            {
                "pool": self._pool,
                "current": expected.ordered,
                "desired": workers,
                "reason": encodable(reason),
                "decided_at": self._decided_at(key),
            }
        )
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        if found.version:
            headers["If-Match"] = found.version
        answer = await self._ask("POST", body, headers)
        if answer.body.strip():
            # It need not answer anything; what it does answer is to be what was asked for.
            with suppress(ValueError):
                require_done(self.label, workers, decode_size(answer.body))

    async def close(self) -> None:
        """As ``Target.close``."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _decided_at(self, key: str) -> str:
        """When this decision was sent first: whoever compares bodies under one key must find them the same."""
        if self._decided[0] != key:
            now = datetime.fromtimestamp(self._clock(), UTC)
            self._decided = (key, now.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        return self._decided[1]

    async def _ask(self, method: str, body: bytes, headers: Mapping[str, str]) -> _Answer:
        limit = self._spec.timeout.total_seconds()
        unsure = "; whether it was done is not known" if method == "POST" else ""
        try:
            async with asyncio.timeout(limit):
                answer = await self._once(method, body, headers)
        except TimeoutError:
            problem = f"no whole answer within {limit:g} s{unsure}"
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Outside the handler's reach: aiohttp's own errors name the whole URL.
            problem = transport_words(error) + (
                "" if isinstance(error, aiohttp.ClientConnectorError) else unsure
            )
        else:
            if answer.status not in SUCCESS:
                raise refusal(self.label, answer.status, answer.headers, self._masked(answer.body))
            return answer
        raise TargetError(f"{self.label}: {problem}", _HINT, retryable=True)

    async def _once(self, method: str, body: bytes, headers: Mapping[str, str]) -> _Answer:
        session = await self._opened()
        async with session.request(
            method,
            self._spec.url.reveal(),
            data=body or None,
            headers={**self._headers(body, headers.get("Idempotency-Key", "")), **headers},
            allow_redirects=False,
        ) as response:
            return _Answer(response.status, response.headers, await _read(response.content))

    def _headers(self, body: bytes, key: str) -> dict[str, str]:
        headers = {
            "User-Agent": f"streamops/{streamops.__version__}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            **{name: value.reveal() for name, value in self._spec.headers.items()},
        }
        if self._spec.secret is not None:
            url = str(URL(self._spec.url.reveal()).with_fragment(None).with_user(None))
            seconds = int(self._clock())
            headers[SIGNATURE] = sign(self._spec.secret, seconds, body, url=url, topic=self._pool, key=key)
        return headers

    async def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            trust = await asyncio.to_thread(self._trust)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=trust),
                cookie_jar=aiohttp.DummyCookieJar(),
                # A few bytes can unpack to any number: answers are asked for as they are, and read so.
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            )
        return self._session

    def _trust(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._spec.ca or None)
        except OSError as error:
            why = error.strerror or "it holds no certificate"
        raise TargetError(f"{self.label}: cannot read {self._spec.ca}: {why}", "Correct `ca` of the pool.")

    def _size(self, answer: _Answer) -> PoolSize:
        try:
            return decode_size(answer.body, _strong(answer.headers.get("ETag", "")))
        except ValueError as error:
            raise TargetError(f"{self.label}: answered {error}", _HINT) from None

    def _masked(self, body: bytes) -> str:
        """What an answer of ``{"error": "..."}`` says, without what only we and the receiver know."""
        try:
            said = msgspec.json.decode(body, type=_Refusal).error
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""
        spec = self._spec
        known = [spec.url, *spec.headers.values(), *([spec.secret] if spec.secret else [])]
        parts = urlsplit(spec.url.reveal())
        return one_line(said, [parts.path, parts.query, *(secret.reveal() for secret in known)])


def _strong(tag: str) -> str:
    """An entity tag that If-Match can be asked with: weak ones never match."""
    return "" if tag.startswith("W/") else tag


async def _read(content: aiohttp.StreamReader) -> bytes:
    """A body, up to a byte more than is taken; what is too long is no number."""
    parts = bytearray()
    while len(parts) <= MOST_BYTES and (part := await content.read(MOST_BYTES + 1 - len(parts))):
        parts += part
    return bytes(parts)
