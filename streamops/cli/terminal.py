"""What the two ends of the command line can show."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from streamops.resources.text import in_ascii


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
