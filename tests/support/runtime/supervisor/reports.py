"""A pipe for the reports of a worker process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    os.close(reading)
    os.close(writing)
