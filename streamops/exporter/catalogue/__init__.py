"""Every metric: names, types, units, labels, help, sources and costs. Pure; the documentation is made of it."""

from typing import Final

from streamops.exporter.catalogue import others as other
from streamops.exporter.catalogue import streams as of_streams
from streamops.exporter.catalogue.family import Family, Kind
from streamops.exporter.catalogue.others import WORKER_FAMILIES

__all__ = ["FAMILIES", "FAMILY", "SECTIONS", "WORKER_FAMILIES", "Family", "Kind"]

SECTIONS: Final[tuple[tuple[str, tuple[Family, ...]], ...]] = (
    ("Streams", of_streams.STREAMS),
    ("Consumer groups", (*of_streams.GROUPS, of_streams.GROUP_STATUS, of_streams.GROUP_UNCOUNTED)),
    ("Consumers", of_streams.CONSUMERS),
    ("Dead letters", of_streams.DEAD_LETTERS),
    ("Delayed messages", other.DELAYED),
    ("Worker processes, as the server knows them", (other.WORKERS, *other.WORKER_SLOTS, other.POOL_PAUSED)),
    (
        "Pools and their controllers",
        (*other.AUTOSCALER_SIZES, other.AUTOSCALER_DECISIONS, other.AUTOSCALER_SIGNAL),
    ),
    ("Redis or Valkey", (other.REDIS_INFO, *other.NODES, other.REDIS_CONFIG_INFO)),
    (
        "The exporter itself",
        (
            other.UP,
            other.SCRAPE_DURATION,
            *other.SCRAPE,
            other.SERIES_OMITTED,
            other.COLLECT_ERRORS,
            other.GAPS,
            other.NOTIFICATIONS,
            other.BUILD_INFO,
        ),
    ),
)
"""What the exporter prints, under the headings of the documentation."""

FAMILIES: Final[tuple[Family, ...]] = tuple(family for _, families in SECTIONS for family in families)
"""Everything the exporter itself prints."""

FAMILY: Final[dict[str, Family]] = {family.name: family for family in FAMILIES}
