"""Samples as text, column by column: lines are kept without their values, which are put in all at once. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import compress
from types import NoneType
from typing import Final

from streamops.exporter.catalogue import FAMILIES
from streamops.exporter.families import MetricFamily, Value
from streamops.exporter.shown import Labels, Shown
from streamops.model.text import encodable

ROWS: Final = 1_000
"""Samples in one piece of a page: the processor's cache holds it while it is compressed."""

END: Final = b"# EOF\n"
"""What ends a page of OpenMetrics."""


class Form(StrEnum):
    """The formats of metrics, by their content types."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class LabelCache:
    """Lines of samples without their values, kept from one page to the next as long as their subjects are shown."""

    def __init__(self) -> None:
        self._kept: dict[Labels, tuple[object, dict[Labels, str], list[str]]] = {}
        self._lines: dict[str, tuple[list[str], list[bytes]]] = {}

    def lines(
        self, family: MetricFamily, key: object, subjects: Callable[[], Sequence[Labels]]
    ) -> list[bytes]:
        """Lines of a family's samples for each of some subjects, some ``ROWS`` of them a piece, with ``%d`` for the values.

        Args:
            family: The family.
            key: What is the same as long as the subjects are.
            subjects: The values of their labels; those that are new are rendered, those that are not there forgotten.
        """
        texts = self._texts(family.labels, key, subjects)
        before, pieces = self._lines.get(family.name, (None, []))
        if before is not texts:
            name = family.name
            # Milliseconds are seconds with an exponent: exact, and several times as fast to print as a float.
            end = "%de-3\n" if family.is_instant else "%d\n"
            pieces = [
                "".join([f"{name}{text}{end}" for text in texts[at : at + ROWS]]).encode()
                for at in range(0, len(texts), ROWS)
            ]
            self._lines[name] = texts, pieces
        return pieces

    def _texts(self, names: Labels, key: object, subjects: Callable[[], Sequence[Labels]]) -> list[str]:
        """What stands between a metric's name and its value; the same list as long as the subjects are the same."""
        before, known, texts = self._kept.get(names, (None, {}, []))
        if before is not key:
            if before != key:
                shown = subjects()
                texts = [known.get(values) or _label_text(names, values) for values in shown]
                known = dict(zip(shown, texts, strict=True))
            self._kept[names] = key, known, texts
        return texts


def _label_text(names: Labels, values: Labels) -> str:
    """Labels as Prometheus reads them, and a space, with each percent sign doubled."""
    template, order = _template(names)
    text = template % tuple([_escape(encodable(values[at])) for at in order])
    return text.replace("%", "%%")


def render(shown: Shown, labels: LabelCache, form: Form) -> Iterator[bytes]:
    """A page in pieces, without families of which no value is known, and without what ends it.

    Args:
        shown: What it shows.
        labels: Kept for the next page.
        form: The format.
    """
    for family in FAMILIES:
        pieces, values = _column(family, shown, labels)
        head = _head(family, form)
        for at, piece in enumerate(pieces):
            if samples := _samples(piece, values[at * ROWS : (at + 1) * ROWS]):
                yield head + samples
                head = b""


def _column(family: MetricFamily, shown: Shown, labels: LabelCache) -> tuple[list[bytes], tuple[Value, ...]]:
    """Lines of samples without their values, and a value for each."""
    values, scope = family.value(shown), family.scope
    if isinstance(values, Mapping):
        named = list(values)
        return labels.lines(family, named, lambda: named), tuple(values.values())
    key = (scope.key or scope.subjects)(shown)
    return labels.lines(family, key, lambda: scope.subjects(shown)), tuple(values)


def _samples(lines: bytes, values: tuple[Value, ...]) -> bytes:
    """Lines with their values, without those of which none is known."""
    kinds = set(map(type, values))
    if kinds == {NoneType}:
        return b""
    if NoneType in kinds:
        known = [value is not None for value in values]
        values = tuple(compress(values, known))
        lines = b"".join([line + b"\n" for line in compress(lines.split(b"\n"), known)])
    if not kinds <= {int, NoneType}:
        lines = lines.replace(b" %d", b" %a")
    return lines % values


@cache
def _head(family: MetricFamily, form: Form) -> bytes:
    """What stands before the samples of a family."""
    name = family.name if form is Form.TEXT else family.base
    unit = f"# UNIT {name} {family.declared_unit}\n" if family.declared_unit and form is not Form.TEXT else ""
    return f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n{unit}".encode()


def _escape(value: str) -> str:
    if "\\" in value or "\n" in value or '"' in value:
        return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return value


@cache
def _template(names: Labels) -> tuple[str, tuple[int, ...]]:
    """The text of labels of these names, sorted as prometheus_client does, and where the value of each is."""
    order = tuple(sorted(range(len(names)), key=names.__getitem__))
    inside = ",".join([f'{names[at]}="%s"' for at in order])
    return (f"{{{inside}}} " if inside else " "), order
