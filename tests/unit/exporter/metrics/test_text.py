"""Text: the same bytes that prometheus_client prints, and nothing that Prometheus would refuse."""

from collections.abc import Callable, Iterable

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition, parser
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.utils import floatToGoString

from streamops.exporter.catalogue import FAMILIES, FAMILY
from streamops.exporter.catalogue.others import NOTIFICATIONS
from streamops.exporter.metrics.collector import StreamopsCollector
from streamops.exporter.metrics.labels import make_labels
from streamops.exporter.metrics.reading import ExporterHealth, Reading
from streamops.exporter.metrics.samples import Block, Column
from streamops.exporter.metrics.sampling import Sampler, samples
from streamops.exporter.metrics.text import instant_text, number_text, render_openmetrics, render_text
from tests.support.exporter.metrics.text import names
from tests.support.exporter.readings import reading, readings
from tests.support.exporter.whole import WHOLE
from tests.support.invented import group, seconds, snapshot, stream

go_text: Callable[[float], str] = floatToGoString
generate_openmetrics: Callable[[CollectorRegistry], bytes] = exposition.generate_latest
parse_openmetrics: Callable[[str], Iterable[Metric]] = parser.text_string_to_metric_families
INSTANTS = FAMILY["streamops_consumer_last_seen_timestamp_seconds"]


def registry(one: Reading) -> CollectorRegistry:
    made = CollectorRegistry(auto_describe=False)
    made.register(StreamopsCollector(lambda: one))
    return made


@given(readings())
def test_metrics_print_as_the_client_library_prints_them(one: Reading) -> None:
    found = samples(one)
    assert render_text(found) == generate_latest(registry(one))
    assert render_openmetrics(found) == generate_openmetrics(registry(one))


@given(readings())
def test_prometheus_reads_what_is_printed_and_no_series_comes_twice(one: Reading) -> None:
    found = samples(one)
    for families in (
        list(text_string_to_metric_families(render_text(found).decode())),
        list(parse_openmetrics(render_openmetrics(found).decode())),
    ):
        series = [
            (sample.name, *sorted(sample.labels.items())) for family in families for sample in family.samples
        ]
        assert len(series) == len(set(series))
        assert len(series) == sum(
            value is not None for block in found for column in block.columns for value in column.values
        )


@given(st.lists(readings(), min_size=2, max_size=2))
def test_what_is_kept_between_scrapes_changes_nothing(those: list[Reading]) -> None:
    sampler = Sampler()
    for one in those:
        assert render_text(sampler.sample(one)) == render_text(samples(one))


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**64), 2**64)))
def test_numbers_print_as_in_go(number: float) -> None:
    assert number_text(number) == go_text(number)


@given(
    st.one_of(
        st.integers(-(10**15), 10**15), st.integers(1_700_000_000, 1_800_000_000).map(lambda one: one * 1000)
    )
)
def test_instants_print_as_the_seconds_that_they_are(milliseconds: int) -> None:
    assert instant_text(milliseconds) == go_text(milliseconds / 1000)


@given(
    st.lists(
        st.none()
        | st.integers(-(10**15), 10**15)
        | st.integers(1_700_000_000_000, 1_800_000_000_000)
        | st.sampled_from([10**12, 10**12 + 1, 2 * 10**12, 10**13 - 1, 10**13]),
        max_size=5,
    )
)
def test_instants_of_any_time_print_side_by_side(instants: list[int | None]) -> None:
    labels = [make_labels(INSTANTS.labels, ("0", "s", "g", str(at))) for at in range(len(instants))]
    text = render_text((Block(labels, (Column(INSTANTS, instants, milliseconds=True),)),)).decode()
    told = [line.rpartition(" ")[2] for line in text.splitlines() if not line.startswith("#")]
    assert told == [go_text(one / 1000) for one in instants if one is not None]


def test_a_page_without_a_server_tells_of_the_exporter_alone() -> None:
    down = Reading(None, health=ExporterHealth(up=False, errors={"connect": 2}))
    assert names(render_text(samples(down))) == {
        "streamops_up",
        "streamops_build_info",
        "streamops_collect_errors_total",
    }


def test_every_family_can_come() -> None:
    elsewhere = {NOTIFICATIONS.name}  # told by what notifies, which is no reading's business
    assert names(render_text(samples(WHOLE))) == {family.name for family in FAMILIES} - elsewhere


def test_families_that_vanish_leave_nothing_behind() -> None:
    sampler = Sampler()
    before = render_text(sampler.sample(reading(snapshot(stream(groups=[group()])))))
    after = render_text(sampler.sample(reading(snapshot(stream()))))
    assert b"billing" in before
    assert b"billing" not in after
    assert "streamops_group_lag_entries" not in names(after)


def test_labels_are_escaped() -> None:
    text = render_text(samples(reading(snapshot(stream('a"b\\c\nd\udcff'))))).decode()
    assert r'streamops_stream_length{db="0",stream="a\"b\\c\nd\\xff"} 100.0' in text.splitlines()


def test_times_are_exact_to_the_millisecond() -> None:
    told = render_text(samples(reading(snapshot(stream(length=1), at=seconds(0.007))))).decode()
    assert "streamops_snapshot_timestamp_seconds 1.773489600007e+09" in told.splitlines()
