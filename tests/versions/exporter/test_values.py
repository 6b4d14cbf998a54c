"""Every value against the truth: a scenario of which each number is known, on every server version."""

import pytest

from tests.support.exporter.shop import Orders
from tests.support.exporter.truth import Ledger, Watched, families, watching
from tests.support.exporter.values import BESIDE
from tests.support.programs import ServerProgram
from tests.support.servers import StartServer

pytestmark = pytest.mark.border_servers("values are held against what each version says")


STREAM = {"db": "0", "stream": "orders"}
BILLING = STREAM | {"group": "billing"}
AUDIT = STREAM | {"group": "audit"}
ONE, TWO = BILLING | {"consumer": "one"}, BILLING | {"consumer": "two"}


class Scenario:
    """What happens to the stream ``orders``, step by step, and what every page must say of it."""

    def __init__(self, orders: Orders, watched: Watched, ledger: Ledger, *, deep: bool) -> None:
        self.orders, self.ledger, self.deep = orders, ledger, deep
        self._watched = watched

    async def play(self) -> None:
        """All of it."""
        self.orders.add(0, 9)
        self.orders.create("billing", "audit")
        self.orders.read("one", 4)
        self.orders.read("two", 2)
        self.orders.ack(0)
        self.orders.backdate(1, consumer="one", seconds=20, deliveries=7)
        # Only once a stream is known to be light is it read in full.
        await self._look()
        await self._look()
        self._first_stream()
        self._first_groups()
        self._first_consumers()
        for step in (
            self._moves_on,
            self._is_trimmed,
            self._is_set_back,
            self._catches_up,
            self._loses_an_entry,
            self._loses_a_consumer,
            self._loses_a_group,
            self._is_made_anew,
            self._is_gone,
        ):
            await step()

    async def _look(self) -> None:
        self.ledger.page = await self._watched.look()

    def _first_stream(self) -> None:
        self.ledger.equal(
            {
                "stream_length": 10,
                "stream_entries_added_total": self._added(10),
                "stream_removed_entries_total": 0,
                "stream_groups": 2,
                "stream_first_entry_timestamp_seconds": self.orders.at(0),
                "stream_last_generated_timestamp_seconds": self.orders.at(9),
                "stream_max_deleted_timestamp_seconds": None,
            },
            **STREAM,
        )

    def _first_groups(self) -> None:
        counted = dict.fromkeys(
            ["group_delivered_entries_total", "group_acked_entries_total", "group_lost_entries_total"], 0
        )
        self.ledger.equal(
            {
                "group_lag_entries": 4,
                "group_lag_known": 1,
                "group_lag_upper_bound_entries": 4,
                "group_pending_entries": 5,
                "group_consumers": 2,
                "group_active_consumers": 2,
                "group_last_delivered_timestamp_seconds": self.orders.at(5),
                "group_oldest_pending_entry_timestamp_seconds": self.orders.at(1),
                "group_oldest_pending_deliveries": 7,
                **counted,
                "group_lost_upper_bound_entries": 0,
                "group_dangling_pending_entries": 0,
                "group_rewinds_total": 0,
            },
            **BILLING,
        )
        self.ledger.near(
            {
                "group_time_lag_seconds": self.orders.now() - self.orders.at(6),
                "group_oldest_pending_delivered_timestamp_seconds": self.orders.now() - 20,
            },
            **BILLING,
        )
        self.ledger.equal(
            {
                "group_lag_entries": 10,
                "group_lag_known": 1,
                "group_lag_upper_bound_entries": 10,
                "group_pending_entries": 0,
                "group_consumers": 0,
                "group_active_consumers": 0,
                "group_last_delivered_timestamp_seconds": None,
                "group_oldest_pending_entry_timestamp_seconds": None,
                "group_oldest_pending_delivered_timestamp_seconds": None,
                "group_oldest_pending_deliveries": None,
                **counted,
                "group_rewinds_total": 0,
            },
            **AUDIT,
        )
        self.ledger.near({"group_time_lag_seconds": self.orders.now() - self.orders.at(0)}, **AUDIT)

    def _first_consumers(self) -> None:
        self.ledger.equal({"consumer_pending_entries": 3}, **ONE)
        self.ledger.equal({"consumer_pending_entries": 2}, **TWO)
        now = self.orders.now()
        for labels, delivered in ((ONE, now - 20), (TWO, now)):
            self.ledger.near({"consumer_last_seen_timestamp_seconds": now}, **labels)
            if self.orders.tells_activity:
                self.ledger.near({"consumer_last_active_timestamp_seconds": now}, **labels)
            else:
                self.ledger.equal({"consumer_last_active_timestamp_seconds": None}, **labels)
            oldest = "consumer_oldest_pending_delivered_timestamp_seconds"
            if self.deep:
                self.ledger.near({oldest: delivered}, **labels)
            else:
                self.ledger.equal({oldest: None}, **labels)

    async def _moves_on(self) -> None:
        self.orders.add(10, 14)
        self.orders.read("two", 3)
        self.orders.ack(1, 4)
        await self._look()
        self.ledger.equal({"stream_length": 15, "stream_entries_added_total": self._added(15)}, **STREAM)
        self.ledger.equal(
            {
                "group_lag_entries": 6,
                "group_pending_entries": 6,
                "group_oldest_pending_deliveries": 1,
                "group_delivered_entries_total": 3,
                "group_acked_entries_total": 2,
                "group_last_delivered_timestamp_seconds": self.orders.at(8),
                "group_oldest_pending_entry_timestamp_seconds": self.orders.at(2),
            },
            **BILLING,
        )
        self.ledger.equal({"consumer_pending_entries": 2}, **ONE)
        self.ledger.equal({"consumer_pending_entries": 4}, **TWO)
        self.ledger.equal({"group_lag_entries": 15, "group_delivered_entries_total": 0}, **AUDIT)

    async def _is_trimmed(self) -> None:
        self.orders.trim(3)
        await self._look()
        self.ledger.equal(
            {
                "stream_length": 3,
                "stream_removed_entries_total": 12,
                "stream_entries_added_total": self._added(15),
                "stream_first_entry_timestamp_seconds": self.orders.at(12),
            },
            **STREAM,
        )
        self.ledger.equal({"group_lag_entries": 3}, **BILLING)
        self.ledger.equal({"group_lag_entries": 3}, **AUDIT)
        self._counted(BILLING, lost=3)
        self._counted(AUDIT, lost=12)
        self.ledger.near({"group_time_lag_seconds": self.orders.now() - self.orders.at(12)}, **BILLING)

    async def _is_set_back(self) -> None:
        self.orders.set_back("billing")
        await self._look()
        self.ledger.equal(
            {
                "group_rewinds_total": 1,
                "group_lag_entries": 3,
                "group_last_delivered_timestamp_seconds": None,
            },
            **BILLING,
        )
        self._counted(BILLING, delivered=3, acked=2, lost=3)
        for what in ("delivered", "acked"):
            self.ledger.equal({"group_count_gaps_total": 1}, **BILLING, counter=what)

    async def _catches_up(self) -> None:
        self.orders.read("one", 3)
        await self._look()
        self.ledger.equal(
            {
                "group_lag_entries": 0,
                "group_time_lag_seconds": 0,
                "group_pending_entries": 9,
            },
            **BILLING,
        )
        self._counted(BILLING, delivered=6, acked=2)

    async def _loses_an_entry(self) -> None:
        self.orders.delete(13)
        await self._look()
        deleted = self.orders.at(13) if self.orders.counts_added else None
        self.ledger.equal(
            {
                "stream_length": 2,
                "stream_removed_entries_total": 13,
                "stream_max_deleted_timestamp_seconds": deleted,
            },
            **STREAM,
        )
        self.ledger.equal({"group_lag_entries": 0, "group_pending_entries": 9}, **BILLING)

    async def _loses_a_consumer(self) -> None:
        self.orders.drop_consumer("two")
        await self._look()
        self.ledger.equal({"group_consumers": 1, "group_pending_entries": 5}, **BILLING)
        self._counted(BILLING, acked=6)
        assert self.ledger.page.subjects("consumer") == {"one"}

    async def _loses_a_group(self) -> None:
        self.orders.drop_group("audit")
        await self._look()
        self.ledger.equal({"stream_groups": 1}, **STREAM)
        assert self.ledger.page.subjects("group") == {"billing"}

    async def _is_made_anew(self) -> None:
        self.orders.drop()
        self.orders.add(20, 21)
        await self._look()
        self.ledger.equal(
            {
                "stream_length": 2,
                "stream_groups": 0,
                "stream_first_entry_timestamp_seconds": self.orders.at(20),
            },
            **STREAM,
        )
        self.ledger.equal(
            {"stream_entries_added_total": self._added(17), "stream_removed_entries_total": 15}, **STREAM
        )
        assert not self.ledger.page.subjects("group")
        assert not self.ledger.page.subjects("consumer")

    async def _is_gone(self) -> None:
        self.orders.drop()
        await self._look()
        assert "orders" not in self.ledger.page.subjects("stream")

    def _counted(self, labels: dict[str, str], **truth: int) -> None:
        """What was counted is the truth; on servers that count less, it is never more, and the rest is owned up to."""
        for what, number in truth.items():
            name = {"lost": "group_lost_entries_total"}.get(what, f"group_{what}_entries_total")
            told = self.ledger.page.value(name, **labels)
            if self.orders.counts_added or told == number:
                self.ledger.equal({name: number}, **labels)
            else:
                assert told is not None
                assert told < number
                assert self.ledger.page.value("group_count_gaps_total", **labels, counter=what)

    def _added(self, entries: int) -> int:
        """What is counted as added: before Redis 7.0, what came after the first look."""
        return entries if self.orders.counts_added else entries - 10


@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
async def test_streams_groups_and_consumers(
    program: ServerProgram, start_server: StartServer, monkeypatch: pytest.MonkeyPatch, *, deep: bool
) -> None:
    server, ledger = start_server("--maxmemory", "100mb", program=program), Ledger()
    async with watching(server, monkeypatch, deep=deep) as watched:
        orders = Orders(server)
        await Scenario(orders, watched, ledger, deep=deep).play()
    told = families("Streams", "Consumer groups", "Consumers") - BESIDE
    if not orders.counts_added:
        told.discard("stream_max_deleted_timestamp_seconds")
    if not orders.tells_activity:
        told.discard("consumer_last_active_timestamp_seconds")
    if not deep:
        told.discard("consumer_oldest_pending_delivered_timestamp_seconds")
    assert ledger.compared == told
