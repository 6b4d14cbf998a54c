"""What is wrong, told once: until something else is, or nothing is."""

from typing import Any


class Troubles:
    """Tells a log of troubles as they begin, change and end.

    Args:
        log: Where to; a logger of structlog.
    """

    def __init__(self, log: Any) -> None:  # noqa: ANN401 - structlog's loggers have no type of their own
        self._log = log
        self._known: dict[str, str] = {}

    def tell(self, what: str, why: str) -> None:
        """That something is wrong."""
        if self._known.get(what) != why:
            self._known[what] = why
            self._log.warning(what, why=why)

    def clear(self, what: str) -> None:
        """That it is not any more."""
        if self._known and self._known.pop(what, None) is not None:
            self._log.info(f"over: {what}")
