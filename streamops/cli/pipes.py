"""Ends of the command line that nobody reads any more: a closed pipe, a terminal that is gone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


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
