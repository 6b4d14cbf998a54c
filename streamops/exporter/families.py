"""A metric family is one function: it gives the values, and declares scope, name, unit, help and source. Pure."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.exporter.shown import Labels, Shown

TOTAL: Final = "_total"
INSTANT: Final = "_timestamp_seconds"

Value = int | float | None
"""A value; none if it is not known, so that there is no sample."""

Values = Sequence[Value] | Mapping[Labels, Value]
"""A value for each subject of the scope, or values by their labels."""


class MetricKind(StrEnum):
    """The types of metrics that are used, in Prometheus's words."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class MetricFamily(Struct, frozen=True, kw_only=True):
    """Metrics of one name.

    Attributes:
        scope: Its subjects.
        name: The whole name, that of a counter with its ``_total``.
        kind: Its type.
        unit: What is counted or measured: ``entries``, ``seconds``, ``bytes``; empty if it says yes or no.
        help: What it says, in one sentence.
        source: What it is made from.
        cost: What that costs the server, a scrape unless said otherwise.
        since: The first version of Redis that says it; empty for all.
        value: Gives the values; instants in milliseconds since the epoch.
    """

    scope: "Scope"
    name: str
    kind: MetricKind
    unit: str
    help: str
    source: str
    cost: str
    since: str
    value: Callable[[Shown], Values]

    @property
    def labels(self) -> Labels:
        """Names of its labels, from the outermost in."""
        return self.scope.labels

    @property
    def is_instant(self) -> bool:
        """Whether its values are instants."""
        return self.name.endswith(INSTANT)

    @property
    def base(self) -> str:
        """The name as OpenMetrics has it: without ``_total``."""
        return self.name.removesuffix(TOTAL)

    @property
    def declared_unit(self) -> str:
        """The unit if the name ends with it, as OpenMetrics asks; else empty."""
        return self.unit if self.unit and self.base.endswith(f"_{self.unit}") else ""

    def samples(self, shown: Shown) -> tuple[Sequence[Labels], Sequence[Value]]:
        """Labels, and a value for each of them."""
        values = self.value(shown)
        if isinstance(values, Mapping):
            return list(values), list(values.values())
        return self.scope.subjects(shown), values


DECLARED: Final[list[MetricFamily]] = []
"""Every family, in the order of its declaration."""


class Scope(Struct, frozen=True):
    """What families of the same subjects share.

    Attributes:
        section: The heading of the documentation under which they stand.
        labels: Names of their labels, from the outermost in.
        cost: What reading them costs the server, a scrape unless said otherwise.
        subjects: The labels of each subject; one without labels unless given.
        key: What is the same as long as the subjects are; the subjects themselves unless given.
    """

    section: str
    labels: Labels
    cost: str
    subjects: Callable[[Shown], Sequence[Labels]] = lambda _: [()]
    key: Callable[[Shown], object] | None = None

    def family(
        self, unit: str, source: str, *, since: str = "", cost: str = "", is_histogram: bool = False
    ) -> Callable[[Callable[[Shown], Values]], MetricFamily]:
        """Declare the family ``streamops_NAME`` by the function NAME, which gives its values and says in words what it is.

        A counter is what ends in ``_total``. The arguments are those of ``MetricFamily``.
        """

        def declare(value: Callable[[Shown], Values]) -> MetricFamily:
            name = f"streamops_{value.__name__}"
            kind = MetricKind.COUNTER if name.endswith(TOTAL) else MetricKind.GAUGE
            family = MetricFamily(
                name=name,
                kind=MetricKind.HISTOGRAM if is_histogram else kind,
                unit=unit,
                help=" ".join((value.__doc__ or "").split()),
                source=source,
                cost=cost or self.cost,
                since=since,
                scope=self,
                value=value,
            )
            DECLARED.append(family)
            return family

        return declare
