"""A webhook and a mail server that keep what they are sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any

from aiohttp import web
from aiosmtpd.smtp import SMTP, Envelope, Session

from streamops.exporter.outlets import NotifyAddress, Outlet, open_outlets
from streamops.model.observation import Health
from streamops.model.secret import Secret


class Webhook:
    """What arrived, and how to answer what comes.

    Attributes:
        port: Where it listens.
        bodies: The documents it took, in their order.
        refusals: Answers that are no; one is used up by each request, then all are taken.
        open: Whether it answers at all.
        asked: Whether a request has arrived.
    """

    def __init__(self) -> None:
        self.port = 0
        self.bodies: list[dict[str, Any]] = []
        self.refusals: list[int] = []
        self.open = asyncio.Event()
        self.open.set()
        self.asked = asyncio.Event()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.port}/hooks/T0pSecretPath"

    @property
    def titles(self) -> list[str]:
        return [body["title"] for body in self.bodies]

    async def take(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.set()
        await self.open.wait()
        if self.refusals:
            return web.Response(status=self.refusals.pop(0))
        self.bodies.append(body)
        return web.Response()


@asynccontextmanager
async def webhook() -> AsyncIterator[Webhook]:
    hook = Webhook()
    app = web.Application()
    app.router.add_post("/hooks/T0pSecretPath", hook.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    hook.port = runner.addresses[0][1]
    try:
        yield hook
    finally:
        hook.open.set()
        await runner.cleanup()


class TopicQueue:
    """The mails that arrived."""

    def __init__(self) -> None:
        self.port = 0
        self.mails: list[EmailMessage] = []

    @property
    def url(self) -> str:
        return f"mailto://127.0.0.1:{self.port}/?mode=insecure&from=streamops@example.com&to=ops@example.com"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        content = envelope.content
        assert isinstance(content, bytes)
        mail = BytesParser(policy=default).parsebytes(content)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


@asynccontextmanager
async def mailbox() -> AsyncIterator[TopicQueue]:
    box = TopicQueue()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, hostname="localhost"), "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()
        await server.wait_closed()


def outlet(url: str) -> Outlet:
    (only,) = open_outlets([NotifyAddress(Secret(url), Health.WARN, "notify.urls: line 1")])
    return only
