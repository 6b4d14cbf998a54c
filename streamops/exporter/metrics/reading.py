"""A reading: all that one page of metrics is made of."""

import platform
from collections.abc import Mapping

from msgspec import Struct

import streamops
from streamops.exporter.counters.counting import NO_COUNTERS, Counters
from streamops.model.observation import Observation
from streamops.model.queue_metrics import NO_EXTRAS, Extras

PYTHON = platform.python_version()


class ExporterHealth(Struct, frozen=True, kw_only=True):
    """How the exporter itself fares.

    Attributes:
        up: Whether the last attempt to read the server succeeded.
        phases: Seconds that the phases of the last scrape took, by name: collect, judge, render.
        commands: Commands sent for the snapshot; none without one.
        errors: Failures to read the server so far, by stage.
        omitted: Subjects left out before the guards saw them, by scope and reason.
        discovered: Streams that discovery knows; none where it knows of none yet.
        version: The exporter's version.
        python: The version of Python that it runs on.
    """

    up: bool = True
    phases: Mapping[str, float] = {}
    commands: int | None = None
    errors: Mapping[str, int] = {}
    omitted: Mapping[tuple[str, str], int] = {}
    discovered: int | None = None
    version: str = streamops.__version__
    python: str = PYTHON


class Reading(Struct, frozen=True):
    """What one page of metrics is made of.

    Attributes:
        observation: What was observed; none where the server could not be read.
        extras: What was read beside it.
        counters: What was counted up to and including the observation: ``counting.advance`` made it of that.
        health: How the exporter fares.
    """

    observation: Observation | None
    extras: Extras = NO_EXTRAS
    counters: Counters = NO_COUNTERS
    health: ExporterHealth = ExporterHealth()
