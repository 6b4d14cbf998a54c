"""One page of metrics: a reading in both formats, each printed once and compressed once, however many ask for it."""

import time
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.metrics.text import (
    OPENMETRICS_END,
    Form,
    Piece,
    pieces,
    print_openmetrics,
    print_text,
)

LEVEL: Final = 1
"""Hardly larger than the best, at a fraction of its time."""
GZIP: Final = zlib.MAX_WBITS | 16
PRINT: Final[dict[Form, Callable[[Piece], bytes]]] = {
    Form.TEXT: print_text,
    Form.OPENMETRICS: print_openmetrics,
}


class Page:
    """What one collection is told as.

    Args:
        reading: What it tells.
        sampler: Makes samples of it.
        begun: When the collection began, in seconds of this machine's clock.

    Attributes:
        reading: What it tells.
        begun: When the collection began.
        render_seconds: How long the first rendering took, with its compression; none before it.
    """

    def __init__(self, reading: Reading, sampler: Sampler, begun: float) -> None:
        self.reading = reading
        self.begun = begun
        self.render_seconds: float | None = None
        self._sampler = sampler
        self._printed: dict[Form, list[bytes]] = {}
        self._packed: dict[Form, tuple[bytes, zlib._Compress]] = {}

    def text(self) -> bytes:
        """The text format, 0.0.4."""
        return b"".join(self.pieces(Form.TEXT))

    def openmetrics(self) -> bytes:
        """OpenMetrics 1.0."""
        return b"".join(self.pieces(Form.OPENMETRICS))

    def pieces(self, form: Form, more: bytes = b"") -> list[bytes]:
        """The page in a format, in pieces: nobody needs it whole.

        Args:
            form: The format.
            more: Families of other origin to end it with, in the same format.
        """
        if form not in self._printed:
            started = time.monotonic()
            self._printed[form] = list(self._print(form))
            self._rendered(started)
        return [*self._printed[form], _ended(form, more)]

    def packed(self, form: Form, more: bytes = b"") -> bytes:
        """The same, as gzip."""
        if form not in self._packed:
            started = time.monotonic()
            compressor = zlib.compressobj(LEVEL, wbits=GZIP)
            self._packed[form] = b"".join(map(compressor.compress, self._print(form))), compressor
            self._rendered(started)
        body, compressor = self._packed[form]
        ending = compressor.copy()
        return b"".join((body, ending.compress(_ended(form, more)), ending.flush()))

    def _print(self, form: Form) -> Iterator[bytes]:
        return map(PRINT[form], pieces(self._sampler.sample(self.reading)))

    def _rendered(self, started: float) -> None:
        if self.render_seconds is None:
            self.render_seconds = time.monotonic() - started


def _ended(form: Form, more: bytes) -> bytes:
    """What a page ends with."""
    return more + OPENMETRICS_END if form is Form.OPENMETRICS else more
