"""Every family, under the headings of the documentation; boards and rules are checked against it. Pure."""

from itertools import groupby
from typing import Final

# Importing them declares their families.
import streamops.exporter.stream_families
import streamops.exporter.system_families  # noqa: F401
from streamops.exporter.families import DECLARED, MetricFamily

# Whichever module was imported first: stream_families, then system_families.
FAMILIES: Final = tuple(sorted(DECLARED, key=lambda family: family.value.__module__))
"""Everything the exporter prints."""

FAMILY: Final[dict[str, MetricFamily]] = {family.name: family for family in FAMILIES}
"""Families by name."""

SECTIONS: Final[dict[str, tuple[MetricFamily, ...]]] = {
    title: tuple(families) for title, families in groupby(FAMILIES, key=lambda family: family.scope.section)
}
"""All families, by the headings of the documentation."""
