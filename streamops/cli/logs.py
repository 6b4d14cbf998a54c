"""Logging to stderr, for those who ask for it."""

import logging

from streamops.present.text import safe_lines


class _SafeFormatter(logging.Formatter):
    """Formats records as one line each, without control sequences from wherever their text came."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        return safe_lines(super().format(record))


def start_logging(level: str) -> None:
    """Log from this level on: ``debug``, ``info``, ``warning`` or ``error``."""
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
