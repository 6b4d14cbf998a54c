"""``streamops streams reclaim`` as a process: what it prints, and how it ends."""

import json

import pytest

from tests.support.cli.billing import GROUP, LETTERS, STREAM, fill_stuck
from tests.support.cli.running import Cli
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


def test_a_plan_says_what_becomes_of_what(cli: Cli, server: RunningServer) -> None:
    fill_stuck(server)
    told = cli("streams", "reclaim", STREAM, GROUP, "--url", server.unix_url, "--dry-run", "-o", "json")
    plan = json.loads(told.out)
    assert (told.code, plan["count"]) == (0, 2)
    assert plan["sample"] == [
        "1-1 owned by w, idle for 1 min, delivered 1 time: delivered again",
        "2-1 owned by w, idle for 1 min, delivered 5 times: to the dead letters",
    ]
    assert plan["effects"][0].startswith("Once: ")
    assert plan["command"].endswith("streams reclaim orders billing --min-idle 1m")
    assert pending_count(server, STREAM, GROUP) == 2


def test_with_every_the_plan_says_that_it_goes_on(cli: Cli, server: RunningServer) -> None:
    fill_stuck(server)
    words = ("streams", "reclaim", STREAM, GROUP, "--every", "30s", "--url", server.unix_url)
    plan = json.loads(cli(*words, "--dry-run", "-o", "json").out)
    assert (plan["count"], plan["standing"]) == (2, True)
    assert plan["effects"][0].startswith("Now, and every 30 s until it is stopped: ")


def test_it_ends_by_itself(cli: Cli, server: RunningServer) -> None:
    fill_stuck(server)
    words = ("streams", "reclaim", STREAM, GROUP, "--url", server.unix_url)
    assert cli(*words).code == 4
    told = cli(*words, "--yes", "-o", "json")
    outcome = json.loads(told.out)
    assert (told.code, outcome["applied"]) == (0, 2)
    assert outcome["notes"] == [
        "1 entry delivered again.",
        "1 entry delivered too often: dead-lettered to {orders}:dlq.",
    ]
    assert cli(*words).code == 0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--every", "30s", "--expect", "2", "--yes"), 4, "--expect"),
        (("--max-deliveries", "0"), 2, "--max-deliveries"),
        (("--to", "w"), 2, "--redeliver claim"),
        (("--redeliver", "never"), 2, "never"),
        (("--read-only", "--yes"), 4, "read-only"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    cli: Cli, server: RunningServer, options: tuple[str, ...], code: int, words: str
) -> None:
    fill_stuck(server)
    told = cli("streams", "reclaim", STREAM, GROUP, "--url", server.unix_url, *options)
    assert (told.code, words in told.err) == (code, True), told.err
    assert pending_count(server, STREAM, GROUP) == 2


def test_letters_and_entries_are_shown_out_of_their_envelopes(cli: Cli, server: RunningServer) -> None:
    task = {"task_id": "t-1", "task_name": "app:pay", "labels": {}, "args": [7], "kwargs": {}}
    server.command("XADD", LETTERS, "1-1", "data", json.dumps(task), "_so_origin", STREAM)
    url = ("--url", server.unix_url)
    shown = json.loads(cli("dlq", "show", LETTERS, "1-1", *url, "-o", "json").out)
    assert shown["envelope"] == {
        "library": "taskiq",
        "task": "app:pay",
        "headers": {"task_id": "t-1"},
        "body": '{"args":[7],"kwargs":{}}',
    }
    assert "app:pay" in cli("dlq", "show", LETTERS, "1-1", *url).out
    listed = cli("streams", "tail", LETTERS, "--from", "0", "--limit", "1", *url, "-o", "plain").out
    assert 'taskiq app:pay {"args":[7],"kwargs":{}}' in listed
