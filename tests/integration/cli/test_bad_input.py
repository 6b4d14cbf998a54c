"""What a command that acts answers where what it is given cannot be: what is wrong, and what to do."""

import pytest

from tests.support.cli.running import Cli
from tests.support.servers import RunningServer

STREAMS = "List what there is with `streamops streams ls` and `streamops groups ls`."
TYPE = "The key holds another type of value. `streamops streams ls` lists the streams there are."
QUEUES = "`streamops dlq ls` lists the dead-letter queues."


@pytest.fixture
def orders(server: RunningServer) -> RunningServer:
    """A stream with one pending entry, one without groups, a dead-letter queue, and a string."""
    server.command("XADD", "orders", "1-0", "n", 1)
    server.command("XGROUP", "CREATE", "orders", "billing", 0)
    server.command("XREADGROUP", "GROUP", "billing", "w1", "STREAMS", "orders", ">")
    server.command("XADD", "lonely", "1-0", "n", 1)
    server.command("XADD", "{orders}:dlq", "10-0", "n", 1, "_so_origin", "orders", "_so_group", "billing")
    server.command("SET", "plain", "x")
    return server


@pytest.mark.parametrize(
    ("line", "error", "hint"),
    [
        ("dlq add nosuch billing --ids 1-0", "stream nosuch: no such stream", STREAMS),
        ("dlq add plain billing --ids 1-0", "stream plain: not a stream", TYPE),
        (
            "dlq add lonely billing --ids 1-0",
            "stream lonely has no group billing",
            "It has no groups; `streamops groups create lonely billing` creates one.",
        ),
        ("claim orders nosuch --to w2", "stream orders has no group nosuch", "Its groups: billing."),
        (
            "claim orders billing --to w2 --from w9",
            "group orders/billing has no consumer w9",
            "Its consumers: w1.",
        ),
        ("replay nosuch:dlq", "stream nosuch:dlq: no such stream", QUEUES),
        (
            "replay orders",
            (
                "stream orders is no dead-letter queue by its name or the configuration, and group billing would lose "
                "entries that are pending or unread"
            ),
            (
                "`streamops dlq ls` lists the queues. If it is one, name it in the context's "
                'configuration: dead_letters = { STREAM = "orders" }.'
            ),
        ),
        (
            "replay {orders}:dlq --max 0",
            "replay {orders}:dlq: 1 selected, more than the 0 allowed",
            "Nothing was done. Narrow the selection, or allow more with --max N.",
        ),
        ("replay {orders}:dlq --to plain", "stream plain: not a stream", TYPE),
        ("trim nosuch --maxlen 1", "stream nosuch: no such stream", STREAMS),
        (
            "trim orders --maxlen many",
            "invalid value for '--maxlen': 'many' is not a whole number",
            "See `streamops trim --help`.",
        ),
        (
            "undo 4f1c09ab12cd",
            "invalid value for 'AUDIT_ID': '4f1c09ab12cd' is no action's ID. `streamops audit ls` lists the actions",
            "See `streamops undo --help`.",
        ),
        (
            "undo 5-5",
            "the audit log has no action 5-5",
            "List them with `streamops audit ls`; the log keeps about 10,000 records.",
        ),
    ],
)
def test_bad_input_is_answered_with_what_is_wrong_and_what_to_do(
    cli: Cli, orders: RunningServer, line: str, error: str, hint: str
) -> None:
    answer = cli(*line.split(), "--dry-run", "--url", orders.unix_url)
    assert answer.code
    assert answer.err.splitlines() == [f"error: {error}", f"hint: {hint}"]


def test_a_consumer_that_does_not_exist_is_not_one_without_pending_entries(
    cli: Cli, orders: RunningServer
) -> None:
    orders.command("XGROUP", "CREATECONSUMER", "orders", "billing", "w2")
    idle = cli("pending", "ls", "orders", "billing", "--consumer", "w2", "--url", orders.unix_url)
    assert (idle.code, idle.out) == (0, "")
    missing = cli("pending", "ls", "orders", "billing", "--consumer", "w9", "--url", orders.unix_url)
    assert missing.code == 1
    assert "error: group orders/billing has no consumer w9" in missing.err
    assert "hint: Its consumers: w1, w2." in missing.err
