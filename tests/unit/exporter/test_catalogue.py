"""The catalogue: names and labels that dashboards rely on, and that Prometheus's conventions allow."""

import re
import subprocess
import sys

from docs.worker_families import WORKER_FAMILIES
from streamops.exporter.catalogue import FAMILIES, FAMILY, SECTIONS
from streamops.exporter.families import MetricKind
from streamops.service.processes import module_environment

EVERY = (*FAMILIES, *WORKER_FAMILIES)
UNITS = {"seconds", "bytes", "entries"}


def test_names_are_unique_and_ours() -> None:
    names = [family.name for family in EVERY]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"streamops_[a-z0-9]+(_[a-z0-9]+)*", name) for name in names)
    assert {name: FAMILY[name] for name in FAMILY} == {family.name: family for family in FAMILIES}


def test_counters_and_only_counters_end_in_total() -> None:
    assert [
        one.name for one in EVERY if one.name.endswith("_total") != (one.kind is MetricKind.COUNTER)
    ] == []


def test_help_is_one_sentence_that_needs_no_escaping() -> None:
    for family in EVERY:
        assert re.fullmatch(r'[A-Z][^"\\\n]+\.', family.help), family.name
        assert family.source
        assert family.cost


def test_units_are_base_units_and_end_the_names() -> None:
    for family in EVERY:
        if family.unit in UNITS and family.name.endswith(("seconds", "bytes", "_entries")):
            assert family.declared_unit == family.unit, family.name
        assert not re.search(r"_(ms|milliseconds|minutes|kb|percent)(_|$)", family.name)


def test_labels_go_from_the_outermost_in() -> None:
    depth = ("db", "stream", "group", "consumer")
    for family in EVERY:
        known = [label for label in family.labels if label in depth]
        assert known == sorted(known, key=depth.index), family.name
        assert len(set(family.labels)) == len(family.labels)


def labels_of(title: str) -> set[tuple[str, ...]]:
    return {family.labels for family in SECTIONS[title]}


def test_labels_of_the_large_families() -> None:
    group = ("db", "stream", "group")
    assert labels_of("Streams") == {("db", "stream")}
    assert labels_of("Consumer groups") == {group, (*group, "status"), (*group, "counter")}
    assert labels_of("Consumers") == {(*group, "consumer")}
    assert labels_of("Dead letters") == {("db", "stream", "source")}
    assert labels_of("Delayed messages") == {("db", "queue")}


def test_openmetrics_calls_counters_without_total() -> None:
    assert FAMILY["streamops_group_rewinds_total"].base == "streamops_group_rewinds"
    assert FAMILY["streamops_group_lag_entries"].base == "streamops_group_lag_entries"


def test_catalogue_has_one_order_whichever_module_is_imported_first() -> None:
    code = "from streamops.exporter.catalogue import SECTIONS; print(*SECTIONS, sep='|')"
    first = "import streamops.exporter.system_families; "
    told = [
        subprocess.run(
            [sys.executable, "-c", before + code],
            check=True,
            capture_output=True,
            text=True,
            env=module_environment(),
        ).stdout
        for before in ("", first)
    ]
    assert told[0] == told[1]
