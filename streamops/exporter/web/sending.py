"""Sending a page: in pieces, so that a client that reads slowly holds a piece of it and not a copy of the whole."""

import asyncio
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from streamops.exporter.scraping.negotiating import Form, takes_gzip
from streamops.exporter.scraping.page import Page

PIECE: Final = 1 << 16
LONGEST_SECONDS: Final = 60.0
"""How long a client may take to read an answer."""


async def send_page(request: web.Request, page: Page, form: Form, more: bytes = b"") -> web.StreamResponse:
    """Send a page as the client takes it, compressed or not.

    Args:
        request: What was asked.
        page: The page.
        form: The format.
        more: Families of other origin to end it with.
    """
    packed = takes_gzip(",".join(request.headers.getall("Accept-Encoding", [])))
    headers = {"Content-Type": form.value, "Vary": "Accept, Accept-Encoding"}
    if packed:
        headers["Content-Encoding"] = "gzip"
    pieces = [page.packed(form, more)] if packed else page.pieces(form, more)
    return await send(request, pieces, headers)


async def send(request: web.Request, pieces: Sequence[bytes], headers: dict[str, str]) -> web.StreamResponse:
    """Send an answer that stands in pieces; a client that does not read it within a minute loses its connection."""
    response = web.StreamResponse(headers=headers)
    response.content_length = sum(map(len, pieces))
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await response.prepare(request)
            if request.method != "HEAD":
                for piece in pieces:
                    for at in range(0, len(piece), PIECE):
                        await response.write(piece[at : at + PIECE])
            await response.write_eof()
    except ConnectionError:
        # The client has left meanwhile, which is its own affair.
        pass
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    return response
