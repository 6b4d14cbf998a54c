"""What ``autoscale simulate`` prints.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.cli.golden import FORMATS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_simulate")
SIMULATE = ["autoscale", "simulate"]
ONE = [*SIMULATE, "--processes", "1", "--seeds", "1"]
BURST = [*ONE, "--shape", "burst50k", "--max", "3", "--against", "flink,fixed"]
BOTH = [*ONE, "--shape", "burst50k", "--shape", "step", "--max", "8", "--against", "flink,fixed"]
HISTORY = [*SIMULATE, "--history", "night.csv", "--rate", "200/s"]
CONTESTS = [
    *([*BURST, "-o", output] for output in FORMATS),
    BOTH,
    [*BURST, "--details", "--fields", "policy,shape,score,late,worker_hours,ups_stuck"],
    [*BURST, "--details", "-o", "csv", "--quiet"],
    [*ONE, "--shape", "burst50k", "--changed", "--seed", "7", "--against", "none", "-o", "json"],
    [*ONE, "--shape", "burst50k", "--handler-times", "pareto", "--slots", "4", "--against", "none"],
]
TRACES = [
    [*ONE, "--shape", "step", "--trace"],
    [*ONE, "--shape", "step", "--trace", "--start-up", "2m", "-o", "jsonl", "--quiet"],
    [*HISTORY, "--trace", "-o", "json"],
]
HISTORIES = [
    *([*HISTORY, "--fixed", "2", "--fixed", "6", "-o", output] for output in FORMATS),
    [*SIMULATE, "--history", "learned.jsonl", "--against", "keda_lag", "--objective", "1m"],
    [*HISTORY, "--slots", "4", "--max", "3", "--fields", "policy,late,most"],
]
REFUSED = [
    [*SIMULATE, "--shape", "stpe"],
    [*SIMULATE, "--against", "kedda_lag"],
    [*HISTORY, "--against", "fixed"],
    [*SIMULATE, "--trace"],
    [*SIMULATE, "--trace", "--shape", "step", "--details"],
    [*SIMULATE, "--min", "21"],
    [*SIMULATE, "--changed", "--slots", "4"],
    [*SIMULATE, "--objective", "500ms"],
    [*SIMULATE, "--handler-time", "0"],
    [*SIMULATE, "--rate", "5", "--handler-time", "1s"],
    [*SIMULATE, "--fixed", "3"],
    [*SIMULATE, "--since", "1h"],
    [*HISTORY, "--shape", "step"],
    [*HISTORY, "--stream", "orders"],
    [*HISTORY, "--fields", "nothing"],
    [*SIMULATE, "--history", "night.csv"],
    [*SIMULATE, "--stream", "orders"],
    [*SIMULATE, "--history", "missing.csv", "--rate", "5"],
    [*SIMULATE, "--history", "broken.csv", "--rate", "5"],
]


@pytest.fixture(autouse=True)
def files(place: Place) -> None:
    """An hour with a burst of a minute, by the quarter minute."""
    begin = datetime(2026, 3, 1, 22, tzinfo=UTC).timestamp()
    rates = [900 if 1_200 <= second < 1_800 else 60 for second in range(0, 3_600, 15)]
    lines = ["time,per_second", *(f"{begin + 15 * at:.0f},{rate}" for at, rate in enumerate(rates))]
    (place.cwd / "night.csv").write_text("\n".join(lines))
    (place.cwd / "broken.csv").write_text("time,arrivals\n2026-03-01T22:00:00Z,1\nlater,2\n")
    told_too = {"handled_per_second": 300, "workers": 2, "busy": 0.5}
    rows = [
        json.dumps({"time": begin + 15 * at, "per_second": rate, **told_too}) for at, rate in enumerate(rates)
    ]
    (place.cwd / "learned.jsonl").write_text("\n".join(rows))


def test_help(cli: Cli, place: Place) -> None:
    compare("help", told(cli, [[*SIMULATE, "--help"]], place), GOLDEN)


def test_contests(cli: Cli, place: Place) -> None:
    compare("contests", told(cli, CONTESTS, place), GOLDEN)


def test_traces(cli: Cli, place: Place) -> None:
    compare("traces", told(cli, TRACES, place), GOLDEN)


def test_histories(cli: Cli, place: Place) -> None:
    compare("histories", told(cli, HISTORIES, place), GOLDEN)


def test_what_is_refused(cli: Cli, place: Place) -> None:
    compare("refused", told(cli, REFUSED, place), GOLDEN)


def test_processes_change_nothing(cli: Cli) -> None:
    words = [*SIMULATE, "--seeds", "2", "--shape", "burst50k", "--against", "aws", "-o", "csv", "--details"]
    alone, together = cli(*words, "--processes", "1"), cli(*words, "--processes", "2")
    assert alone == together
    assert alone.code == 0
    assert len(alone.out.splitlines()) == 5


def test_last_night_of_a_stream(cli: Cli, server: RunningServer) -> None:
    client = server.client
    begin = client.time()[0] - 1_200
    pipeline = client.pipeline(transaction=False)
    for second in range(0, 1_190, 2):
        for number in range(20 if 600 <= second < 660 else 1):
            pipeline.xadd("orders", {"n": number}, id=f"{(begin + second) * 1_000 + number}-0")
    pipeline.xgroup_create("orders", "billing", "0")
    pipeline.execute()
    client.xreadgroup("billing", "one", {"orders": ">"}, count=1)
    client.xtrim("orders", maxlen=1_000, approximate=False)
    words = ("--stream", "orders", "--group", "billing", "--rate", "2/s", "--url", server.unix_url)
    result = cli(*SIMULATE, *words, "-o", "json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["schema"] == "streamops.autoscale.simulate/1"
    assert document["history"]["entries"] == 1_000
    assert 600 < document["history"]["seconds"] < 1_000
    assert [each["policy"] for each in document["policies"]] == ["ours", "fixed 1", "clairvoyant"]
    assert document["policies"][1]["late"] > document["policies"][0]["late"]
    assert "group billing has 1 consumer that was seen lately" in result.err
    assert "missing: the stream begins at" in result.err
    gone = cli(*SIMULATE, *words, "--since", "1s")
    assert gone.code == 1
    assert "stream orders has no entries since" in gone.err


def test_a_first_second_that_is_too_much_to_count(cli: Cli, server: RunningServer) -> None:
    client = server.client
    begin = client.time()[0] - 60
    pipeline = client.pipeline(transaction=False)
    for number in range(1_500):
        pipeline.xadd("orders", {"n": number}, id=f"{begin * 1_000}-{number + 1}")
    pipeline.execute()
    words = ("--stream", "orders", "--rate", "2/s", "--max-scan", "10", "--url", server.unix_url)
    result = cli(*SIMULATE, *words)
    assert result.code == 1
    assert "no full second with entries was counted" in result.err
