"""Guards: who is shown, who is not, and that this is counted."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.errors import ExitCode, SettingsError
from streamops.exporter.series_limits import (
    LONGEST_NAME,
    Granularity,
    Omitted,
    SeriesLimits,
    compile_patterns,
    showable,
    shown_consumers,
    shown_streams,
)
from streamops.exporter.shown import ExporterHealth
from streamops.model.entries import EPOCH
from streamops.model.streams import MILLISECOND, Consumer, Members
from streamops.model.text import encodable
from tests.support.exporter.readings import HOSTILE, observed, reading
from tests.support.exporter.samples import told
from tests.support.invented import NOW, bounded, consumer, group, minutes, seconds, snapshot, stream
from tests.support.tables import table

AT = (NOW - EPOCH) // MILLISECOND


def shown(guards: SeriesLimits, *names: str) -> tuple[list[str], dict[tuple[str, ...], int]]:
    omitted: Omitted = Counter()
    views = shown_streams(guards, observed(snapshot(*map(stream, names))).streams, omitted)
    return [view.stream.name for view in views], dict(omitted)


def patterns(*texts: str) -> SeriesLimits:
    return SeriesLimits(include=compile_patterns(texts, "include"))


def test_everything_is_shown_unless_said_otherwise() -> None:
    assert shown(SeriesLimits(), "a", "b") == (["a", "b"], {})


def test_patterns_match_whole_names_and_exclusion_wins() -> None:
    guards = replace(patterns("orders.*", "pay"), exclude=compile_patterns([".*:dlq"], "exclude"))
    assert shown(guards, "orders", "orders:dlq", "pay", "payments") == (
        ["orders", "pay"],
        {("stream", "pattern"): 2},
    )


def test_patterns_see_names_as_they_are_printed() -> None:
    assert shown(patterns(r"a\\xff"), "a\udcff", "b")[0] == ["a\udcff"]


@table("pattern", ["(", "a**", "[z-a]", "(?P<x", "a{2000}", "(?=a)"])
def test_a_pattern_that_is_no_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(SettingsError, match="no regular expression") as caught:
        compile_patterns(["ok", pattern], "exporter.include")
    assert "exporter.include" in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.hint


def test_of_too_many_streams_those_with_the_greatest_lag_are_shown_in_their_order() -> None:
    lags = {"a": 3, "b": 9, "c": 0, "d": 5}
    states = [stream(name, [group(lag=lag)]) for name, lag in lags.items()]
    states.append(stream("e", [group(lag=bounded(0, 99))]))
    omitted: Omitted = Counter()
    views = shown_streams(SeriesLimits(max_streams=3), observed(snapshot(*states)).streams, omitted)
    assert [view.stream.name for view in views] == ["b", "d", "e"]
    assert omitted == {("stream", "max_streams"): 2}


def some_consumers(*those: tuple[str, int, timedelta]) -> list[Consumer]:
    return [consumer(name, pending=pending, idle=idle) for name, pending, idle in those]


def test_consumers_with_nothing_pending_must_have_been_seen_of_late() -> None:
    members = Members.of(
        some_consumers(("a", 0, minutes(15)), ("b", 0, minutes(15.1)), ("c", 1, minutes(999))), AT
    )
    omitted: Omitted = Counter()
    assert shown_consumers(SeriesLimits(), members, omitted).names == ("a", "c")
    assert omitted == {("consumer", "unseen"): 1}


def test_of_too_many_consumers_those_that_hold_entries_come_first_and_then_the_last_seen() -> None:
    members = Members.of(
        some_consumers(
            ("a", 0, seconds(1)), ("b", 2, minutes(60)), ("c", 0, seconds(2)), ("d", 1, seconds(5))
        ),
        AT,
    )
    omitted: Omitted = Counter()
    assert shown_consumers(SeriesLimits(max_consumers=3), members, omitted).names == ("a", "b", "d")
    assert shown_consumers(SeriesLimits(max_consumers=1), members, omitted).names == ("d",)
    assert omitted == {("consumer", "max_consumers"): 1 + 3}


@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.sampled_from(["a", "\\xfe", "\udcfe"])), unique=True))
def test_no_two_names_print_alike(names: list[str]) -> None:
    omitted: Omitted = Counter()
    kept = showable(names, names, "stream", omitted)
    texts = [encodable(name) for name in kept]
    assert len(set(texts)) == len(texts)
    assert set(texts) == {encodable(name) for name in names}
    assert sum(omitted.values()) == len(names) - len(kept)
    assert {name for name in names if encodable(name) == name} <= set(kept)


def names_of(guards: SeriesLimits) -> set[str]:
    found = told(reading(snapshot(stream(groups=[group()]))), guards)
    return {name.split("_")[0] for name, values in found.items() if values}


def omitted_by(guards: SeriesLimits) -> Mapping[tuple[str, ...], float]:
    members = some_consumers(("w1", 0, seconds(1)), ("w2", 0, seconds(1)))
    health = ExporterHealth(omitted={("stream", "max_streams"): 7})
    one = replace(reading(snapshot(stream(groups=[group(members=members)]))), health=health)
    return told(one, guards)["series_omitted"]


def test_families_finer_than_the_granularity_are_left_out() -> None:
    assert {"stream", "group", "consumer"} <= names_of(SeriesLimits())
    assert "consumer" not in names_of(SeriesLimits(granularity=Granularity.GROUP))
    assert not {"group", "consumer"} & names_of(SeriesLimits(granularity=Granularity.STREAM))


def test_what_is_left_out_is_told_with_what_never_came_here() -> None:
    before = {("stream", "max_streams"): 7}
    assert omitted_by(SeriesLimits()) == before
    assert omitted_by(SeriesLimits(granularity=Granularity.GROUP)) == before | {
        ("consumer", "granularity"): 2
    }
    assert omitted_by(SeriesLimits(granularity=Granularity.STREAM)) == before | {("group", "granularity"): 1}
    assert omitted_by(SeriesLimits(max_consumers=1)) == before | {("consumer", "max_consumers"): 1}
    assert omitted_by(SeriesLimits(max_streams=0)) == {("stream", "max_streams"): 8}


def test_a_name_that_would_fill_every_series_is_left_out() -> None:
    long = "x" * LONGEST_NAME
    omitted: Omitted = Counter()
    names = [long, long + "x", "\udcfe" * 2 * LONGEST_NAME, "a"]
    assert showable(names, names, "group", omitted) == [long, "a"]
    assert omitted == {("group", "max_name"): 2}


@pytest.mark.parametrize("scope", ["stream", "group", "consumer"])
def test_what_is_left_out_comes_back(scope: str) -> None:
    names = {"stream": "orders", "group": "billing", "consumer": "w"}
    left_out = list[float]()
    for name in ("a", "x" * 2000, "x" * 2000, "a"):
        now = names | {scope: name}
        members = [consumer(now["consumer"], pending=1)]
        one = reading(snapshot(stream(now["stream"], groups=[group(now["group"], members=members)])))
        left_out.append(sum(told(one)["series_omitted"].values()))
    assert left_out == [0, 1, 1, 0]


def test_no_pattern_and_no_name_take_longer_than_they_are_long() -> None:
    """Of Python's own expressions this one takes years."""
    assert shown(patterns("([a-z]+:?)+"), "a" * 500 + "!", "a:b")[0] == ["a:b"]
