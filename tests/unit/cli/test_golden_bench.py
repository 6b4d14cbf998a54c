"""What ``bench`` prints, of invented figures; what it wrote is masked.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.model.bench import BenchPlan, DrillMoment, DrillPlan, DrillVerdict, Figure
from streamops.wire.options import ConnectionOptions
from tests.support.cli.golden import FORMATS, compare, told
from tests.support.cli.running import Cli, Place

GOLDEN = Path(__file__).with_name("golden_bench")
MASKS = ((r"streamops-bench:[0-9a-f]{8}", "streamops-bench:00000000"),)
CONFIG = """
default_context = "here"
[contexts.here]
url = "redis://127.0.0.1:1/0"
environment = "development"
[contexts.live]
url = "redis://127.0.0.1:1/0"
"""
MEASURING = [
    *(["bench", "all", "-o", output] for output in FORMATS),
    ["bench", "--fields", "measure,of_bare,bare_p50_seconds", "--quiet"],
    ["bench", "--entries", "1000000", "--size", "1024", "--keep"],
    ["-c", "live", "bench", "latency", "--yes"],
]
REFUSED = [
    ["-c", "live", "bench"],
    ["-c", "live", "bench", "drill"],
    ["--read-only", "bench", "produce", "--yes"],
    ["bench", "--fields", "nothing"],
    ["bench", "prodce"],
    ["bench", "--entries", "0"],
    ["bench", "drill", "--work", "soon"],
    ["bench", "drill", "--work", "2s-1s"],
    ["bench", "drill", "--errors", "51"],
]
DRILLING = [
    *(["bench", "drill", "-o", output] for output in FORMATS),
    ["bench", "drill", "--workers", "1", "--no-stop-half", "--quiet", "-o", "csv", "--fields", "lag,note"],
]


def ms(number: float) -> timedelta:
    return timedelta(milliseconds=number)


FIGURES = [
    Figure(
        measure="publish-batches",
        what="publish, batches of 500",
        entries=50_000,
        took=ms(250),
        per_second=200_000.0,
        bare_per_second=180_000.0,
    ),
    Figure(measure="consume", what="consume, 1 worker", entries=50_000, took=ms(200), per_second=250_000.0),
    Figure(
        measure="end-to-end",
        what="end to end, 200/s",
        entries=1_000,
        took=ms(5_000),
        p50=ms(0.22),
        p99=ms(0.735),
        longest=ms(1_048.5),
        bare_p50=ms(0.2),
    ),
]
MOMENTS = [
    DrillMoment(at=ms(0), lag=0, pending=0, retrying=0, handled=0, per_second=0.0, workers=2, dead_letters=0),
    DrillMoment(
        at=ms(1_040),
        lag=48_900,
        pending=130,
        retrying=20,
        handled=890,
        per_second=855.77,
        workers=1,
        dead_letters=60,
        note="1 killed",
    ),
]
PASSED = DrillVerdict(
    events=50_000,
    handled=49_500,
    dead_letters=500,
    to_fail=500,
    lost=0,
    astray=0,
    repeated=3,
    lag=0,
    pending=0,
    retrying=0,
    killed=1,
    returned=1,
    took=ms(67_700),
    could=ms(62_100),
    most=2,
    rested=2,
)
FAILED = DrillVerdict(
    events=50_000,
    handled=49_499,
    dead_letters=499,
    to_fail=500,
    lost=2,
    astray=0,
    repeated=0,
    lag=0,
    pending=1,
    retrying=0,
    killed=1,
    returned=0,
    took=ms(97_700),
    could=ms(70_200),
    most=2,
    rested=1,
)


@pytest.fixture(autouse=True)
def figures(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured: these are the figures."""
    place.configure(CONFIG)

    async def measure(
        options: ConnectionOptions, plan: BenchPlan, tag: str, tell: Callable[[str, int, int], object]
    ) -> list[Figure]:
        assert options.label
        assert tag.startswith("{streamops-bench:")
        tell("something", 1, plan.entries)
        return FIGURES

    monkeypatch.setattr("streamops.runtime.bench.measuring.measure", measure)


def invent(verdict: DrillVerdict, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drill(
        options: ConnectionOptions, plan: DrillPlan, tag: str, tell: Callable[[DrillMoment], object]
    ) -> DrillVerdict:
        assert options.label
        assert plan.events
        assert tag
        for moment in MOMENTS:
            tell(moment)
        return verdict

    monkeypatch.setattr("streamops.runtime.bench.drill.drill", drill)


def test_measurements_are_printed(cli: Cli, place: Place) -> None:
    compare("measuring", told(cli, MEASURING, place, MASKS), GOLDEN)


def test_impossible_benches_are_refused(cli: Cli, place: Place) -> None:
    compare("refused", told(cli, REFUSED, place, MASKS), GOLDEN)


def test_drill_prints_its_timeline(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    invent(PASSED, monkeypatch)
    compare("drilling", told(cli, DRILLING, place, MASKS), GOLDEN)


def test_failed_drill_prints_what_was_lost(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    invent(FAILED, monkeypatch)
    compare("failing", told(cli, DRILLING[:2], place, MASKS), GOLDEN)
