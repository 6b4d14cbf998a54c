"""Failing to connect, and what every such failure must be like."""

import time
import traceback
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.wire.options import ConnectionOptions, Secret
from streamops.wire.server import Server

PLANTED = "hunter2-planted"
LONGEST_LINE = 300
SECONDS = 2.5
"""The default timeout of two seconds, and what a busy machine adds."""


def with_password(options: ConnectionOptions, username: str | None = None) -> ConnectionOptions:
    """The same server, with a password that no message may repeat."""
    return replace(options, username=username, password=Secret(PLANTED))


async def refusal(options: ConnectionOptions) -> ServerError:
    """Fail to connect, in time, with one clear line and without a secret; the error."""
    started = time.monotonic()
    with pytest.raises(ServerError) as caught:
        await Server.connect(options)
    assert time.monotonic() - started < SECONDS
    error = caught.value
    assert options.label in error.message
    for line in (error.message, error.hint):
        assert line
        assert line.isprintable()
        assert len(line) < LONGEST_LINE
    check_no_secret(error)
    return error


def check_no_secret(error: BaseException) -> None:
    """The planted password stands nowhere that an error report could print."""
    printed = "".join(traceback.format_exception(error))
    for link in _chain(error):
        printed += f"{link!r}{link.args!r}{vars(link)!r}"
    assert PLANTED not in printed


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
