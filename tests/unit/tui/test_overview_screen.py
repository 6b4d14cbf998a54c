"""The page of the pulse: every fact where it is known, and the word for it where it is not."""

import gc
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Refused
from streamops.model.entries import EntryId
from streamops.model.observation import Health, Observation
from streamops.model.streams import Mode, ReadError, ServerInfo, StreamRole
from streamops.monitor.delayed import DelayedQueues
from streamops.monitor.pools import ServerWorkers
from streamops.resources.units import ABSENT
from streamops.tui.history.memory import ALL_ADDED, TIERS, MetricsHistory
from streamops.tui.history.rows import Totals, stream_totals, together
from streamops.tui.lines.overview import (
    OverviewReads,
    dead_letter_facts,
    delayed_facts,
    health_facts,
    memory_facts,
    missing_facts,
    rate_facts,
    steps_of,
    waiting_facts,
    worker_facts,
)
from streamops.tui.screens.overview import AGAIN, OverviewScreen
from tests.support import invented
from tests.support.invented import NOW, entry_id, minutes, seconds
from tests.support.resources.text import text
from tests.support.tui import sample
from tests.support.tui.driving import (
    NARROW,
    WIDE,
    crumbs,
    names,
    press,
    running,
    screen_text,
    shown,
    until,
)
from tests.support.tui.overview_source import DELAYED, MANY_GROUPS, PulseSource
from tests.support.tui.source import InventedSource, app_for

REFUSED = Refused("scan is not permitted", "ask for it")


def sums(observation: Observation) -> Totals:
    return together([stream_totals(stream) for stream in observation.streams])


def test_fact_of_health_counts_the_worst_first() -> None:
    for tally, words in [
        ({}, "no streams  "),
        ({Health.OK: 3}, "✓ ok 3  of 3 groups and streams"),
        (
            {Health.OK: 12_345, Health.CRITICAL: 1, Health.UNKNOWN: 2},
            "✗ crit 1  ? unknown 2  ✓ ok 12.3k  of 12,348 groups and streams",
        ),
    ]:
        assert text(health_facts(tally)) == words
    assert (
        text(health_facts({Health.OK: 3}, [sample.EVICTION]))
        == "✓ ok 3  of 3 groups and streams · ▲ eviction risk"
    )


def test_fact_of_waiting_says_at_least_where_lags_are_not_known() -> None:
    for totals, words in [
        (Totals(), "0 not delivered · 0 pending"),
        (Totals(waiting=1204, pending=5), "1,204 not delivered · 5 pending"),
        (Totals(waiting=1204, untold_lags=1), "≥1,204 not delivered (1 lag unknown) · 0 pending"),
        (Totals(untold_lags=2), "≥0 not delivered (2 lags unknown) · 0 pending"),
    ]:
        assert text(waiting_facts(totals)) == words


def letters(length: int, second: float, last: EntryId | None = None) -> Observation:
    view = sample.stream_view("orders:dlq", length=length, role=StreamRole.DEAD_LETTERS)
    view = replace(view, stream=replace(view.stream, last_id=last))
    made = sample.observation(view)
    return replace(made, snapshot=replace(made.snapshot, collected_at=NOW + seconds(second)))


def test_fact_of_dead_letters_tells_their_growth() -> None:
    for observations, words in [
        ([letters(0, 0)], "none"),
        ([letters(3, 0)], "3 in 1 queue"),
        ([letters(3, 0, entry_id(minutes(2)))], "3 in 1 queue · newest 2m00s ago, orders:dlq"),
        ([letters(3, 0, EntryId(5, 0))], "3 in 1 queue · newest, orders:dlq"),
        ([letters(3, 0), letters(8, 60)], "8 in 1 queue · net +5 in 1m00s"),
        ([letters(3, 0), letters(1, 60)], "1 in 1 queue · net -2 in 1m00s"),
        ([letters(3, 0), letters(4, 600), letters(4, 660)], "4 in 1 queue · net +0 in 1m00s"),
    ]:
        past = MetricsHistory()
        for observation in observations:
            past.take(observation)
        assert text(dead_letter_facts(observations[-1], sums(observations[-1]), past)) == words


def test_fact_of_delayed_messages_tells_the_next_or_why_none_is_read() -> None:
    for beside, words in [
        (OverviewReads(), "reading"),
        (OverviewReads(delayed="refused"), "not readable: refused"),
        (OverviewReads(delayed=DelayedQueues((), (), NOW, complete=True)), "0"),
        (OverviewReads(delayed=DelayedQueues((), (), NOW)), "0 · perhaps more"),
        (OverviewReads(delayed=DELAYED), "15 in 2 queues · 2 due · the first 4.0s overdue"),
        (
            OverviewReads(delayed=DelayedQueues(DELAYED.queues[1:], (ReadError("no"),), NOW, complete=True)),
            "3 in 1 queue · 0 due · next in 9m00s · 1 not readable",
        ),
        (
            OverviewReads(delayed=DelayedQueues(DELAYED.queues, (), None, complete=True)),
            "15 in 2 queues · 2 due",
        ),
    ]:
        assert text(delayed_facts(beside)) == words


def test_fact_of_workers_tells_their_states_or_why_none_is_read() -> None:
    for beside, words in [
        (OverviewReads(), "reading"),
        (OverviewReads(workers="refused"), "not readable: refused"),
        (OverviewReads(workers=ServerWorkers((), NOW)), "no streamops workers here"),
        (OverviewReads(workers=MANY_GROUPS), "✓ running 2  ▲ paused 1  6 of 30 slots busy"),
    ]:
        assert text(worker_facts(beside)) == words


def server(*nodes: object) -> ServerInfo:
    return ServerInfo(Mode.STANDALONE, 0, nodes)  # type: ignore[arg-type]


GB = 2**30


def test_fact_of_memory_tells_the_fullest_server() -> None:
    for info, words in [
        (server(), "?"),
        (server(invented.node(used_memory=GB)), "1.0 GiB, without a limit · noeviction"),
        (server(invented.node(used_memory=GB, max_memory=4 * GB)), "1.0 GiB of 4.0 GiB, 25 % · noeviction"),
        (server(invented.node(used_memory=None, max_memory=None, policy="")), "? of ? · policy unknown"),
        (
            server(
                invented.node(used_memory=GB, max_memory=4 * GB),
                invented.node(used_memory=3 * GB, max_memory=4 * GB, policy="allkeys-lru", evicted_keys=7),
            ),
            "2 servers, the fullest 3.0 GiB of 4.0 GiB, 75 % · allkeys-lru, noeviction · 7 keys evicted",
        ),
    ]:
        assert text(memory_facts(info)) == words


def test_missing_parts_are_told_and_nothing_where_nothing_is_missing() -> None:
    assert missing_facts(sample.observation()) == []
    observation = sample.observation(gaps=(ReadError("no"), ReadError("no")), complete=False)
    observation = replace(observation, snapshot=replace(observation.snapshot, discovered=3))
    ((label, line),) = missing_facts(observation)
    assert label == "Missing"
    assert text(line) == "2 parts could not be read · still scanning for streams · 3 streams beyond the limit"


def test_rates_say_at_least_where_a_part_is_not_known_and_nothing_where_none_is() -> None:
    past = MetricsHistory()
    past.take(sample.shop())
    now = NOW.timestamp()
    facts = {label: text(line) for label, line in rate_facts(past, sums(sample.shop()), now, wordy=True)}
    assert facts["Added"].startswith("≥2,553/s")
    assert facts["Added"].endswith("5 min, 6 streams")
    empty = MetricsHistory()
    group = sample.group_view("s", invented.group("g"))
    observation = sample.observation(sample.stream_view("s", group, added=None))
    empty.take(observation)
    facts = {label: text(line) for label, line in rate_facts(empty, sums(observation), now, wordy=False)}
    assert {words.split()[0] for words in facts.values()} == {ABSENT}


def test_a_sparkline_leaves_out_what_was_not_known() -> None:
    past = MetricsHistory()
    for second in (-200, -195, -20, 0):
        made = sample.shop()
        past.take(replace(made, snapshot=replace(made.snapshot, collected_at=NOW + seconds(second))))
    known = steps_of(past.whole(ALL_ADDED, TIERS[1], NOW.timestamp()), NOW.timestamp())
    assert len(known) == 30
    assert [place for place, value in enumerate(known) if value is not None] == [9, 27, 29]


@pytest.mark.parametrize("size", [WIDE, (30, 8)])
async def test_the_page_is_shown_and_enter_leads_to_the_worst(size: tuple[int, int]) -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, size):
        await press(app, "1")
        await until(app, lambda: len(names(app)) == 5)
        if size[0] >= 80:
            await shown(app, "6 of 30 slots busy")
            await shown(app, "15 in 2 queues")
            assert "Nothing was del" in screen_text(app)
        await press(app, "enter")
        await until(app, lambda: crumbs(app) == "prod ▸ payments ▸ ledger")
        await press(app, "escape", "escape")
        await until(app, lambda: crumbs(app) == "prod")


async def test_unreadable_parts_are_told_and_the_rest_is_shown() -> None:
    app = app_for(PulseSource(sample.shop(), REFUSED, REFUSED))
    async with running(app):
        await press(app, "1")
        await shown(app, "not readable: scan is not permitted")
        assert screen_text(app).count("not readable: scan is not permitted") == 2
        assert "noeviction" in screen_text(app)


async def test_workers_are_not_looked_for_with_every_poll() -> None:
    source = PulseSource(sample.shop())
    app = app_for(source, every=timedelta(milliseconds=20))
    async with running(app):
        await press(app, "1")
        await shown(app, "6 of 30 slots busy")
        polls = source.polls
        await until(app, lambda: source.polls > polls + 5)
        assert source.crew.asked == 1
        screen = app.frame
        assert isinstance(screen, OverviewScreen)
        screen._due -= AGAIN + 1
        screen.tick()
        await until(app, lambda: source.crew.asked == 2)
        await press(app, "r")
        await until(app, lambda: source.crew.asked == 3)


async def test_leaving_before_a_read_has_begun_leaves_nothing_behind() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        app.frame.fetch(lambda source: source.find_delayed(), print)
        app.workers.cancel_node(app.frame)
        await until(app, lambda: all(one.is_finished for one in app.workers if one.node is app.frame))
    # A coroutine that was never awaited would warn here, and warnings are errors.
    gc.collect()


async def test_before_the_first_observation_nothing_is_claimed() -> None:
    app = app_for(InventedSource(REFUSED))
    async with app.run_test(size=NARROW):
        screen = OverviewScreen(app.frame.place, app.app_state)  # type: ignore[arg-type]
        lines = screen._build(80, 11)
        assert "not read yet" in "".join(cell.text for line in lines for cell in line)


async def test_a_frozen_page_stays_as_it_was() -> None:
    source = PulseSource(sample.shop())
    app = app_for(source)
    async with running(app):
        await press(app, "1")
        await shown(app, "≥1,248 not delivered")
        await press(app, "p")
        gone = sample.observation(sample.stream_view("s"))
        source.observation = replace(gone, snapshot=replace(gone.snapshot, collected_at=NOW + seconds(2)))
        await press(app, "r")
        await until(app, lambda: source.polls == 2)
        await shown(app, "≥1,248 not delivered")
        await press(app, "p")
        await shown(app, "0 not delivered · 0 pending")


async def test_all_facts_show_at_eighty_by_twenty_four_however_few_findings_there_are() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, NARROW):
        await press(app, "1")
        await until(app, lambda: len(names(app)) == 5)
        first = [line.split()[0] for line in screen_text(app).splitlines()[7:11]]
        assert first == ["Dead", "Delayed", "Workers", "Memory"]
