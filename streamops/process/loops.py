"""The event loop a process runs on, and its end."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def end_process(code: int) -> NoReturn:
    """End the process at once, after what it has written was written out; threads and tasks are not waited for."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def runner() -> Callable[..., object]:
    """uvloop's, where it is installed."""
    try:
        import uvloop  # noqa: PLC0415 - an optional extra
    except ImportError:
        return asyncio.run
    return uvloop.run
