"""What spares a process that stays memory."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(*modules: str) -> Iterator[None]:
    """Let what is imported meanwhile do without some optional modules, even where they are installed.

    structlog loads rich for tracebacks in colour, and redis-py opentelemetry for metrics of its own: five megabytes and
    150 modules, of which most processes of ours use nothing. What was loaded before stays.
    """
    hidden = [name for name in modules if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # so is told that there is no such module
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
