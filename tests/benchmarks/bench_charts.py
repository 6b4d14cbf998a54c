"""What charts, pulse and alerts cost: ``python -m tests.benchmarks.bench_charts``.

- What each poll adds with ten thousand groups, 1,000 of which changed: the memory behind the charts and the findings,
  with every group healthy, and with something found about every one.
- Drawing the four charts of a group at 160 by 46 cells, for each span.
- The share of a core of an open screen, polled every two seconds at 160 by 50 cells, in processor time.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.model.observation import Observation
from streamops.tui.history import alerts
from streamops.tui.history.alerts import FindingsTracker
from streamops.tui.history.memory import MetricsHistory
from streamops.tui.lines.charting import SPANS, Span, chart_width, field_columns, grid, group_charts, window
from tests.support.invented import NOW, seconds
from tests.support.tui import sample
from tests.support.tui.driving import press, running, until
from tests.support.tui.overview_source import PulseSource, fed, waves
from tests.support.tui.source import app_for

GROUPS: Final = 10_000
CHANGED: Final = 500
ROUNDS: Final = 8
POLLS: Final = 50
DRAWINGS: Final = 20
WIDTH, HEIGHT = 160, 46
SETTLE_SECONDS, QUIET_SECONDS = 4.0, 20.0
SCREENS: Final = {
    "groups": "3",
    "charts": "j j j j g",
    "one group": "j j j j enter",
    "pulse": "1",
    "alerts": "6",
}
CPU_LIMIT: Final = 0.06


def at(observation: Observation, second: float) -> Observation:
    """The same, observed so many seconds later."""
    snapshot = replace(observation.snapshot, collected_at=NOW + seconds(second))
    return replace(observation, snapshot=snapshot)


def faulty(observation: Observation) -> Observation:
    """The same, with something found about every group."""
    level = sample.STALLED.level
    streams = tuple(
        replace(
            stream,
            groups=tuple(replace(group, findings=(sample.STALLED,), health=level) for group in stream.groups),
            health=level,
        )
        for stream in observation.streams
    )
    return replace(observation, streams=streams)


def cost(step: Callable[[int], object], times: int) -> float:
    """Milliseconds of the processor a step, the first left out."""
    step(0)
    started = time.process_time()
    for number in range(1, times + 1):
        step(number)
    return (time.process_time() - started) / times * 1000


def measure_polls(rounds: list[Observation]) -> tuple[float, float]:
    """Milliseconds that a poll costs the memory of charts, and the findings."""
    past, alerts = MetricsHistory(), FindingsTracker()
    return (
        cost(lambda number: past.take(at(rounds[number % ROUNDS], number * 2), seconds(2)), POLLS),
        cost(lambda number: alerts.take(at(rounds[number % ROUNDS], number * 2)), POLLS),
    )


def measure_drawing() -> dict[str, float]:
    """Milliseconds that drawing four charts takes, by span."""
    shop = sample.shop()
    past, view = fed(shop, 180, 2)(), shop.streams[3].groups[1]
    columns = field_columns(chart_width(WIDTH))

    def draw(span: Span) -> object:
        return grid(group_charts(past, view, window(past, shop, span), columns), WIDTH, HEIGHT)

    return {span.word: cost(lambda _, span=span: draw(span), DRAWINGS) for span in SPANS}  # type: ignore[misc]


async def measure_screen(keys: str) -> float:
    """Share of a core while a screen is open and every poll changes what it shows."""
    before, polls = waves(sample.shop(), 20), 0
    source = PulseSource(sample.shop())

    def advance() -> None:
        nonlocal polls
        polls += 1
        source.observation = at(before[polls % len(before)], polls * 2)

    source.before_answer = advance
    app = app_for(source, every=timedelta(seconds=2))
    async with running(app, (160, 50)):
        await until(app, lambda: app.app_state.past is not None)
        await press(app, *keys.split())
        await asyncio.sleep(SETTLE_SECONDS)
        used, started = time.process_time(), time.perf_counter()
        await asyncio.sleep(QUIET_SECONDS)
        return (time.process_time() - used) / (time.perf_counter() - started)


def main() -> int:
    """Measure, print the table, and say by the exit code whether the stated figure holds."""
    rounds = [sample.many(GROUPS)]
    while len(rounds) < ROUNDS:
        rounds.append(sample.changed(rounds[-1], len(rounds), CHANGED))
    for words, polled in (("healthy", rounds), ("all with a finding", [faulty(one) for one in rounds])):
        charts, findings = measure_polls(polled)
        print(f"{f'{GROUPS:,} groups, {words}: memory of charts, a poll':64} {charts:6.1f} ms")
        print(f"{f'{GROUPS:,} groups, {words}: findings, a poll':64} {findings:6.1f} ms")
    for word, drawing in measure_drawing().items():
        print(f"{f'four charts at {WIDTH} by {HEIGHT}, {word}':64} {drawing:6.1f} ms")
    setattr(alerts, "MetricsHistory", fed(sample.shop(), 150, 2))  # noqa: B010 - a past to begin with
    shares = {name: asyncio.run(measure_screen(keys)) for name, keys in SCREENS.items()}
    for name, share in shares.items():
        print(f"{f'open, every 2 s: {name}':64} {share:6.1%}  limit {CPU_LIMIT:.0%}")
    return 0 if max(shares.values()) <= CPU_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
