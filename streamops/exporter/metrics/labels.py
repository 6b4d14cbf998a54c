"""Labels as text and as values, and those kept from one scrape to the next: making them anew would be most of the work."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, Generic, TypeVar

from msgspec import Struct

from streamops.model.safe_text import encodable


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


Kept = TypeVar("Kept")

STREAM: Final = ("db", "stream")
SOURCE: Final = ("db", "stream", "source")
GROUP: Final = ("db", "stream", "group")
CONSUMER: Final = ("db", "stream", "group", "consumer")
STATUS: Final = (*GROUP, "status")
WHAT: Final = (*GROUP, "what")


class LabelCache(Generic[Kept]):
    """What is kept by name, as long as the name is seen."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def see(self, names: Sequence[str], make: Callable[[str], Kept]) -> list[Kept]:
        """What is kept of these names, in their order; others are forgotten.

        Args:
            names: The names.
            make: Makes what is to be kept of one that is new.
        """
        known = self._kept
        self._kept = {name: known[name] if name in known else make(name) for name in names}
        return list(self._kept.values())


class GroupLabels:
    """The labels of a group, and of all that belongs to it.

    Attributes:
        own: Its own.
    """

    # There are as many of them as groups, and dicts would weigh more than all the rest.
    __slots__ = ("_consumers", "_statuses", "_whats", "own")

    def __init__(self, values: tuple[str, ...]) -> None:
        self.own = make_labels(GROUP, values)
        self._consumers: LabelCache[Labels] = LabelCache()
        self._statuses: dict[str, Labels] | None = None
        self._whats: dict[str, Labels] | None = None

    def consumers(self, names: Sequence[str]) -> list[Labels]:
        """The labels of its consumers."""
        return self._consumers.see(names, lambda name: make_labels(CONSUMER, (*self.own.values, name)))

    def status(self, status: str) -> Labels:
        """The group's labels and a status, of which there are but a few."""
        if self._statuses is None:
            self._statuses = {}
        if (labels := self._statuses.get(status)) is None:
            labels = self._statuses[status] = make_labels(STATUS, (*self.own.values, status))
        return labels

    def what(self, what: str) -> Labels:
        """The group's labels and what of it could not be counted."""
        if self._whats is None:
            self._whats = {}
        if (labels := self._whats.get(what)) is None:
            labels = self._whats[what] = make_labels(WHAT, (*self.own.values, what))
        return labels


class StreamLabels:
    """The labels of a stream, and of all that belongs to it.

    Attributes:
        own: Its own.
    """

    __slots__ = ("_groups", "own")

    def __init__(self, values: tuple[str, ...]) -> None:
        self.own = make_labels(STREAM, values)
        self._groups: LabelCache[GroupLabels] = LabelCache()

    def groups(self, names: Sequence[str]) -> list[GroupLabels]:
        """The labels of its groups."""
        return self._groups.see(names, lambda name: GroupLabels((*self.own.values, name)))

    def sourced(self, source: str) -> Labels:
        """The stream's labels and the stream that it is the dead-letter queue of."""
        return make_labels(SOURCE, (*self.own.values, source))
