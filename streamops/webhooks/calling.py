"""Calling URLs: one session with kept connections, every call bounded in time, size and reach.

Importing this imports aiohttp; modules that do not call must not.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from types import TracebackType
from typing import Final, Self
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

import streamops
from streamops.model.topics import Topic
from streamops.service.addresses import as_address
from streamops.webhooks.messages import Answer, WebhookMessage
from streamops.webhooks.reach import Reach
from streamops.webhooks.signing import SIGNATURE, sign

KEPT_METHOD: Final = frozenset({307, 308})
"""Redirections that repeat the call as it was; the others would turn it into another."""

MOST_REDIRECTS: Final = 3
CHUNK: Final = 64 * 1024

Origin = tuple[str, str, int | None]


class CallError(Exception):
    """A call that brought no answer.

    Attributes:
        reason: Why, in words without anything secret.
        troubled: Whether that speaks of a host in trouble, rather than of this call.
    """

    def __init__(self, reason: str, *, troubled: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.troubled = troubled


class CallerOptions(Struct, frozen=True):
    """How calls are bounded.

    Attributes:
        most_answer: Bytes of an answer that are read at most.
        connect: The longest that connecting may take.
        connections: Connections at most, to all hosts together.
        keep: How long a connection that is not used is kept.
    """

    most_answer: int = 1024 * 1024
    connect: timedelta = timedelta(seconds=10)
    connections: int = 1000
    keep: timedelta = timedelta(seconds=30)


class Caller:
    """Calls topics' URLs over one session; ``async with`` opens and closes it."""

    def __init__(
        self,
        reach: Reach,
        options: CallerOptions = CallerOptions(),  # noqa: B008 - frozen
        clock: Callable[[], float] = time.time,  # noqa: TID251 - a signature names the time for the receiver
    ) -> None:
        self._reach = reach
        self._options = options
        self._clock = clock
        self._opened: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        options = self._options
        connector = aiohttp.TCPConnector(
            limit=options.connections,
            resolver=_GuardedResolver(self._reach),
            ttl_dns_cache=30,
            keepalive_timeout=options.keep.total_seconds(),
        )
        async with AsyncExitStack() as stack:
            self._session = await stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    # A few bytes can unpack to any number: answers are asked for as they are, and read so.
                    auto_decompress=False,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=options.connect.total_seconds()),
                )
            )
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.aclose()

    async def call(self, topic: Topic, message: WebhookMessage) -> Answer:
        """Send a message to its topic's URL, and read the answer.

        Raises:
            CallError: There was none, or none in time.
        """
        host = _host(topic.url)
        if why := self._reach.refuses_host(host):
            raise CallError(why, troubled=False)
        limit = topic.time_to_run.total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await self._follow(topic, message)
        except aiohttp.ConnectionTimeoutError:
            connect = self._options.connect.total_seconds()
            problem = CallError(f"{host}: cannot connect within {connect:g} s", troubled=True)
        except TimeoutError:
            # Outside the handler's reach: aiohttp's own errors name the whole URL.
            problem = CallError(f"{host}: no whole answer within {limit:g} s", troubled=True)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            problem = CallError(f"{host}: {_words(error)}", troubled=not _is_refusal(error))
        raise problem

    async def _follow(self, topic: Topic, message: WebhookMessage) -> Answer:
        url = topic.url
        for _ in range(MOST_REDIRECTS):
            headers = self._headers(topic, message, url)
            answer, location = await self._once(topic.method, url, headers, message.body)
            if answer.status not in KEPT_METHOD or not location:
                return answer
            target = urljoin(url, location)
            if _origin(target) != _origin(url):
                return answer
            url = target
        return answer

    async def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Answer, str | None]:
        async with self._session.request(
            method, url, headers=headers, data=body, allow_redirects=False
        ) as response:
            content, whole = await _read(response.content, self._options.most_answer)
            if not whole:
                # The rest of the answer is not read: the connection cannot be used again.
                response.close()
            answer = Answer(response.status, tuple(response.headers.items()), content, whole)
            return answer, response.headers.get("Location")

    def _headers(self, topic: Topic, message: WebhookMessage, url: str) -> dict[str, str]:
        headers = {
            "User-Agent": f"streamops/{streamops.__version__}",
            "Accept": "application/json, */*;q=0.5",
            **dict(topic.headers),
            "Accept-Encoding": "identity",
            "Content-Type": message.content_type,
            "Idempotency-Key": message.origin_id,
            "X-Streamops-Id": message.id,
            "X-Streamops-Topic": topic.name,
            "X-Streamops-Attempt": str(message.attempt),
        }
        if topic.secret is not None:
            headers[SIGNATURE] = sign(
                topic.secret,
                int(self._clock()),
                message.body,
                url=str(URL(url).with_fragment(None).with_user(None)),
                topic=topic.name,
                key=message.origin_id,
                ident=message.id,
            )
        return headers


class _RefusedHostError(OSError):
    """A host that may not be called."""


class _GuardedResolver(AbstractResolver):
    """Resolves names, and refuses addresses that may not be called: what a name says now, it may not say later."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name that may be called; raises ``OSError`` if there is none."""
        found = await self._resolver.resolve(host, port, family)
        refusals = [self._refusal(one["host"], host) for one in found]
        if allowed := [one for one, why in zip(found, refusals, strict=True) if not why]:
            return allowed
        raise _RefusedHostError(None, refusals[0] if refusals else "no address")

    async def close(self) -> None:
        """Nothing is held."""
        await self._resolver.close()

    def _refusal(self, address: str, host: str) -> str:
        parsed = as_address(address)
        return self._reach.refuses_address(parsed, host) if parsed else f"{host} has no address"


async def _read(content: aiohttp.StreamReader, most: int) -> tuple[bytes, bool]:
    """At most this many bytes, and whether that is all."""
    parts: list[bytes] = []
    size = 0
    while size <= most:
        part = await content.read(CHUNK)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        size += len(part)
    return b"".join(parts)[:most], False


def _host(url: str) -> str:
    """The host of a URL as aiohttp will call it: two readers of one URL may find two hosts in it."""
    try:
        return URL(url).raw_host or ""
    except ValueError:
        raise CallError("its URL is none", troubled=False) from None


def _origin(url: str) -> Origin:
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    return parts.scheme, parts.hostname or "", parts.port or default


def _is_refusal(error: BaseException) -> bool:
    return isinstance(error, aiohttp.InvalidURL) or isinstance(
        getattr(error, "os_error", error), _RefusedHostError
    )


_SENTENCES: Final = (
    (aiohttp.ClientConnectorCertificateError, "its certificate is not trusted"),
    (aiohttp.ServerDisconnectedError, "it closed the connection without an answer"),
    (aiohttp.ClientPayloadError, "its answer broke off"),
    (aiohttp.ClientResponseError, "its answer is no HTTP"),
    (aiohttp.InvalidURL, "it cannot be called by that name"),
)


def _words(error: BaseException) -> str:
    """A failure in words, of known parts alone: aiohttp's own sentences may hold the URL."""
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence
    inner: OSError | None = getattr(error, "os_error", None)
    if isinstance(error, aiohttp.ClientConnectorDNSError) and not isinstance(inner, _RefusedHostError):
        return "its name cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect: {(inner.strerror if inner else '') or 'no reason given'}".lower()
    plain = error.strerror if isinstance(error, OSError) else None
    return (plain or type(error).__name__).lower()


DISCARD: Final = 9
"""Any port serves: connecting a datagram socket sends nothing."""


def is_own_address(address: IPv4Address | IPv6Address) -> bool:
    """Whether an interface of this machine has an address, now.

    To an address of its own the kernel connects from that address; to any other, from an address of its own.
    """
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as prober:
            prober.connect((str(address), DISCARD))
            source = prober.getsockname()[0]
    except (OSError, ValueError):
        # No way leads there.
        return False
    return ip_address(source.partition("%")[0]) == address
