"""One page of metrics: a reading in both formats, each rendered once and compressed once, however many ask for it."""

import time
import zlib
from typing import Final

from streamops.exporter.series_limits import SeriesLimits
from streamops.exporter.shown import ScrapeReading, Shown, show
from streamops.exporter.text import END, Form, LabelCache, render

LEVEL: Final = 1
"""Hardly larger than the best, at a fraction of its time."""
GZIP: Final = zlib.MAX_WBITS | 16
MEMORY: Final = 4
"""Tables of a size that a processor's cache holds: a tenth quicker than the default, and no larger a page."""


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
        render_seconds: How long the first rendering took, with its compression; none before it.
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
        self._plain: dict[Form, bytes] = {}
        self._packed: dict[Form, tuple[bytes, zlib._Compress]] = {}

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
        if form not in self._plain:
            started = time.monotonic()
            self._plain[form] = b"".join(render(self.shown, self._labels, form))
            self._rendered(started)
        return self._plain[form] + _ended(form, more)

    def packed(self, form: Form, more: bytes = b"") -> bytes:
        """The same, as gzip."""
        if form not in self._packed:
            started = time.monotonic()
            compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP, MEMORY)
            # Compressed as it is rendered, it is never in memory whole.
            body = b"".join(map(compressor.compress, render(self.shown, self._labels, form)))
            self._packed[form] = body, compressor
            self._rendered(started)
        body, compressor = self._packed[form]
        ending = compressor.copy()
        return b"".join((body, ending.compress(_ended(form, more)), ending.flush()))

    def _rendered(self, started: float) -> None:
        if self.render_seconds is None:
            self.render_seconds = time.monotonic() - started


def _ended(form: Form, more: bytes) -> bytes:
    """What a page ends with."""
    return more + END if form is Form.OPENMETRICS else more
