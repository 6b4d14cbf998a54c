"""Every family, under the headings of the documentation; boards and rules are checked against it. Pure."""

from itertools import groupby
from typing import Final

# Importing them declares their families.
import streamops.exporter.stream_families  # noqa: F401
from streamops.exporter.families import DECLARED, MetricFamily
from streamops.exporter.system_families import IN_WORKER

# Whichever module was imported first: stream_families, then system_families.
_IN_ORDER: Final = sorted(DECLARED, key=lambda family: family.value.__module__)
FAMILIES: Final = tuple(family for family in _IN_ORDER if family.scope.section != IN_WORKER)
"""Everything the exporter itself prints."""

WORKER_FAMILIES: Final = tuple(family for family in _IN_ORDER if family.scope.section == IN_WORKER)
"""What workers print at an endpoint of their own; declared here for the documentation, boards and rules."""

FAMILY: Final[dict[str, MetricFamily]] = {family.name: family for family in FAMILIES}
"""Families by name."""

SECTIONS: Final[dict[str, tuple[MetricFamily, ...]]] = {
    title: tuple(families) for title, families in groupby(_IN_ORDER, key=lambda family: family.scope.section)
}
"""All families, by the headings of the documentation."""
