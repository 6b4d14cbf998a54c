"""What spares a process that stays memory."""

import ssl
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


@contextmanager
def without_authorities() -> Iterator[None]:
    """Let what is imported meanwhile make TLS contexts that know no certificate authorities.

    aiohttp makes two for clients as it is loaded, and each reads all authorities of the machine: three megabytes. For
    processes alone in which nobody uses its client; that would trust nobody. Contexts that are made later know them.
    """

    def spared(*_: object) -> None:
        pass

    load = ssl.SSLContext.load_default_certs
    ssl.SSLContext.load_default_certs = spared  # type: ignore[method-assign, assignment]
    # It shadows the one of the class in C.
    ssl.SSLContext.set_default_verify_paths = spared  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        ssl.SSLContext.load_default_certs = load  # type: ignore[method-assign]
        del ssl.SSLContext.set_default_verify_paths
