from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from streamops.model.observation import Health, Observation
from streamops.model.streams import Mode
from streamops.resources.table import Tone
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState, Loss, PollPace
from streamops.tui.polling.live import HealthCounts
from tests.support.resources.text import text
from tests.support.tui import sample
from tests.support.tui.source import PROD, STAGING

TWO = timedelta(seconds=2)


def app_state(observation: Observation | None = None, **changes: Any) -> AppState:
    known = sample.shop() if observation is None else observation
    plain = AppState(
        PROD, PollPace(TWO, TWO), known, arrived=100.0, tally=HealthCounts().count(known.streams)
    )
    return replace(plain, **changes)


def test_the_header_says_where_and_how() -> None:
    left, right = words.header(app_state(), 120)
    assert text(left) == " streamops  prod  production  redis 8.0.0 · redis://redis.shop.example:6379/0"
    assert text(right).split("  ") == [
        "", "▲ eviction risk", "groups ✗ crit 1", "▲ warn 3", "? unknown 1", "✓ ok 4", ""
    ]  # fmt: skip
    assert text(words.header(app_state(), 80)[1]).strip() == "▲ eviction risk  groups ✗ 1  ▲ 3  ? 1  ✓ 4"


def test_only_production_is_coloured_as_a_warning() -> None:
    def tone(context: object) -> Tone:
        left, _ = words.header(app_state(context=context), 120)
        return [cell.tone for cell in left if cell.text in ("production", "staging")][-1]

    assert tone(PROD) is Tone.WARN
    assert tone(STAGING) is Tone.DIM


def test_a_mode_other_than_standalone_is_told() -> None:
    shop = sample.shop()
    server = replace(shop.snapshot.server, mode=Mode.CLUSTER)
    clustered = replace(shop, snapshot=replace(shop.snapshot, server=server))
    assert "redis 8.0.0 · cluster" in text(words.header(app_state(clustered), 120)[0])


def test_crumbs_lead_from_the_context() -> None:
    line = words.crumbs(PROD, ("orders", "bil\nling"))
    assert text(line) == " prod ▸ orders ▸ bil\\nling"
    assert line[-1].tone is Tone.STRONG


def test_the_banner_says_why_how_old_and_when_again() -> None:
    for loss, now, expected in [
        (Loss("connection refused", "", 105.0), 101.0, "✗ data 1s old · next try in 4s · connection refused"),
        (Loss("refused", "start it", 105.0), 105.0, "✗ data 5s old · trying again · refused · start it"),
        (Loss("gone", "", None), 190.0, "✗ data 1m30s old · gone"),
    ]:
        assert text(words.banner(loss, app_state(loss=loss), now)).strip() == expected


def test_a_banner_before_any_data_has_no_age() -> None:
    first = AppState(PROD, PollPace(TWO, TWO))
    assert text(words.banner(Loss("refused", "", None), first, 5.0)).strip() == "✗ refused"


def test_the_status_says_how_fresh() -> None:
    cases: list[tuple[dict[str, Any], float, str]] = [
        ({}, 101.0, "refresh 2 s · 1 not readable (?)"),
        ({}, 120.0, "refresh 2 s  · stale, 20s old"),
        ({"loss": Loss("x", "", None)}, 103.0, "refresh 2 s  · stale, 3s old"),
        ({"frozen": True}, 107.0, "‖ frozen, 7s old (p)"),
        ({"pace": PollPace(None, None)}, 107.0, "refresh off, 7s old (r)"),
        (
            {"pace": PollPace(TWO, 3 * TWO, "stretched: a poll takes 2s")},
            101.0,
            "refresh 6 s (stretched: a poll takes 2s)",
        ),
    ]
    for changes, now, expected in cases:
        assert text(words.status(app_state(**changes), now)).strip().startswith(expected)


def test_the_status_says_what_is_missing() -> None:
    shop = sample.shop()
    partial = replace(
        shop, snapshot=replace(shop.snapshot, discovery_complete=False, discovered=900, gaps=(), commands=1)
    )
    assert text(words.status(app_state(partial), 100.0)).strip() == (
        "refresh 2 s · still scanning for streams · 7 of 900 streams"
    )
    assert text(words.status(AppState(PROD, PollPace(TWO, TWO)), 0.0)).strip() == "refresh 2 s · connecting"


def test_the_position_counts_from_one() -> None:
    for cursor, rows, expected in [
        (0, 0, "0/0"),
        (0, 9, "1/9"),
        (8, 9, "9/9"),
        (1233, 10_000, "1,234/10,000"),
    ]:
        assert text(words.position(cursor, rows)).strip() == expected


def test_keys_leave_from_the_right_and_help_stays() -> None:
    pairs = (("a", "first"), ("b", "second"), ("?", "help"))
    assert text(words.keys(pairs, 80)) == " a first  b second  ? help  "
    assert text(words.keys(pairs, 20)) == " a first  ? help  "
    assert text(words.keys(pairs, 3)) == " ? help  "


def test_a_tally_counts_groups_and_streams_without() -> None:
    tally = HealthCounts()
    assert tally.count(sample.shop().streams) == {
        Health.OK: 4, Health.UNKNOWN: 1, Health.WARN: 3, Health.CRITICAL: 1
    }  # fmt: skip
    assert tally.count(sample.observation().streams) == {}


def test_a_tally_leaves_out_streams_of_streamops_itself_as_the_first_screen_does() -> None:
    audit = sample.stream_view("streamops:audit")
    shop = sample.shop()
    assert HealthCounts().count((*shop.streams, audit)) == HealthCounts().count(shop.streams)


def test_a_tally_follows_what_changes() -> None:
    before = sample.shop()
    critical, *others = sorted(before.streams, key=lambda view: view.health, reverse=True)
    replaced = {critical.stream.name: others[-1]}
    after = replace(before, streams=tuple(replaced.get(view.stream.name, view) for view in before.streams))
    tally = HealthCounts()
    assert tally.count(before.streams) != HealthCounts().count(after.streams)
    assert tally.count(after.streams) == HealthCounts().count(after.streams)
    assert tally.count(before.streams) == HealthCounts().count(before.streams)
