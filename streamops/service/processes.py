"""Processes of this package: starting them, the event loop they run on, and their structured logs."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

import structlog
from structlog.typing import EventDict, Processor

from streamops.model.text import safe


def module_command(module: str, *args: str) -> list[str]:
    """The command line that runs a module with this interpreter.

    ``-P`` keeps the current directory out of the search path: otherwise modules in it would run.
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
    """uvloop's, if it is installed."""
    try:
        import uvloop  # noqa: PLC0415 - an optional extra
    except ImportError:
        return asyncio.run
    return uvloop.run


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


def configure_logs(form: LogFormat, level: int, **always: str) -> None:
    """Write logs to standard error, those of the standard library's loggers too, one line each.

    Their content is untrusted: no value makes two lines of one, or sends control characters to a terminal.

    Args:
        form: How they look.
        level: From which of ``logging``'s levels on.
        always: What stands in every line, whichever thread writes it: the worker's ID.
    """
    facts: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _adding(always),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    render: list[Processor] = (
        [_as_json]
        if form is LogFormat.JSON
        else [_made_safe, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)]
    )
    structlog.configure(
        processors=[*facts, *render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        # The worker's ID is known later than the first line is written.
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*facts, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _adding(always: dict[str, str]) -> Processor:
    def add(_: object, __: str, line: EventDict) -> EventDict:
        return {**always, **line}

    return add


def _as_json(_: object, __: str, line: EventDict) -> str:
    """One line of ASCII: what it escapes, a reader of JSON gets back as it was."""
    return json.dumps(line, default=str).replace("\x7f", "\\u007f")


def _made_safe(_: object, __: str, line: EventDict) -> EventDict:
    """Every text on one line and fit for a terminal; structlog quotes what could be taken for several."""
    shown = {safe(str(name)): _shown(value) for name, value in line.items() if name != "event"}
    if "exception" in shown:
        # By its own name it would be shown on lines of its own.
        shown["traceback"] = shown.pop("exception")
    return {"event": safe(str(line.get("event", ""))), **shown}


def _shown(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float)) else safe(str(value))
