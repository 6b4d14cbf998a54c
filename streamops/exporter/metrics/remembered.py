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
    """What is kept by name, as long as the name is seen.

    Args:
        make: Makes what is to be kept of a name that is new.
    """

    def __init__(self, make: Callable[[str], Kept]) -> None:
        self._make = make
        self._kept: dict[str, Kept] = {}

    def see(self, names: Sequence[str]) -> list[Kept]:
        """What is kept of these names, in their order; others are forgotten."""
        known = self._kept
        self._kept = {name: known[name] if name in known else self._make(name) for name in names}
        return list(self._kept.values())


class GroupLabels:
    """The labels of a group, and of all that belongs to it.

    Attributes:
        own: Its own.
        consumers: Those of its consumers.
    """

    def __init__(self, values: tuple[str, ...]) -> None:
        self.own = make_labels(GROUP, values)
        self.consumers = Remembered(lambda name: make_labels(CONSUMER, (*values, name)))
        self._values = values
        self._statuses: dict[str, Labels] = {}
        self._whats: dict[str, Labels] = {}

    def status(self, status: str) -> Labels:
        """The group's labels and a status, of which there are but a few."""
        if (labels := self._statuses.get(status)) is None:
            labels = self._statuses[status] = make_labels(STATUS, (*self._values, status))
        return labels

    def what(self, what: str) -> Labels:
        """The group's labels and what of it could not be counted."""
        if (labels := self._whats.get(what)) is None:
            labels = self._whats[what] = make_labels(WHAT, (*self._values, what))
        return labels


class StreamLabels:
    """The labels of a stream, and of all that belongs to it.

    Attributes:
        own: Its own.
        groups: Those of its groups.
    """

    def __init__(self, values: tuple[str, ...]) -> None:
        self.own = make_labels(STREAM, values)
        self.groups = Remembered(lambda name: GroupLabels((*values, name)))
        self._values = values

    def sourced(self, source: str) -> Labels:
        """The stream's labels and the stream that it is the dead-letter queue of."""
        return make_labels(SOURCE, (*self._values, source))
