"""Exit codes and JSON of ``pools simulate``.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.cli.golden import compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_simulate")
SIMULATE = ["pools", "simulate"]
HISTORY = [*SIMULATE, "--history", "night.csv", "--rate", "200/s"]
HISTORIES = [*HISTORY, "--fixed", "2", "-o"]
REFUSED = [
    [*SIMULATE, "--history", "night.csv"],
    [*SIMULATE, "--rate", "5"],
    [*HISTORY, "--minimum", "21"],
    [*HISTORY, "--objective", "500ms"],
    [*HISTORY, "--group", "billing"],
    [*HISTORY, "--stream", "orders"],
    [*HISTORY, "--fields", "nothing"],
    [*HISTORY, "--shape", "step"],
    [*HISTORY, "--trace"],
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
    rows = [json.dumps({"time": begin + 15 * at, "per_second": rate}) for at, rate in enumerate(rates)]
    (place.cwd / "night.jsonl").write_text("\n".join(rows))


def test_history_prints_what_each_policy_makes_of_it(cli: Cli, place: Place) -> None:
    compare("histories", told(cli, [HISTORIES[:-1], [*HISTORIES, "json"]], place), GOLDEN)


def test_history_of_json_lines_gives_the_same_as_one_of_csv(cli: Cli) -> None:
    lines = cli(*SIMULATE, "--history", "night.jsonl", "--rate", "200/s", "-o", "json")
    assert lines.code == 0
    assert lines.out == cli(*HISTORY, "-o", "json").out


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
    assert document["schema"] == "streamops.autoscale.simulate/2"
    assert document["history"]["entries"] == 1_000
    assert 600 < document["history"]["seconds"] < 1_000
    assert [each["policy"] for each in document["policies"]] == ["ours", "fixed 1"]
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
