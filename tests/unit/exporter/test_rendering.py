"""Text: what prometheus_client reads from it is what was to be told, and Prometheus refuses none of it."""

from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser
from prometheus_client.parser import text_string_to_metric_families

from streamops.exporter.catalogue import FAMILIES
from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import Form, LabelCache
from streamops.exporter.series_limits import NO_LIMITS, SeriesLimits
from streamops.exporter.shown import ExporterHealth, ScrapeReading, show
from streamops.model.text import encodable
from tests.support.exporter.readings import reading, readings
from tests.support.exporter.samples import names, told
from tests.support.exporter.whole import WHOLE
from tests.support.invented import consumer, group, minutes, seconds, snapshot, stream

parse_openmetrics: Callable[[str], Iterable[Metric]] = parser.text_string_to_metric_families
PARSERS = {Form.TEXT: text_string_to_metric_families, Form.OPENMETRICS: parse_openmetrics}


def printed(one: ScrapeReading, form: Form = Form.TEXT, labels: LabelCache | None = None) -> str:
    return MetricsPage(one, NO_LIMITS, labels or LabelCache(), 0.0).plain(form).decode()


@given(readings(), st.sampled_from(Form))
def test_what_is_read_from_a_page_is_what_was_to_be_told(one: ScrapeReading, form: Form) -> None:
    found = [sample for family in PARSERS[form](printed(one, form)) for sample in family.samples]
    labels_of = {family.name: family.labels for family in FAMILIES}
    series = {(sample.name, tuple(sorted(sample.labels.items()))): float(sample.value) for sample in found}
    assert len(series) == len(found), "a series comes twice"
    assert series == {
        (name, tuple(sorted(zip(labels_of[name], map(encodable, labels), strict=True)))): float(value)
        for metric, values in told(one).items()
        for name in [f"streamops_{metric}"]
        for labels, value in values.items()
    }


@given(st.lists(readings(), min_size=2, max_size=3), st.sampled_from(Form))
def test_labels_that_are_kept_between_pages_change_nothing(those: list[ScrapeReading], form: Form) -> None:
    labels = LabelCache()
    for one in (*those, those[0]):
        assert printed(one, form, labels) == printed(one, form)


def test_labels_of_what_is_gone_are_forgotten() -> None:
    """Names that come and go, as those of pods do, must not pile up."""
    labels = LabelCache()
    for number in range(5):
        members = [consumer(f"w{number}", pending=1), consumer("stays")]
        state = stream(f"s{number}", [group(f"g{number}", members=members)])
        printed(reading(snapshot(state, at=minutes(number))), labels=labels)
        kept = {values for _, texts, _ in labels._kept.values() for values in texts}
        assert not {f"s{number - 1}", f"w{number - 1}"} & {value for values in kept for value in values}


def test_a_page_without_a_server_tells_of_the_exporter_alone() -> None:
    down = ScrapeReading(None, health=ExporterHealth(up=False, errors={"connect": 2}))
    assert names(printed(down).encode()) == {
        "streamops_up",
        "streamops_build_info",
        "streamops_collect_errors_total",
    }


def test_every_family_can_come() -> None:
    elsewhere = {"streamops_notifications_total"}  # told by what notifies, which is no reading's business
    assert names(printed(WHOLE).encode()) == {family.name for family in FAMILIES} - elsewhere


def test_families_finer_than_the_guards_are_not_on_the_page() -> None:
    shown = show(WHOLE, SeriesLimits(max_streams=0))
    assert not any(
        family.samples(shown)[1] for family in FAMILIES if family.name.startswith("streamops_stream")
    )


def test_labels_are_escaped() -> None:
    text = printed(reading(snapshot(stream('a"b\\c\nd\udcff'))))
    assert r'streamops_stream_length{db="0",stream="a\"b\\c\nd\\xff"} 100' in text.splitlines()


def test_times_are_exact_to_the_millisecond() -> None:
    text = printed(reading(snapshot(stream(length=1), at=seconds(0.007))))
    assert "streamops_snapshot_timestamp_seconds 1773489600007e-3" in text.splitlines()
