"""What the two ends of the command line can show, and what is said on stderr."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from streamops.resources.text import in_ascii, safe


def prepare_streams() -> None:
    """Let characters that an end cannot encode appear as escapes rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def has_unicode(stream: TextIO) -> bool:
    """Whether a stream can encode the glyphs that streamops draws."""
    return (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")


def drawable(text: str, stream: TextIO) -> str:
    """Text without glyphs that the stream cannot encode."""
    return text if has_unicode(stream) else in_ascii(text)


def has_color(stream: TextIO) -> bool:
    """Whether colour is welcome: on a terminal that can, and where NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def width_of(stream: TextIO) -> int | None:
    """The width of a terminal; none where the stream is none, and lines may be as long as they are."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def discard(stream: TextIO) -> None:
    """Send a stream nowhere from now on: what it still holds is flushed at exit, and must not fail once more."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


@contextmanager
def whoever_reads(stream: TextIO) -> Iterator[None]:
    """Write to a stream and go on all the same where its reader has gone: what acts must come to its end."""
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        discard(stream)


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
