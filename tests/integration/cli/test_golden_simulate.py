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
QUICK = [*SIMULATE, "--processes", "1", "--seeds", "1", "--shape", "burst50k", "--max", "2"]
HISTORY = [*SIMULATE, "--history", "night.csv", "--rate", "200/s"]
CONTESTS = [
    [*QUICK, "--against", "flink"],
    [*QUICK, "--against", "none", "-o", "json"],
    [*QUICK, "--against", "none", "--details", "--fields", "policy,shape,score,late,worker_hours,ups_stuck"],
    [*QUICK, "--changed", "--seed", "7", "--against", "none", "--details", "-o", "csv", "--quiet"],
]
TRACES = [
    [*HISTORY, "--trace"],
    [*HISTORY, "--trace", "-o", "json"],
]
HISTORIES = [
    *([*HISTORY, "--fixed", "2", "-o", output] for output in FORMATS),
    [*SIMULATE, "--history", "learned.jsonl", "--against", "keda_lag", "--objective", "1m"],
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
    """Twenty minutes with a burst, by the quarter minute."""
    begin = datetime(2026, 3, 1, 22, tzinfo=UTC).timestamp()
    rates = [900 if 300 <= second < 600 else 60 for second in range(0, 1_200, 15)]
    lines = ["time,per_second", *(f"{begin + 15 * at:.0f},{rate}" for at, rate in enumerate(rates))]
    (place.cwd / "night.csv").write_text("\n".join(lines))
    (place.cwd / "broken.csv").write_text("time,arrivals\n2026-03-01T22:00:00Z,1\nlater,2\n")
    told_too = {"handled_per_second": 300, "workers": 2, "busy": 0.5}
    rows = [
        json.dumps({"time": begin + 15 * at, "per_second": rate, **told_too}) for at, rate in enumerate(rates)
    ]
    (place.cwd / "learned.jsonl").write_text("\n".join(rows))


def test_contest_prints_scores_by_policy(cli: Cli, place: Place) -> None:
    compare("contests", told(cli, CONTESTS, place), GOLDEN)


def test_trace_prints_each_change_of_target(cli: Cli, place: Place) -> None:
    compare("traces", told(cli, TRACES, place), GOLDEN)


def test_history_replay_prints_policies(cli: Cli, place: Place) -> None:
    compare("histories", told(cli, HISTORIES, place), GOLDEN)


def test_contradictory_options_are_refused(cli: Cli, place: Place) -> None:
    compare("refused", told(cli, REFUSED, place), GOLDEN)


def test_history_is_read_from_a_stream(cli: Cli, server: RunningServer) -> None:
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


def test_history_without_a_full_second_is_refused(cli: Cli, server: RunningServer) -> None:
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
