"""Logging to stderr, for those who ask for it; warnings of libraries for everybody."""

import logging

from streamops.resources.text import safe


class _SafeFormatter(logging.Formatter):
    """Formats records as one line each, tracebacks too, without control sequences from wherever their text came."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        return safe(super().format(record))


FORMATTER = _SafeFormatter("%(levelname)s %(name)s: %(message)s")


def start_logging(level: str | None) -> None:
    """Log from this level on: ``debug``, ``info``, ``warning`` or ``error``; none for warnings, as Python has it."""
    if level is None:
        if logging.lastResort is not None:
            logging.lastResort.setFormatter(FORMATTER)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTER)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
