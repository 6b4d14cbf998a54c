"""Sending a page in the form that a client takes: in pieces, so that one that reads slowly holds a piece and no copy."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aiohttp import web

from streamops.exporter.metrics.text import Form
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


class Choice(NamedTuple):
    """One alternative of a header."""

    name: str
    params: dict[str, str]
    quality: float


_TAKEN: Final = {
    "text/plain": (Form.TEXT, ("", "0.0.4")),
    "text/*": (Form.TEXT, ("",)),
    "*/*": (Form.TEXT, ("",)),
    "application/openmetrics-text": (Form.OPENMETRICS, ("", "1.0.0")),
    "application/*": (Form.OPENMETRICS, ("",)),
}


def choose_form(accept: str) -> Form:
    """The format that an ``Accept`` header likes best; the text format where it says nothing of either.

    Where it likes two alike, the one that it names first.
    """
    best, form = 0.0, Form.TEXT
    for choice in _choices(accept):
        known = _TAKEN.get(choice.name)
        if known is not None and choice.params.get("version", "") in known[1] and choice.quality > best:
            best, form = choice.quality, known[0]
    return form


def takes_gzip(accept_encoding: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip."""
    qualities = {choice.name: choice.quality for choice in _choices(accept_encoding)}
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


def _choices(header: str) -> Iterator[Choice]:
    for part in header.split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        params = {
            key.strip().lower(): value.strip().strip('"')
            for key, _, value in (word.partition("=") for word in rest)
        }
        quality = params.pop("q", "1")
        try:
            yield Choice(name.lower(), params, float(quality))
        except ValueError:
            continue
