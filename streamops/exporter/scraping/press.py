"""The press of one target: prints pages, and keeps the packed pieces of the last one, most of which serve again."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.metrics.text import Piece, pieces, print_openmetrics, print_text
from streamops.exporter.scraping.gzipped import Packed, pack
from streamops.exporter.scraping.negotiating import Form

PRINT: Final[dict[Form, Callable[[Piece], bytes]]] = {
    Form.TEXT: print_text,
    Form.OPENMETRICS: print_openmetrics,
}


class Stored(Struct, frozen=True, gc=False):
    """A piece, and what it was packed to."""

    piece: Piece
    packed: Packed


class Press:
    """Prints readings of one server.

    Args:
        sampler: Makes samples of them.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        # By the family's name and the piece's place in it.
        self._stored: dict[Form, dict[tuple[str, int], Stored]] = {form: {} for form in Form}

    def printed(self, reading: Reading, form: Form) -> list[bytes]:
        """A reading in a format, in pieces, without what ends a page."""
        return [PRINT[form](piece) for piece in pieces(self._sampler.sample(reading))]

    def packed(self, reading: Reading, form: Form) -> list[Packed]:
        """The same, compressed."""
        before, stored = self._stored[form], dict[tuple[str, int], Stored]()
        for piece in pieces(self._sampler.sample(reading)):
            key = piece.family.name, piece.place
            last = before.get(key)
            if last is None or not piece.same(last.piece):
                last = Stored(piece, pack(PRINT[form](piece)))
            stored[key] = last
        self._stored[form] = stored
        return [one.packed for one in stored.values()]
