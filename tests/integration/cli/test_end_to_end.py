"""Every command on a real server: what it prints is what is there."""

import json
from typing import Any

import pytest

from streamops.main.program import run
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer, StartServer

LEGACY_NAME = b"caf\xe9:\x1b[31m"


@pytest.fixture
def stocked(server: RunningServer) -> RunningServer:
    """Ten orders, four of them given to billing, one dead letter, a name that is not UTF-8, a string."""
    client = server.client
    for number in range(1, 11):
        body = json.dumps({"amount": number * 10})
        client.xadd(
            "orders", {"n": str(number), "state": "failed" if number % 5 == 0 else "new", "body": body}
        )
    client.xgroup_create("orders", "billing", "0")
    client.xgroup_create("orders", "mail", "$")
    client.xreadgroup("billing", "worker-1", {"orders": ">"}, count=3)
    client.xreadgroup("billing", "worker-2", {"orders": ">"}, count=1)
    client.xadd("orders:dlq", {"n": "0"})
    client.xadd(LEGACY_NAME, {b"\xff": b"\x00\x1b"})
    client.set("no-stream", "x")
    return server


@pytest.fixture
def at(stocked: RunningServer, cli: Cli) -> Cli:
    """Run a command line on the stocked server."""

    def run_there(*args: str) -> Any:  # noqa: ANN401 - a Result
        return cli("--url", stocked.unix_url, *args)

    return run_there


def document(at: Cli, *args: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    result = at(*args, "-o", "json")
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def test_status_tells_the_truth(at: Cli) -> None:
    status = document(at, "status")
    assert status["schema"] == "streamops.status/1"
    streams = {json.dumps(stream["stream"]): stream for stream in status["streams"]}
    assert len(streams) == 3
    billing, mail = streams['"orders"']["groups"]
    assert (billing["group"], billing["lag"]["entries"], billing["pending"], billing["consumers"]) == (
        "billing",
        6,
        4,
        2,
    )
    assert billing["lag"]["basis"] in ("exact", "reported")
    assert billing["oldest_pending"]["consumer"] == "worker-1"
    assert (mail["lag"]["entries"], mail["time_lag_seconds"], mail["oldest_pending"]) == (0, 0.0, None)
    assert billing["rates"] is None


def test_retry_streams_are_told_with_their_groups(at: Cli, stocked: RunningServer) -> None:
    assert "RETRY" not in at("status").out
    retries = "{orders}:retry:billing"
    stocked.command("XGROUP", "CREATE", retries, "billing", "0", "MKSTREAM")
    assert "RETRY" not in at("status").out
    for number in range(3):
        stocked.command("XADD", retries, "*", "n", number)
    stocked.command("XREADGROUP", "GROUP", "billing", "w", "COUNT", 1, "STREAMS", retries, ">")
    for command in (("status",), ("groups", "ls")):
        result = at(*command)
        assert "RETRY" in result.out
        assert ":retry:" not in result.out
        assert "RETRY" not in at(*command, "-o", "plain").out
    (orders,) = [one for one in document(at, "status")["streams"] if one["stream"] == "orders"]
    told = {group["group"]: group["retries"] for group in orders["groups"]}
    assert told["mail"] is None
    assert (told["billing"]["length"], told["billing"]["pending"]) == (3, 1)
    assert told["billing"]["lag"]["entries"] == 2
    assert retries in at("streams", "ls").out


def test_a_status_of_two_readings_tells_rates(at: Cli) -> None:
    status = document(at, "status", "orders", "--sample", "1100ms")
    assert status["streams"][0]["groups"][0]["rates"] == {
        "added_per_second": 0.0,
        "delivered_per_second": 0.0,
        "acked_per_second": 0.0,
    }


def test_patterns_choose_streams_and_names_are_exact(at: Cli) -> None:
    assert [stream["stream"] for stream in document(at, "status", "orders*")["streams"]] == [
        "orders",
        "orders:dlq",
    ]
    assert [stream["stream"] for stream in document(at, "streams", "ls", "orders")["streams"]] == ["orders"]
    nothing = at("status", "payments:*")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err.startswith("no streams match payments:* in unix://")
    assert "all keys were scanned" in nothing.err


@pytest.mark.parametrize("command", [("status",), ("streams", "ls"), ("groups", "ls"), ("alerts", "ls")])
def test_stream_that_is_named_and_is_not_there_is_a_failure(at: Cli, command: tuple[str, ...]) -> None:
    """As `kubectl get pod NAME`: what is found is printed all the same. A glob may match nothing."""
    assert (at(*command, "nope").code, at(*command, "nope*").code, at(*command, "orders").code) == (1, 0, 0)
    both = at(*command, "orders", "nope")
    assert both.code == 1
    assert "nope" in both.err


def test_a_name_that_is_not_utf8_can_be_asked_for(at: Cli) -> None:
    name = LEGACY_NAME.decode("utf-8", "surrogateescape")
    result = at("streams", "show", name, "--fields", "stream,length")
    assert (result.code, result.out.split()) == (0, ["STREAM", r"caf\xe9:\x1b[31m", "LENGTH", "1"])
    found = json.loads(at("streams", "search", name, "-o", "jsonl").out)
    assert found["pairs"] == [[{"base64": "/w=="}, "\x00\x1b"]]


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (("--lag", "6"), 0, "OK: 2 groups of 1 stream: within limits\n"),
        (("--lag", "5"), 10, "BREACHED: orders/billing lag 6 above 5\n"),
        (("--pending-age", "1h", "--time-lag", "1h"), 0, "OK: 2 groups of 1 stream: within limits\n"),
        (("--pending-age", "0"), 10, None),
        (("gone", "--lag", "6"), 11, "NOT KNOWN: gone: no such stream\n"),
        (("--lag", "5", "--format", "nagios"), 2, None),
        (
            ("--lag", "6", "--format", "nagios"),
            0,
            "STREAMOPS OK - 2 groups of 1 stream: within limits | lag=6;;6;0 groups=2;;;0\n",
        ),
        (("gone", "--format", "nagios"), 3, None),
    ],
)
def test_a_check_prints_one_line_and_exits_by_its_verdict(
    args: tuple[str, ...], code: int, line: str | None, at: Cli
) -> None:
    result = at("check", "orders", *args)
    assert result.code == code
    assert line is None or result.out == line
    assert len(result.out.splitlines()) == 1


def test_dead_letters_can_be_checked(at: Cli) -> None:
    assert at("check", "--dlq", "1").code == 0
    assert at("check", "--dlq", "0").code == 10


def test_groups_consumers_and_pending_entries(at: Cli) -> None:
    assert [group["group"] for group in document(at, "groups", "ls")["groups"]] == ["billing", "mail"]
    info = document(at, "groups", "show", "orders", "billing")
    assert [(member["consumer"], member["pending"]) for member in info["members"]] == [
        ("worker-1", 3),
        ("worker-2", 1),
    ]
    consumers = document(at, "consumers", "ls", "orders")["consumers"]
    assert [consumer["consumer"] for consumer in consumers] == ["worker-1", "worker-2"]
    pending = document(at, "pending", "ls", "orders", "billing")
    assert [entry["consumer"] for entry in pending["entries"]] == ["worker-1"] * 3 + ["worker-2"]
    assert {entry["deliveries"] for entry in pending["entries"]} == {1}
    summary = document(at, "pending", "summary", "orders", "billing")
    assert (summary["pending"], summary["profile"]["coverage"]) == (4, 1.0)
    assert summary["consumers"] == [
        {"consumer": "worker-1", "pending": 3},
        {"consumer": "worker-2", "pending": 1},
    ]
    assert document(at, "pending", "summary", "orders", "mail")["profile"] is None


def test_pending_entries_page_by_page(at: Cli) -> None:
    first = at("pending", "ls", "orders", "billing", "--limit", "3", "-o", "jsonl")
    rows = [json.loads(line) for line in first.out.splitlines()]
    assert len(rows) == 3
    assert f"--after {rows[-1]['id']}" in first.err
    rest = at("pending", "ls", "orders", "billing", "--after", rows[-1]["id"], "-o", "jsonl")
    assert [json.loads(line)["consumer"] for line in rest.out.splitlines()] == ["worker-2"]


@pytest.mark.parametrize(
    "args",
    [
        ("streams", "show", "gone"),
        ("streams", "show", "no-stream"),
        ("streams", "tail", "gone"),
        ("streams", "tail", "no-stream", "--from", "0"),
        ("streams", "search", "gone"),
        ("groups", "show", "gone", "billing"),
        ("groups", "show", "orders", "gone"),
        ("consumers", "ls", "gone"),
        ("consumers", "ls", "orders", "gone"),
        ("pending", "ls", "gone", "billing"),
        ("pending", "ls", "orders", "gone"),
        ("pending", "summary", "orders", "gone"),
    ],
    ids=" ".join,
)
def test_a_stream_or_group_that_is_not_there_exits_1(args: tuple[str, ...], at: Cli) -> None:
    result = at(*args)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")


@pytest.mark.parametrize(
    ("args", "found", "words"),
    [
        ((), list(range(1, 11)), "10 match; scanned 10 entries"),
        (("--field", "state=failed"), [5, 10], "2 match"),
        (("--where", "json.body.amount > `80`"), [9, 10], "2 match"),
        (("--where", "json.body.amount > `80`", "--field", "state=new"), [9], "1 match"),
        (("--limit", "2"), [1, 2], "the limit is reached; continue with --from-id"),
        (("--newest-first", "--limit", "2"), [10, 9], "continue with --to-id"),
        (("--max-scan", "4"), [1, 2, 3, 4], "--max-scan is reached"),
        (("--since", "1h"), list(range(1, 11)), "10 match"),
        (("--since", "2001-01-01", "--until", "1h"), [], "no entries in that range"),
        (("--field", "state=gone"), [], "0 match; scanned 10 entries"),
        (("--contains", "FAILED"), [5, 10], "2 match"),
        (("--contains", "state", "--lacks", "failed", "--limit", "2"), [1, 2], "the limit is reached"),
    ],
)
def test_a_search_prints_what_matches_and_how_much_it_scanned(
    args: tuple[str, ...], found: list[int], words: str, at: Cli
) -> None:
    result = at("streams", "search", "orders", *args, "-o", "jsonl")
    assert result.code == 0
    assert [int(json.loads(line)["fields"]["n"]) for line in result.out.splitlines()] == found
    assert words in result.err


def test_going_on_with_a_search(at: Cli) -> None:
    first = at("streams", "search", "orders", "--limit", "3", "-o", "jsonl")
    onward = first.err.split("continue with ")[1].split()
    rest = at("streams", "search", "orders", *onward, "-o", "jsonl")
    assert len(first.out.splitlines()) + len(rest.out.splitlines()) == 10


def test_tail_from_the_start_and_from_the_end(at: Cli) -> None:
    numbers = [
        json.loads(line)["fields"]["n"]
        for line in at(
            "streams", "tail", "orders", "--from", "0", "--limit", "3", "-o", "jsonl"
        ).out.splitlines()
    ]
    assert numbers == ["1", "2", "3"]
    last = at("streams", "tail", "orders", "orders:dlq", "-n", "2", "--limit", "3", "-o", "jsonl")
    rows = [json.loads(line) for line in last.out.splitlines()]
    assert sorted((row["stream"], row["fields"]["n"]) for row in rows) == [
        ("orders", "10"),
        ("orders", "9"),
        ("orders:dlq", "0"),
    ]


def test_the_doctor_and_its_rules(at: Cli) -> None:
    checks = document(at, "doctor")["checks"]
    assert {check["state"] for check in checks} <= {"ok", "warn"}
    assert at("doctor", "--acl", "observer").out.count("ACL SETUSER streamops-observer on >PASSWORD") == 2


def test_what_the_user_may_not_read_is_refused(start_server: StartServer, cli: Cli) -> None:
    server = start_server()
    for stream in ("orders", "payroll"):
        server.client.xadd(stream, {"n": "1"})
        server.client.xgroup_create(stream, "billing", "0")
    server.command("ACL", "SETUSER", "default", "on", "nopass", "resetkeys", "~orders", "+@all")
    refused = cli("--url", server.unix_url, "groups", "show", "payroll", "billing")
    assert refused.code == 4
    assert refused.err.startswith("error: stream payroll: no permission for this key\nhint: ")
    shown = cli("--url", server.unix_url, "status", "-o", "csv", "--fields", "stream")
    assert (shown.code, shown.out) == (0, "stream\norders\n")
    assert "payroll: no permission for this key" in shown.err


def test_the_server_comes_from_environment_context_or_flag(
    stocked: RunningServer, cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure(
        f'[contexts.here]\nurl = "{stocked.unix_url}"\nstreams = ["orders"]\n[contexts.nowhere]\nsocket = "/nonexistent"\n'
    )
    assert cli("status", "-c", "here", "-o", "csv", "--fields", "group").out == "group\nbilling\nmail\n"
    assert cli("-c", "nowhere", "status").code == 3
    monkeypatch.setenv("STREAMOPS_CONTEXT", "here")
    assert cli("streams", "ls", "-o", "csv", "--fields", "stream").out == "stream\norders\n"
    assert cli("streams", "ls", "orders:*", "-o", "csv", "--fields", "stream").out == "stream\norders:dlq\n"
    monkeypatch.delenv("STREAMOPS_CONTEXT")
    monkeypatch.setenv("STREAMOPS_URL", stocked.unix_url)
    assert cli("groups", "ls", "-o", "csv", "--fields", "group").out == "group\nbilling\nmail\n"
    assert cli("ctx", "use", "here").code == 0
    assert "STREAMOPS_URL is set and wins" in cli("ctx", "use", "here").err


def test_names_are_completed_from_the_server(
    stocked: RunningServer, place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMOPS_URL", stocked.unix_url)
    monkeypatch.setenv("_STREAMOPS_COMPLETE", "bash_complete")

    def completed(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        capfd.readouterr()
        assert run([]) == 0
        return [item.split(",", 1)[1] for item in capfd.readouterr().out.splitlines() if item]

    assert completed("streamops sta") == ["status"]
    assert completed("streamops streams ") == ["ls", "show", "tail", "search", "reclaim"]
    assert completed("streamops status ord") == ["orders", "orders:dlq"]
    assert completed("streamops groups show orders ") == ["billing", "mail"]
    assert completed("streamops groups show orders m") == ["mail"]
    assert completed("streamops groups show gone ") == []
    assert completed("streamops consumers rm orders billing ") == ["worker-1", "worker-2"]
    assert completed("streamops status -o js") == ["json", "jsonl"]
    assert completed("streamops streams show caf") == []
    assert completed("streamops dlq ls ") == ["orders:dlq"]
    assert completed("streamops replay ord") == ["orders:dlq"]
    assert completed("streamops audit ls --operation delayed") == [
        "delayed rm",
        "delayed run-now",
        "delayed.cancel",
        "delayed.run-now",
    ]
    stocked.command("HSET", "streamops:pools", "billing", "controller", "bad\x1bname", "supervisors")
    stocked.command("HSET", "streamops:pool:unlisted", "mode", "paused")
    place.configure('[pools.batch]\nstream = "orders"\ngroup = "billing"\n')
    assert completed("streamops pools scale ") == ["batch", "billing"]
    assert completed("streamops pools explain bi") == ["billing"]
    assert completed("streamops pools pause b") == ["batch", "billing"]
    assert completed("streamops undo ") == completed("streamops jobs resume ") == []
    monkeypatch.setenv("STREAMOPS_URL", "unix:///nonexistent")
    assert completed("streamops status ord") == []
    assert completed("streamops autoscale run ") == ["batch"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, cli: Cli) -> None:
    result = cli("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_STREAMOPS_COMPLETE={shell}_complete" in result.out


def test_one_consumer_and_one_worker_are_shown_by_name(at: Cli) -> None:
    shown = at("consumers", "show", "orders", "billing", "worker-1", "-o", "json")
    assert {"schema": "streamops.consumers.show/1", "pending": 3}.items() <= json.loads(shown.out).items()
    missing = at("consumers", "show", "orders", "billing", "web-9")
    assert (missing.code, "Its consumers: worker-1, worker-2." in missing.err) == (1, True)
    assert at("workers", "show", "so-1").code == 1


def test_actions_are_chosen_by_the_words_of_their_command(at: Cli) -> None:
    at("groups", "create", "orders", "audit", "--yes")
    for words in ("groups create", "groups.create"):
        (action,) = json.loads(at("audit", "ls", "--operation", words, "-o", "json").out)["actions"]
        assert "groups create" in at("audit", "show", action["audit_id"]).out
    assert json.loads(at("audit", "ls", "--operation", "groups rm", "-o", "json").out)["actions"] == []
