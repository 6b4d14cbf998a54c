"""One page of metrics: a reading in both formats, each rendered and compressed once, however many ask for it."""

import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.metrics.text import OPENMETRICS_END, openmetrics_parts, text_parts
from streamops.exporter.scraping.negotiating import Form

if TYPE_CHECKING:
    from zlib import _Compress

LEVEL: Final = 1
"""Twice the size of the best at a tenth of its time."""

GZIP: Final = 31


class Page:
    """What one collection is told as.

    Attributes:
        reading: What it tells.
        begun: When the collection began, in seconds of this machine's clock.
        render_seconds: How long the first rendering took, with its compression; none before it.
    """

    def __init__(self, reading: Reading, sampler: Sampler, begun: float) -> None:
        self.reading = reading
        self.begun = begun
        self.render_seconds: float | None = None
        self._sampler = sampler
        self._bodies: dict[Form, list[bytes]] = {}
        self._packed: dict[Form, tuple[bytes, _Compress]] = {}

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
        if form not in self._bodies:
            self._bodies[form] = list(self._parts(form))
        return [*self._bodies[form], more, OPENMETRICS_END if form is Form.OPENMETRICS else b""]

    def packed(self, form: Form, more: bytes = b"") -> bytes:
        """The same, compressed; the page itself only once, whatever it ends with."""
        if form not in self._packed:
            fresh = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
            # Never a whole page at once: it is twenty times the size.
            pieces = [fresh.compress(part) for part in self._parts(form)]
            self._packed[form] = b"".join((*pieces, fresh.flush(zlib.Z_FULL_FLUSH))), fresh
        head, compressor = self._packed[form]
        rest = compressor.copy()
        return b"".join(
            (head, rest.compress(more + (OPENMETRICS_END if form is Form.OPENMETRICS else b"")), rest.flush())
        )

    def _parts(self, form: Form) -> Iterator[bytes]:
        """The page without what ends it, family by family."""
        started = time.monotonic()
        samples = self._sampler.sample(self.reading)
        yield from text_parts(samples) if form is Form.TEXT else openmetrics_parts(samples)
        if self.render_seconds is None:
            self.render_seconds = time.monotonic() - started
