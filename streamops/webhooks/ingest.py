"""HTTP ingest: messages of topics added, looked up and cancelled over HTTP.

``POST /topics/TOPIC/messages[/ID]`` adds the body of the request; ``?delay=30m`` or ``?at=2026-03-01T14:00:00Z`` say when
it is due, and ``?id=`` its ID. ``GET`` and ``DELETE /topics/TOPIC/messages/ID`` look up and cancel what waits;
``GET /topics/TOPIC/messages`` counts it. Errors are ``{"error", "hint"}``. ``/-/healthy`` and ``/-/ready`` are for probes.

Importing this imports aiohttp.
"""

import asyncio
import hmac
import logging
import re
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Final, TypeVar

from aiohttp import web
from msgspec import Struct

from streamops.errors import StreamopsError
from streamops.model.delayed import DelayedMessage
from streamops.model.request_log import ACCEPTED, CANCELLED, REFUSED
from streamops.model.secret import Secret
from streamops.model.text import name_bytes
from streamops.model.topics import DATA
from streamops.service.requests import LargeBody, MalformedBody, decoded, encoding_of
from streamops.webhooks.metrics import TopicCounters
from streamops.webhooks.registry import TopicListing, TopicRegistry, TopicServer
from streamops.webhooks.request_log import RequestLog
from streamops.webhooks.requests import (
    AWAY_SECONDS,
    HttpError,
    away,
    check_content,
    due_of,
    error_answer,
    json_answer,
    of_http,
    of_ours,
    refuse_pages,
    rfc3339,
    shown,
)
from streamops.webhooks.topic_queue import TopicQueue

LOG: Final = logging.getLogger("streamops.webhooks")
BODY_SECONDS: Final = 15.0
"""How long a request may take to arrive."""

FULL_SECONDS: Final = 1
OUR_FAULT: Final = 500
"""Statuses from here on are no mistake of the client."""

AT_ONCE: Final = 512
"""Requests under way at once to one Redis; one that hangs fills its own share alone."""

IDENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
NO_SUCH: Final = "It was sent, is being sent, or never existed; only waiting messages can be looked up."

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answer = TypeVar("Answer")


class IngestOptions(Struct, frozen=True):
    """How messages are taken in.

    Attributes:
        tokens: Bearer tokens, one of which has to be shown; without any, none is asked for.
        max_body: Bytes of a message at most.
    """

    tokens: tuple[Secret, ...] = ()
    max_body: int = 1 << 20


def ingest_app(
    registry: TopicRegistry,
    options: IngestOptions,
    counters: TopicCounters | None = None,
    log: RequestLog | None = None,
    stop: asyncio.Event | None = None,
) -> web.Application:
    """The web application of HTTP ingest; once ``stop`` is set, each answer closes its connection."""
    intake = _Ingest(
        registry,
        options,
        counters or TopicCounters(),
        log or RequestLog(enabled=False),
        stop or asyncio.Event(),
    )
    app = web.Application(client_max_size=options.max_body, middlewares=[intake.authentication])
    app.router.add_get("/-/healthy", intake.healthy)
    app.router.add_get("/-/ready", intake.ready)
    messages = "/topics/{topic}/messages"
    app.router.add_post(messages, intake.add)
    app.router.add_get(messages, intake.count)
    app.router.add_post(f"{messages}/{{id}}", intake.add)
    app.router.add_get(f"{messages}/{{id}}", intake.find)
    app.router.add_delete(f"{messages}/{{id}}", intake.cancel)
    return app


class _Ingest:
    def __init__(
        self,
        registry: TopicRegistry,
        options: IngestOptions,
        counters: TopicCounters,
        log: RequestLog,
        stop: asyncio.Event,
    ) -> None:
        self._registry = registry
        self._options = options
        self._counters = counters
        self._log = log
        self._stop = stop
        self._digests = tuple(sha256(token.reveal().encode()).digest() for token in options.tokens)

    async def healthy(self, _request: web.Request) -> web.Response:
        """Whether this process runs."""
        return json_answer(200, {"healthy": True})

    async def ready(self, _request: web.Request) -> web.Response:
        """Whether any server answers; each is reported by itself, without its address."""
        places = [
            {"context": place.site.name or None, "up": place.known and not place.problem}
            for place in self._registry.places
        ]
        ready = any(place["up"] for place in places)
        return json_answer(200 if ready else 503, {"ready": ready, "servers": places})

    async def add(self, request: web.Request) -> web.Response:
        """Add a message."""
        listing = self._listing(request)
        ident = self._ident(request, listing) or listing.new_id()
        due = due_of(request)
        content_type = request.headers.get("Content-Type", "")
        body = await self._body(request)
        check_content(content_type, body)
        topic, place = listing.topic, listing.place_of(ident)
        added = await _ask(
            place, lambda queue: queue.add(topic, body, ident=ident, content_type=content_type, due=due)
        )
        if added is None and await _ask(place, lambda queue: queue.find(topic, ident)) is None:
            raise HttpError(
                409,
                f"ID {ident} was taken in the delayed queue of {topic.name}",
                "By another program, another topic, or a message that is called now: use another ID.",
            )
        if added is None:
            raise HttpError(
                409, f"a message {ident} of {topic.name} waits already", "Cancel it first, or use another ID."
            )
        due_at = rfc3339(added.due_at)
        self._counters.count("messages_accepted", topic.name)
        if self._log.enabled:
            facts = {
                "id": added.id,
                "due_at": due_at,
                "context": place.site.name,
                "stream": topic.key,
                "group": topic.group,
                "content_type": content_type,
            }
            self._log.write(ACCEPTED, topic.name, **facts, **self._log.body(topic, body))
        answer = {"topic": topic.name, "id": added.id, "due_at": due_at}
        return json_answer(201, answer, Location=f"/topics/{topic.name}/messages/{added.id}")

    async def count(self, request: web.Request) -> web.Response:
        """How many messages of a topic wait, on all its servers."""
        listing = self._listing(request)
        topic = listing.topic
        queues = await asyncio.gather(
            *(_ask(place, lambda queue: queue.count(topic)) for place in listing.places)
        )
        return json_answer(
            200,
            {
                "topic": topic.name,
                "enabled": topic.enabled,
                "waiting": sum(queue.messages for queue in queues),
                "due": sum(queue.due for queue in queues),
                "next_due_at": rfc3339(min((q.next_due_at for q in queues if q.next_due_at), default=None)),
            },
        )

    async def find(self, request: web.Request) -> web.Response:
        """A message that waits."""
        listing, ident = self._listing(request), request.match_info["id"]
        message = await _ask(listing.place_of(ident), lambda queue: queue.find(listing.topic, ident))
        if message is None:
            raise HttpError(404, f"no message {shown(ident)} waits", NO_SUCH)
        return json_answer(200, _message_json(listing, ident, message))

    async def cancel(self, request: web.Request) -> web.Response:
        """Cancel a message that waits."""
        listing, ident = self._listing(request), request.match_info["id"]
        topic = listing.topic
        if not await _ask(listing.place_of(ident), lambda queue: queue.cancel(topic, ident)):
            raise HttpError(404, f"no message {shown(ident)} waits", NO_SUCH)
        self._counters.count("messages_cancelled", topic.name)
        self._log.write(CANCELLED, topic.name, id=ident)
        return json_answer(200, {"topic": listing.topic.name, "id": ident, "cancelled": True})

    @property
    def authentication(self) -> Any:  # noqa: ANN401 - aiohttp's own type is private
        """What stands around every request: who may, how many at once, and errors as JSON."""

        @web.middleware
        async def authentication(request: web.Request, handler: Handler) -> web.StreamResponse:
            response = await self._answer(request, handler)
            if self._stop.is_set():
                response.force_close()
            return response

        return authentication

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if not request.path.startswith("/-/"):
                self._authenticate(request)
            return await handler(request)
        except HttpError as error:
            problem, allow = error, ""
        except web.HTTPException as error:
            problem, allow = of_http(error), error.headers.get("Allow", "")
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception:
            LOG.exception("a bug in HTTP ingest")
            problem, allow = HttpError(500, "a bug in streamops", "Its log says more."), ""
        self._count_refusal(request, problem)
        return error_answer(problem, Allow=allow)

    def _count_refusal(self, request: web.Request, problem: HttpError) -> None:
        name = request.match_info.get("topic", "")
        # Names that are no topics would be series without end.
        topic = name if name in self._registry.listings else ""
        if request.method == "POST":
            self._counters.count("messages_refused", topic, problem.status)
        if problem.status >= OUR_FAULT:
            # Clients make the others as fast as they like: these are counted alone.
            self._log.write(REFUSED, topic, method=request.method, status=problem.status, error=problem.error)

    def _authenticate(self, request: web.Request) -> None:
        if not self._digests:
            refuse_pages(request)
            return
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        given = sha256(name_bytes(token.strip())).digest()
        # Every token is compared, so that the time says nothing of which one is close.
        matches = [hmac.compare_digest(given, digest) for digest in self._digests]
        if scheme.lower() != "bearer" or not any(matches):
            raise HttpError(401, "no valid token", "Send `Authorization: Bearer TOKEN`.")

    def _listing(self, request: web.Request) -> TopicListing:
        name = request.match_info["topic"]
        listing = self._registry.listings.get(name)
        if listing is not None:
            return listing
        if not self._registry.complete:
            raise HttpError(
                503, f"topic {shown(name)} is not known yet", "A server does not answer.", AWAY_SECONDS
            )
        raise HttpError(404, f"there is no topic {shown(name)}", "`streamops webhooks ls` lists them.")

    def _ident(self, request: web.Request, listing: TopicListing) -> str:
        ident = request.match_info.get("id") or request.query.get("id", "")
        if ident and (not IDENT.fullmatch(ident) or ident.startswith(f"{listing.topic.group}:")):
            raise HttpError(
                400,
                "not an ID for a message",
                f"Up to 100 letters, digits, '.', '_', ':' and '-', not beginning with {listing.topic.group}:.",
            )
        return ident

    async def _body(self, request: web.Request) -> bytes:
        if request.content.is_eof():
            # It has arrived with its head, as small bodies do: there is nothing to wait for.
            body = await request.read()
        else:
            body = await _arriving(request)
        encoding = encoding_of(request.headers.get("Content-Encoding"))
        try:
            return decoded(body, encoding, self._options.max_body)
        except MalformedBody:
            raise HttpError(
                400, f"the message is not valid {encoding}", "Send it as Content-Encoding says."
            ) from None
        except LargeBody:
            raise of_http(web.HTTPRequestEntityTooLarge(self._options.max_body, len(body))) from None


async def _arriving(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise HttpError(408, "the message did not arrive in time", "Send it in one go.") from None


async def _ask(place: TopicServer, ask: Callable[[TopicQueue], Awaitable[Answer]]) -> Answer:
    """Ask one Redis; raises ``HttpError`` that names its context."""
    name = place.site.name
    if place.away:
        raise away(name)
    if place.under_way >= AT_ONCE:
        raise HttpError(503, "too many requests at once", "Try again.", FULL_SECONDS)
    place.under_way += 1
    try:
        return await ask(place.queue)
    except StreamopsError as error:
        problem = of_ours(error, name)
    finally:
        place.under_way -= 1
    # Outside the handler, so that an error with an address is no context of this one.
    raise problem


def _message_json(listing: TopicListing, ident: str, message: DelayedMessage) -> dict[str, Any]:
    body = message.body
    return {
        "topic": listing.topic.name,
        "id": ident,
        "state": "retrying" if body is not None and body.group else "waiting",
        "due_at": rfc3339(message.due_at),
        "attempt": max(1, body.attempt) if body is not None else None,
        "bytes": next((len(value) for name, value in body.fields if name == DATA), None) if body else None,
    }
