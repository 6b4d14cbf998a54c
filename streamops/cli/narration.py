"""What is said on stderr: notes that ``--quiet`` silences, and errors that nothing silences."""

import logging
import sys

from streamops.cli.terminal import discard, drawable
from streamops.resources.text import safe


class Narrator:
    """Speaks on stderr, one safe line at a time; where nobody can hear it any more, what it tells of goes on."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._open_line = False

    def note(self, text: str) -> None:
        """Say something about the data, unless quiet."""
        if not self._quiet:
            self._say(text)

    def progress(self, text: str) -> None:
        """Replace the last progress line, on a terminal and unless quiet."""
        if not self._quiet and sys.stderr.isatty():
            self._write(f"\r\x1b[K{drawable(safe(text), sys.stderr)}")
            self._open_line = True

    def end_progress(self) -> None:
        """Clear the progress line."""
        if self._open_line:
            self._write("\r\x1b[K")
            self._open_line = False

    def error(self, message: str, hint: str = "") -> None:
        """Say what is wrong and, where it is known, what to do."""
        self._say(f"error: {message}")
        if hint:
            self._say(f"hint: {hint}")

    def resume(self, line: str) -> None:
        """Say by which command line a job goes on; nothing silences it."""
        self._say(f"resume with: {line}")

    def _say(self, text: str) -> None:
        self.end_progress()
        self._write(f"{drawable(safe(text), sys.stderr)}\n")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # A closed pipe, a terminal that is gone, a full disk: there is nowhere left to say so.
            discard(sys.stderr)


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
