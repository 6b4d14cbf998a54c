"""What a family of metrics is."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

PREFIX: Final = "streamops_"
TOTAL: Final = "_total"


class Kind(StrEnum):
    """The types of metrics that are used, in Prometheus's words."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class Family(Struct, frozen=True):
    """Metrics of one name.

    Attributes:
        name: The whole name, that of a counter with its ``_total``.
        kind: Its type.
        unit: What is counted or measured: ``entries``, ``seconds``, ``bytes``; empty where it says yes or no.
        labels: Names of its labels, from the outermost in.
        help: What it says, in one sentence.
        source: What it is made from.
        cost: What that costs the server, a scrape unless said otherwise.
    """

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    help: str
    source: str
    cost: str

    @property
    def base(self) -> str:
        """The name as OpenMetrics has it: without ``_total``."""
        return self.name.removesuffix(TOTAL) if self.kind is Kind.COUNTER else self.name

    @property
    def declared_unit(self) -> str:
        """The unit where the name ends with it, as OpenMetrics asks; empty elsewhere."""
        return self.unit if self.unit and self.base.endswith(f"_{self.unit}") else ""


class Scope(Struct, frozen=True):
    """What families of the same subject share.

    Attributes:
        labels: Names of their labels.
        cost: What reading them costs.
    """

    labels: tuple[str, ...]
    cost: str

    def gauge(self, name: str, unit: str, text: str, source: str, *more: str, cost: str = "") -> Family:
        """A gauge; ``more`` are names of further labels."""
        return self._family(Kind.GAUGE, name, (unit, text, source), more, cost)

    def counter(self, name: str, unit: str, text: str, source: str, *more: str, cost: str = "") -> Family:
        """A counter, named with its ``_total``."""
        return self._family(Kind.COUNTER, name, (unit, text, source), more, cost)

    def histogram(self, name: str, unit: str, text: str, source: str) -> Family:
        """A histogram."""
        return self._family(Kind.HISTOGRAM, name, (unit, text, source), (), "")

    def _family(
        self, kind: Kind, name: str, told: tuple[str, str, str], more: tuple[str, ...], cost: str
    ) -> Family:
        unit, text, source = told
        return Family(f"{PREFIX}{name}", kind, unit, (*self.labels, *more), text, source, cost or self.cost)
