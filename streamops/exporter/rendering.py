"""Samples as text, column by column: labels are rendered once and kept, values written once. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from operator import add
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
    """Labels as text, kept from one page to the next as long as their subjects are shown."""

    def __init__(self) -> None:
        self._kept: dict[Labels, tuple[object, dict[Labels, str], list[str]]] = {}

    def texts(self, names: Labels, key: object, subjects: Callable[[], Sequence[Labels]]) -> list[str]:
        """What stands between a metric's name and its value, for each of some subjects.

        Args:
            names: The names of the labels.
            key: What is the same as long as the subjects are.
            subjects: The values of their labels; those that are new are rendered, those that are not there forgotten.
        """
        before, known, texts = self._kept.get(names, (None, {}, []))
        if before is not key:
            if before != key:
                shown = subjects()
                texts = [known.get(values) or label_text(names, values) for values in shown]
                known = dict(zip(shown, texts, strict=True))
            self._kept[names] = key, known, texts
        return texts


def label_text(names: Labels, values: Labels) -> str:
    """Labels as Prometheus reads them, and a space."""
    template, order = _template(names)
    return template % tuple([_escape(encodable(values[at])) for at in order])


def render(shown: Shown, labels: LabelCache, form: Form) -> Iterator[bytes]:
    """A page in pieces, without families of which no value is known, and without what ends it.

    Args:
        shown: What it shows.
        labels: Kept for the next page.
        form: The format.
    """
    for family in FAMILIES:
        texts, values = _column(family, shown, labels)
        head = _head(family, form)
        # Milliseconds are seconds with an exponent: exact, and several times as fast to print as a float.
        end = "e-3\n" if family.is_instant else "\n"
        for at in range(0, len(texts), ROWS):
            piece = _samples(family.name, head, end, texts[at : at + ROWS], values[at : at + ROWS])
            if piece:
                yield piece
                head = ""


def _column(family: MetricFamily, shown: Shown, labels: LabelCache) -> tuple[list[str], Sequence[Value]]:
    """Labels as text, and a value for each."""
    values, scope = family.value(shown), family.scope
    if isinstance(values, Mapping):
        named = list(values)
        return labels.texts(scope.labels, named, lambda: named), list(values.values())
    key = (scope.key or scope.subjects)(shown)
    return labels.texts(scope.labels, key, lambda: scope.subjects(shown)), values


def _samples(name: str, head: str, end: str, texts: Sequence[str], values: Sequence[Value]) -> bytes:
    """Samples as text below a head, each with the end of its line; empty if no value is known."""
    if None in values:
        texts = [text for text, value in zip(texts, values, strict=True) if value is not None]
        values = [value for value in values if value is not None]
    # Many values are the same: counts are small, and what moves has moved of late.
    written = {value: f"{value}{end}" for value in set(values)}
    lines = map(add, texts, map(written.__getitem__, values))
    return f"{head}{name}{name.join(lines)}".encode() if values else b""


def _head(family: MetricFamily, form: Form) -> str:
    """What stands before the samples of a family."""
    if form is Form.TEXT:
        return f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"
    unit = f"# UNIT {family.base} {family.declared_unit}\n" if family.declared_unit else ""
    return f"# HELP {family.base} {family.help}\n# TYPE {family.base} {family.kind}\n{unit}"


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
