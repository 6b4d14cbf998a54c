"""Starting this package's own modules as child processes, and the event loop that a process runs on."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


def module_command(module: str, *args: str) -> list[str]:
    """The command line that runs a module with this interpreter.

    ``-P`` keeps the current directory out of the search path: whoever may write there would have their modules run.
    """
    return [sys.executable, "-P", "-m", module, *args]


def module_environment() -> dict[str, str]:
    """This process's environment, with its own module search path, so that the child finds the same code."""
    search_path = os.pathsep.join(str(Path(place).absolute()) for place in sys.path)
    return os.environ | {"PYTHONPATH": search_path}


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
