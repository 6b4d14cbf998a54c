"""Labels kept from one scrape to the next: making them anew would be most of the work of a page."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from streamops.exporter.metrics.labels import Labels, make_labels

Kept = TypeVar("Kept")

STREAM: Final = ("db", "stream")
SOURCE: Final = ("db", "stream", "source")
GROUP: Final = ("db", "stream", "group")
CONSUMER: Final = ("db", "stream", "group", "consumer")
STATUS: Final = (*GROUP, "status")
WHAT: Final = (*GROUP, "what")


class Remembered(Generic[Kept]):
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
        self._consumers: Remembered[Labels] = Remembered()
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
        self._groups: Remembered[GroupLabels] = Remembered()

    def groups(self, names: Sequence[str]) -> list[GroupLabels]:
        """The labels of its groups."""
        return self._groups.see(names, lambda name: GroupLabels((*self.own.values, name)))

    def sourced(self, source: str) -> Labels:
        """The stream's labels and the stream that it is the dead-letter queue of."""
        return make_labels(SOURCE, (*self.own.values, source))
