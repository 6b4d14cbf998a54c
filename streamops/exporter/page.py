"""One page of metrics: a reading in both formats, plain or compressed."""

import time
import zlib
from collections.abc import Iterator
from typing import Final

from streamops.exporter.rendering import END, Form, LabelCache, render
from streamops.exporter.series_limits import SeriesLimits
from streamops.exporter.shown import ScrapeReading, Shown, show

try:
    from isal.isal_zlib import compressobj  # the extra "fast": a quarter of the time
except ImportError:
    from zlib import compressobj  # type: ignore[assignment]  # takes the same, and one argument more

LEVEL: Final = 1
"""Hardly larger than the best, at a fraction of its time."""
GZIP: Final = zlib.MAX_WBITS | 16


class MetricsPage:
    """What one collection is printed as.

    Args:
        reading: What it tells.
        guards: What is shown of it.
        labels: Kept from one page to the next.
        begun: When the collection began, in seconds of this machine's clock.

    Attributes:
        reading: What it tells.
        begun: When the collection began.
        render_seconds: How long the last rendering took, with its compression; none before the first.
    """

    def __init__(
        self, reading: ScrapeReading, guards: SeriesLimits, labels: LabelCache, begun: float
    ) -> None:
        self.reading = reading
        self.begun = begun
        self.render_seconds: float | None = None
        self._guards = guards
        self._labels = labels
        self._shown: Shown | None = None

    @property
    def shown(self) -> Shown:
        """What it shows."""
        if self._shown is None:
            self._shown = show(self.reading, self._guards)
        return self._shown

    def plain(self, form: Form = Form.TEXT, more: bytes = b"") -> bytes:
        """The page in a format.

        Args:
            form: The format.
            more: Families of other origin to end it with, in the same format.
        """
        started = time.monotonic()
        body = b"".join(self._pieces(form, more))
        self.render_seconds = time.monotonic() - started
        return body

    def packed(self, form: Form, more: bytes = b"") -> bytes:
        """The same, as gzip."""
        started = time.monotonic()
        compressor = compressobj(LEVEL, zlib.DEFLATED, GZIP)
        # Compressed as it is rendered, it is never in memory whole.
        pieces = [compressor.compress(piece) for piece in self._pieces(form, more)]
        body = b"".join((*pieces, compressor.flush()))
        self.render_seconds = time.monotonic() - started
        return body

    def _pieces(self, form: Form, more: bytes) -> Iterator[bytes]:
        yield from render(self.shown, self._labels, form)
        yield more
        if form is Form.OPENMETRICS:
            yield END
