"""A walk on a real terminal: a stalled group is noticed, its entries handed on, its dead letters replayed, and all of it proven."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from streamops.model.acting import Environment
from tests.support.eventually import eventually
from tests.support.monitor.dead_letters import QUEUE, add_letter
from tests.support.servers import RunningServer
from tests.support.streams import entries_of, pending_count
from tests.support.tui.tmux import Tmux, in_tmux
from tests.support.written_pools import UP, write_pool

HOUR = 3_600_000
DAY = 24 * HOUR
YEAR = 365 * DAY
WRITTEN, DELIVERED, DONE, AUDITED = 40, 30, 10, 20
CONFIGURATION = """\
[console]
refresh = "1s"

[health]
stalled_after = "3s"

[contexts.shop]
url = "{url}"
environment = "development"
"""


@pytest.mark.parametrize(
    ("size", "environment"),
    [((80, 24), Environment.PRODUCTION), ((160, 50), Environment.DEVELOPMENT)],
    ids=["80x24 in production", "160x50 in development"],
)
async def test_from_noticing_to_fixing_to_proving(
    server: RunningServer, tmp_path: Path, size: tuple[int, int], environment: Environment
) -> None:
    ids = prepare(server)
    (tmp_path / "config" / "streamops").mkdir(parents=True)
    written = CONFIGURATION.format(url=server.url)
    (tmp_path / "config" / "streamops" / "config.toml").write_text(written)
    # An address alone says nothing about how much care it deserves: it counts as production.
    named = ("--url", server.url) if environment is Environment.PRODUCTION else ("--context", "shop")
    command = [sys.executable, "-m", "streamops", "tui", *named]
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    with shop_at_work(server), in_tmux(command, size, own) as terminal:
        terminal.wait_for(environment)
        walk = Walk(terminal, environment)
        walk.notices_the_stalled_group()
        walk.claims_what_is_pending()
        await eventually(lambda: pending_count(server) == 0)
        walk.replays_what_timed_out()
        await eventually(lambda: pending_count(server) == 0)
        walk.trims_what_nobody_needs(before="" if walk.is_production else ids[-5])
        walk.scales_the_pool()
        walk.reads_the_audit_log()
        walk.sees_the_group_well()
        terminal.press("q")
        assert terminal.exit_code() == 0
    assert len(entries_of(server, "orders")) == WRITTEN - AUDITED
    left = [fields for _, fields in entries_of(server, QUEUE)]
    assert [b"rejected" in fields for fields in left] == [True] * 3
    assert server.command("HGET", "streamops:pool:billing", "desired") == b"6"


class Walk:
    """Somebody at the console.

    Args:
        terminal: Where it runs.
        environment: How much care the server deserves.

    Attributes:
        is_production: Whether plans ask for more than Enter.
    """

    def __init__(self, terminal: Tmux, environment: Environment) -> None:
        self.terminal = terminal
        self.is_production = environment is Environment.PRODUCTION

    def notices_the_stalled_group(self) -> None:
        """Faults only; what is wrong with the group, and who holds its entries."""
        self.terminal.press("3", "f")
        self.terminal.wait_for_row("orders", "billing", "✗ crit", "20")
        self.terminal.press("/")
        self.terminal.type("billing")
        self.terminal.press("Enter")
        self.terminal.wait_for("1 of")
        self.terminal.press("Enter")
        self.terminal.wait_for("▸ orders ▸ billing", "✗ stalled", "none was")
        self.terminal.wait_for_row("worker-1", "20")
        self.terminal.press("l")
        self.terminal.wait_for("20 pending entries", "worker-1 100 %", "1/20")

    def claims_what_is_pending(self) -> None:
        """All of it goes to another consumer, which is there and idle."""
        self.terminal.press("*")
        self.terminal.wait_for("20 marked")
        self.terminal.press("C")
        self.terminal.wait_for("Claim pending entries for another consumer.", "min idle")
        self.terminal.type("worker-2")
        self.terminal.press("Enter")
        self.terminal.wait_for("20 entries of worker-1 will be owned by worker-2", "Low: can be undone")
        self._agree()
        self.terminal.wait_for("20 of 20")
        self._back_to("DELIVERIES")

    def replays_what_timed_out(self) -> None:
        """The letters that an expression holds of, to the group that gave them up."""
        self.terminal.press("4")
        self.terminal.wait_for_row(QUEUE, "6", "orders", "timeout")
        self.terminal.press("Enter")
        self.terminal.wait_for("6 dead letters of orders", "1/6")
        self.terminal.press("=")
        self.terminal.type("reason == 'timeout'")
        self.terminal.press("Enter")
        self.terminal.wait_for("where reason == 'timeout'", "1/3")
        self.terminal.press("*", "*")
        self.terminal.wait_for("all that match marked")
        self.terminal.press("R")
        self.terminal.wait_for("Replay dead letters.")
        self.terminal.press("Down")
        self.terminal.wait_for("republish: add a new entry for all groups")
        self.terminal.press("Space", "Space")
        self.terminal.wait_for("● redeliver")
        self.terminal.press("Enter")
        self.terminal.wait_for(
            "3 dead letters", "Medium: delivers 3 dead letters again", "Reasons: timeout 3."
        )
        self._agree(type_in_production="3")
        self.terminal.wait_for("3 of 3")
        self._back_to("3 dead letters of orders")

    def trims_what_nobody_needs(self, before: str = "") -> None:
        """Down to five is asked for, or to an ID; what a group has not acknowledged stays."""
        self.terminal.press(":")
        self.terminal.type("orders")
        self.terminal.press("Enter")
        self.terminal.wait_for("▸ orders", "audit-group")
        self.terminal.press("T")
        self.terminal.wait_for("Trim a stream's oldest entries", "Keep the N newest entries.")
        if before:
            self.terminal.press("Down")
            self.terminal.wait_for("Remove entries with a smaller ID.")
        self.terminal.type(before or "5")
        self.terminal.press(*["Down"] * (2 if before else 3))
        self.terminal.wait_for("Remove exactly up to the limit")
        self.terminal.press("Space")
        self.terminal.wait_for_row("exact", "● yes")
        self.terminal.press("Enter")
        self.terminal.wait_for("The oldest 20 of 40 entries are removed.", "held back by", "audit-1")
        self._agree(type_in_production="20")
        self.terminal.wait_for("20 of 20")
        self._back_to("audit-group")

    def scales_the_pool(self) -> None:
        """From four workers to six."""
        self.terminal.press("5", "5")
        self.terminal.wait_for("▸ pools", "1/1")
        self.terminal.press("S")
        self.terminal.wait_for("make the plan")
        self.terminal.type("6")
        self.terminal.press("Enter")
        self.terminal.wait_for("4 to 6 workers.")
        self._agree()
        self.terminal.wait_for("pool billing was asked for 6 workers")
        self._back_to("1/1")

    def reads_the_audit_log(self) -> None:
        """One line of each deed, the newest with all that is known of it."""
        self.terminal.press("@")
        for operation, target, applied in [
            ("claim", "orders/billing", "20"),
            ("replay", QUEUE, "3"),
            ("trim", "orders", "20"),
            ("pools scale", "billing", "1"),
        ]:
            self.terminal.wait_for_row(operation, target, "✓ done", applied)
        self.terminal.press("Home", "Enter")
        self.terminal.wait_for("▸ audit ▸", "4 to 6 workers.")
        self._back_to("OPERATION")

    def sees_the_group_well(self) -> None:
        """The other consumer worked off what it got; the first screen says so."""
        self.terminal.press("3")
        self.terminal.wait_for("faults only", "rows matches billing; Esc shows all")
        self.terminal.press("f")
        self.terminal.wait_for_row("orders", "billing", "✓ ok")

    def _back_to(self, words: str) -> None:
        """Go back, and wait for it: Escape with another key right behind it would be Alt and that key."""
        self.terminal.press("Escape")
        self.terminal.wait_for(words)

    def _agree(self, type_in_production: str = "") -> None:
        """Apply the plan on the screen, with as much as its danger asks for here."""
        irreversible = bool(type_in_production)
        if not (self.is_production or irreversible):
            self.terminal.wait_for("[ Apply ] Enter applies")
            self.terminal.press("Enter")
            return
        word = type_in_production if self.is_production else ""
        self.terminal.wait_for(f"Tab, then type {word}" if word else "Tab, then Enter applies")
        # Where the cursor is at first, nothing is applied.
        self.terminal.press("Tab")
        self.terminal.type(word)
        self.terminal.press("Enter")


def prepare(server: RunningServer) -> list[str]:
    """A group that hangs and one that is slow, letters of both reasons, and a pool; the IDs of the entries."""
    seconds, micros = (int(part) for part in server.command("TIME"))
    then = seconds * 1000 + micros // 1000 - HOUR
    ids = [server.command("XADD", "orders", f"{then + n}-0", "order", f"A-{n}") for n in range(WRITTEN)]
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    read(server.command, "orders", "billing", "worker-1", count=DELIVERED)
    server.command("XACK", "orders", "billing", *ids[:DONE])
    held = ids[DONE:DELIVERED]
    server.command("XCLAIM", "orders", "billing", "worker-1", "0", *held, "IDLE", str(HOUR // 2))
    server.command("XGROUP", "CREATE", "orders", "audit-group", "0")
    read(server.command, "orders", "audit-group", "audit-1", count=WRITTEN)
    server.command("XACK", "orders", "audit-group", *ids[:AUDITED])
    for number, entry_id in enumerate(ids[:6]):
        reason = ("timeout", "rejected")[number % 2]
        add_letter(server, [("order", f"A-{number}")], origin_id=entry_id.decode(), reason=reason)
    server.command("XGROUP", "CREATE", "clicks", "heatmap", "0", "MKSTREAM")
    write_pool(server, "billing", UP, desired=4)
    return [entry_id.decode() for entry_id in ids]


@contextmanager
def shop_at_work(server: RunningServer) -> Iterator[None]:
    """Clicks that come and go, a consumer that hangs, and one that takes what it is handed."""
    client = server.connect()
    client.response_callbacks.clear()
    closing = Event()

    def work() -> None:
        while not closing.wait(0.1):
            do_click(client.execute_command)
            # It is seen, and gets nothing: the handler of what it holds never returns.
            take_over(client.execute_command, "worker-1", idle=YEAR)
            work_off(client.execute_command)

    worker = Thread(target=work, name="shop")
    worker.start()
    try:
        yield
    finally:
        closing.set()
        worker.join()


Command = Callable[..., Any]


def do_click(command: Command) -> None:
    """One entry of a group that is well."""
    command("XADD", "clicks", "MAXLEN", "1000", "*", "at", "home")
    acknowledge(command, "clicks", "heatmap", read(command, "clicks", "heatmap", "web-1"))


def work_off(command: Command) -> None:
    """What worker-2 does: what it was handed, what was left over for a day; new entries once it has work at all."""
    handed = read(command, "orders", "billing", "worker-2", since="0")
    if handed:
        acknowledge(command, "orders", "billing", [*handed, *read(command, "orders", "billing", "worker-2")])
    acknowledge(command, "orders", "billing", take_over(command, "worker-2"))


def read(
    command: Command, stream: str, group: str, consumer: str, *, count: int = 100, since: str = ">"
) -> list[bytes]:
    """IDs that a consumer is given."""
    got = command("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", stream, since)
    return [entry_id for _, found in got or () for entry_id, _ in found]


def take_over(command: Command, consumer: str, idle: int = DAY) -> list[bytes]:
    """IDs that were pending for so long with anybody."""
    _, taken, *_ = command("XAUTOCLAIM", "orders", "billing", consumer, idle, "0-0")
    return [entry_id for entry_id, _ in taken]


def acknowledge(command: Command, stream: str, group: str, ids: list[bytes]) -> None:
    """Done with these."""
    if ids:
        command("XACK", stream, group, *ids)
