"""Exit codes and JSON of ``drill``, of invented figures.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.wire.options import ConnectionOptions
from tests.support.cli.golden import compare, told
from tests.support.cli.running import Cli, Place

GOLDEN = Path(__file__).with_name("golden_drill")
CONFIG = """
default_context = "here"
[contexts.here]
url = "redis://127.0.0.1:1/0"
environment = "development"
[contexts.live]
url = "redis://127.0.0.1:1/0"
"""
REFUSED = [
    ["-c", "live", "drill"],
    ["--read-only", "drill", "--yes"],
    ["drill", "--fields", "nothing"],
    ["drill", "--workers", "0"],
    ["drill", "--workers", "8-1"],
    ["drill", "--work", "soon"],
    ["drill", "--work", "2s-1s"],
    ["drill", "--errors", "51"],
    ["bench"],
    ["bench", "drill", "--yes"],
    ["autoscale", "drill"],
]
DRILLING = [["drill"], ["drill", "-o", "json"]]


def ms(number: float) -> timedelta:
    return timedelta(milliseconds=number)


MOMENTS = [
    DrillProgress(
        at=ms(0), lag=0, pending=0, retrying=0, handled=0, per_second=0.0, workers=2, dead_letters=0
    ),
    DrillProgress(
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
    took=ms(67_700),
    could=ms(62_100),
    most_workers=2,
    last_workers=2,
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
    took=ms(97_700),
    could=ms(70_200),
    most_workers=2,
    last_workers=1,
)


@pytest.fixture(autouse=True)
def config(place: Place) -> None:
    place.configure(CONFIG)


def invent(verdict: DrillVerdict, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drill(
        options: ConnectionOptions, plan: DrillPlan, tag: str, tell: Callable[[DrillProgress], object]
    ) -> DrillVerdict:
        assert options.label
        assert plan.events
        assert tag
        for moment in MOMENTS:
            tell(moment)
        return verdict

    monkeypatch.setattr("streamops.runtime.drill.drill", drill)


def test_impossible_drills_are_refused(cli: Cli, place: Place) -> None:
    compare("refused", told(cli, REFUSED, place), GOLDEN)


def test_drill_prints_its_timeline(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    invent(PASSED, monkeypatch)
    compare("drilling", told(cli, DRILLING, place), GOLDEN)


def test_failed_drill_prints_what_was_lost(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    invent(FAILED, monkeypatch)
    compare("failing", told(cli, DRILLING, place), GOLDEN)
