"""What a client is told when an answer cannot be made: words, never a traceback."""

from http import HTTPStatus
from typing import Final

import structlog
from aiohttp import web

from streamops.errors import NotFound, StreamopsError, Unreachable
from streamops.service.authentication import Handler

LOG: Final = structlog.get_logger("streamops.web")


@web.middleware
async def telling_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a failure with what is wrong and what to do; the log tells what is wrong with us."""
    try:
        return await handler(request)
    except StreamopsError as error:
        return web.Response(text=f"{error.message}\n{error.hint}".rstrip() + "\n", status=status_of(error))
    except web.HTTPException:
        raise
    except Exception as error:
        LOG.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")  # noqa: TRY400 - for people
        LOG.debug("its traceback", exc_info=True)
        return web.Response(text="a bug in streamops; its log says more\n", status=500)


def status_of(error: StreamopsError) -> HTTPStatus:
    """The status that says as much as the error."""
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, Unreachable):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.INTERNAL_SERVER_ERROR
