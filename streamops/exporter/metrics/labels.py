"""Labels as text, and as values for those who want them apart."""

from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from streamops.analysis.safe_text import encodable


class Labels(Struct, frozen=True, gc=False):
    """The labels of one series, or of all series of one subject.

    Attributes:
        values: Their values, in the order of the family's label names; bytes that are no UTF-8 escaped.
        text: What stands between a metric's name and its value.
    """

    values: tuple[str, ...]
    text: str


def make_labels(names: tuple[str, ...], values: Sequence[str]) -> Labels:
    """Labels of these names and values."""
    plain = tuple([encodable(value) for value in values])
    template, order = _template(names)
    return Labels(plain, template % tuple([escape(plain[at]) for at in order]))


def escape(value: str) -> str:
    """A label's value as Prometheus asks for it."""
    if "\\" in value or "\n" in value or '"' in value:
        return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return value


@cache
def _template(names: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    """The text of labels of these names, sorted as prometheus_client does, and where the value of each is."""
    order = tuple(sorted(range(len(names)), key=names.__getitem__))
    inside = ",".join([f'{names[at]}="%s"' for at in order])
    return (f"{{{inside}}} " if inside else " "), order
