"""One page of metrics: a reading in both formats, each rendered and compressed once, however many ask for it."""

import time
from collections.abc import Callable
from typing import TypeVar

from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.text import OPENMETRICS_END
from streamops.exporter.scraping.gzipped import Packed, pack, whole
from streamops.exporter.scraping.negotiating import Form
from streamops.exporter.scraping.press import Press

Body = TypeVar("Body", bytes, Packed)


class Page:
    """What one collection is told as.

    Args:
        press: Prints it.

    Attributes:
        reading: What it tells.
        begun: When the collection began, in seconds of this machine's clock.
        render_seconds: How long the first rendering took, with its compression; none before it.
    """

    def __init__(self, reading: Reading, press: Press, begun: float) -> None:
        self.reading = reading
        self.begun = begun
        self.render_seconds: float | None = None
        self._press = press
        self._printed: dict[Form, list[bytes]] = {}
        self._packed: dict[Form, list[Packed]] = {}

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
        return [*self._made(self._printed, self._press.printed, form), _ended(form, more)]

    def packed(self, form: Form, more: bytes = b"") -> bytes:
        """The same, compressed; the page itself only once, whatever it ends with."""
        return whole([*self._made(self._packed, self._press.packed, form), pack(_ended(form, more))])

    def _made(
        self, bodies: dict[Form, list[Body]], make: Callable[[Reading, Form], list[Body]], form: Form
    ) -> list[Body]:
        """The page without what ends it, made when it is first asked for."""
        if form not in bodies:
            started = time.monotonic()
            bodies[form] = make(self.reading, form)
            if self.render_seconds is None:
                self.render_seconds = time.monotonic() - started
        return bodies[form]


def _ended(form: Form, more: bytes) -> bytes:
    """What a page ends with."""
    return more + OPENMETRICS_END if form is Form.OPENMETRICS else more
