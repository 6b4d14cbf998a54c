"""Metrics: their names, what they say, and that none ever falls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from docs.worker_families import WORKER_FAMILIES
from streamops.runtime import Entry, Streamops
from streamops.runtime.counts import BOUNDS, Distribution, HandlerCounts, Histogram, at_rest, total
from streamops.runtime.metrics import WorkerCollector, render
from streamops.runtime.supervisor.spec import WorkerReport, decode_report, encode_report
from streamops.wire.consuming.heartbeats import fetch_heartbeats
from streamops.wire.server import Server
from tests.support.runtime.working import until, working
from tests.support.servers import RunningServer

NAMES = {
    "streamops_handler_duration_seconds": "histogram",
    "streamops_entry_latency_seconds": "histogram",
    "streamops_handler_failures": "counter",
    "streamops_retries": "counter",
    "streamops_dead_lettered": "counter",
    "streamops_reclaimed": "counter",
    "streamops_duplicates": "counter",
    "streamops_noack_lost": "counter",
    "streamops_in_flight": "gauge",
    "streamops_concurrency_limit": "gauge",
}


def families(*figures: HandlerCounts) -> dict[str, Metric]:
    text = render(WorkerCollector(lambda: figures)).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def values(*figures: HandlerCounts) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families(*figures).values()
        for sample in family.samples
    }


def spread(*durations: float) -> Distribution:
    histogram = Histogram()
    for duration in durations:
        histogram.observe(duration)
    return Distribution(tuple(histogram.counts), histogram.total)


FIGURES = HandlerCounts(
    stream="orders",
    group="billing",
    handler="bill",
    durations=spread(0.003, 0.003, 400.0),
    latencies=spread(0.02),
    failures=3,
    retries={"active": 2},
    dead_lettered={"rejected": 1},
    reclaimed=4,
    duplicates=5,
    in_flight=6,
    concurrency=7,
)


def test_names_and_types_are_those_that_dashboards_rely_on() -> None:
    assert {name: family.type for name, family in families(FIGURES).items()} == NAMES


def test_figures_are_rendered_with_the_labels_of_their_handler() -> None:
    told = values(FIGURES)
    who = {"stream": "orders", "group": "billing", "handler": "bill"}
    labels = tuple(sorted(who.items()))
    assert told["streamops_handler_failures_total", labels] == 3
    assert told["streamops_retries_total", tuple(sorted({**who, "reason": "active"}.items()))] == 2
    assert told["streamops_dead_lettered_total", tuple(sorted({**who, "reason": "rejected"}.items()))] == 1
    assert told["streamops_reclaimed_total", labels] == 4
    assert told["streamops_duplicates_total", labels] == 5
    assert told["streamops_in_flight", labels] == 6
    assert told["streamops_concurrency_limit", labels] == 7
    assert told["streamops_handler_duration_seconds_count", labels] == 3
    assert told["streamops_handler_duration_seconds_sum", labels] == pytest.approx(400.006)
    buckets = {
        dict(labels)["le"]: value
        for (name, labels), value in told.items()
        if name == "streamops_handler_duration_seconds_bucket"
    }
    assert (buckets["0.0025"], buckets["0.005"], buckets["300.0"], buckets["+Inf"]) == (0, 2, 2, 3)
    assert len(buckets) == len(BOUNDS) + 1


@given(name=st.text(max_size=20), reason=st.text(max_size=20))
def test_labels_hold_any_text(name: str, reason: str) -> None:
    one = HandlerCounts(stream=name, group=name, handler=name, retries={reason: 1})
    (sample,) = families(one)["streamops_retries"].samples
    assert sample.labels == {"stream": name, "group": name, "handler": name, "reason": reason}


def test_figures_of_one_stream_are_not_added_to_those_of_another() -> None:
    """Two handlers may share a name and a group's name on different streams."""
    other = replace(FIGURES, stream="payments", failures=1)
    assert total([FIGURES, other, FIGURES]) == (FIGURES + FIGURES, other)


def test_the_catalogue_tells_of_all_of_them() -> None:
    told = families(FIGURES)
    for family in WORKER_FAMILIES:
        metric = told.pop(family.base)
        assert (metric.type, metric.documentation) == (family.kind.value, family.help)
        assert {frozenset(sample.labels) - {"le"} for sample in metric.samples} == {frozenset(family.labels)}
    assert not told


def test_nothing_to_tell_is_told() -> None:
    assert {name: len(family.samples) for name, family in families().items()} == dict.fromkeys(NAMES, 0)


durations = st.lists(st.floats(0, 400), max_size=5).map(lambda some: spread(*some))
counts = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9))
figures = st.builds(
    HandlerCounts,
    stream=st.sampled_from("st"),
    group=st.just("g"),
    handler=st.sampled_from("xy"),
    durations=durations,
    failures=st.integers(0, 9),
    retries=counts,
    dead_lettered=counts,
    in_flight=st.integers(0, 9),
    concurrency=st.integers(0, 9),
)


@given(st.lists(figures, min_size=1, max_size=6), st.data())
def test_no_counter_falls_when_a_worker_ends(workers: list[HandlerCounts], data: st.DataObject) -> None:
    """Whoever ends leaves behind what it counted; whoever comes counts from nought."""
    gone = data.draw(st.integers(0, len(workers) - 1))
    before = values(*total(workers))
    after = values(*total([*at_rest(workers[gone : gone + 1]), *workers[:gone], *workers[gone + 1 :]]))
    gauges = ("streamops_in_flight", "streamops_concurrency_limit")
    for sample, value in before.items():
        assert after[sample] == pytest.approx(value) or sample[0] in gauges
        assert after[sample] <= value or sample[0] not in gauges


async def test_names_that_are_no_unicode_fail_neither_scrape_nor_report(server: RunningServer) -> None:
    """Names in Redis are bytes: neither a scrape, nor a report to the parent, nor a heartbeat fails because of one."""
    app, handled = Streamops(server.options), list[str]()

    @app.handler("orders\udcfe", group="\udcff", start="0", name="bill")
    async def handle(entry: Entry) -> None:
        handled.append(entry.stream)

    server.command("XADD", b"orders\xfe", "*", "n", "1")
    async with working(app) as worker:
        await until(lambda: handled)
        figures = worker.counts
        assert decode_report(encode_report(WorkerReport(figures=figures))).figures == figures
        (sample,) = families(*figures)["streamops_handler_failures"].samples
        assert sample.labels == {"stream": "orders\\xfe", "group": "\\xff", "handler": "bill"}
        await until(lambda: server.command("EXISTS", f"streamops:worker:{worker.id}"))
        connection = await Server.connect(server.options)
        (heart,) = (await fetch_heartbeats(connection, [worker.id])).hearts
        await connection.close()
    assert heart.consumers == (("orders\udcfe", "\udcff", worker.id),)
