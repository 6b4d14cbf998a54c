"""A webhook that counts workers."""

from datetime import timedelta
from typing import Any

import msgspec
from aiohttp import web

from streamops.model.secret import Secret
from streamops.targets.specs import WebhookSpec
from tests.support.targets.scale_api import Fault, play

PLANTED = "hunter2-of-the-north"
KEY = Secret(PLANTED)


class Pool:
    """A receiver that counts and sets workers, as its ``faults`` let it."""

    def __init__(self) -> None:
        self.url = ""
        self.workers = 3
        self.answer: Any = None
        self.etag = ""
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.faults: dict[str, list[Fault]] = {}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append((request.method, dict(request.headers), body))
        if waiting := self.faults.get(request.method):
            return await play(waiting.pop(0))
        if request.method == "POST":
            if self.etag and request.headers.get("If-Match") != self.etag:
                return web.Response(status=412)
            self.workers = msgspec.json.decode(body)["desired"]
            return web.json_response(self.answer) if self.answer is not None else web.Response(status=202)
        headers = {"ETag": self.etag} if self.etag else {}
        return web.json_response({"ordered": self.workers, "ready": 1}, headers=headers)

    def spec(self, **changes: Any) -> WebhookSpec:
        stated = {"secret": KEY, "timeout": timedelta(seconds=5), **changes}
        return WebhookSpec(url=Secret(f"{self.url}/scale/{PLANTED}?token={PLANTED}"), **stated)
