"""Samples of a reading, before they are text."""

from collections.abc import Mapping

from streamops.exporter.catalogue import FAMILIES
from streamops.exporter.series_limits import NO_LIMITS, SeriesLimits
from streamops.exporter.shown import ScrapeReading, show

Told = Mapping[str, Mapping[tuple[str, ...], float]]


def told(reading: ScrapeReading, guards: SeriesLimits = NO_LIMITS) -> Told:
    """Values that are known, by metric without its prefix, and labels; instants in seconds."""
    shown, found = show(reading, guards), dict[str, dict[tuple[str, ...], float]]()
    for family in FAMILIES:
        samples = zip(*family.samples(shown), strict=True)
        found[family.name.removeprefix("streamops_")] = {
            labels: value / 1000 if family.is_instant else value
            for labels, value in samples
            if value is not None
        }
    return found


def names(page: bytes) -> set[str]:
    """Names of the families on a page."""
    return {line.split()[2] for line in page.decode().splitlines() if line.startswith("# TYPE")}
