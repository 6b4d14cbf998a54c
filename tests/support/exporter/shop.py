"""The stream that the tests of values play with."""

from typing import Final

from tests.support.servers import RunningServer

COUNTS_ADDED: Final = (7, 0)
TELLS_ACTIVITY: Final = (7, 2)


class Orders:
    """The stream ``orders``: entries one second apart, the first of them 100 s ago, and what happens to them.

    Attributes:
        counts_added: Whether the server counts what was ever added, and tells what was deleted.
        tells_activity: Whether it tells when a consumer last got an entry.
    """

    def __init__(self, server: RunningServer) -> None:
        self._client = server.client
        self._server = server
        self._first = round((self.now() - 100) * 1000)
        program = server.program
        self.counts_added = program.flavour == "valkey" or program.version >= COUNTS_ADDED
        self.tells_activity = program.flavour == "valkey" or program.version >= TELLS_ACTIVITY

    def now(self) -> float:
        """The server's clock."""
        seconds, microseconds = self._client.time()
        return float(seconds + microseconds / 1e6)

    def at(self, number: int) -> float:
        """The time in the ID of an entry, in seconds."""
        return (self._first + number * 1000) / 1000

    def id(self, number: int) -> str:
        """The ID of an entry."""
        return f"{self._first + number * 1000}-0"

    def add(self, first: int, last: int) -> None:
        """Add entries by their numbers, both inclusive."""
        for number in range(first, last + 1):
            self._client.xadd("orders", {"number": number}, id=self.id(number))

    def create(self, *groups: str) -> None:
        """Create groups at the stream's beginning."""
        for group in groups:
            self._client.xgroup_create("orders", group, id="0")

    def read(self, consumer: str, count: int) -> None:
        """Have a consumer of ``billing`` take entries."""
        self._client.xreadgroup("billing", consumer, {"orders": ">"}, count=count)

    def ack(self, *numbers: int) -> None:
        """Have entries acknowledged."""
        assert self._client.xack("orders", "billing", *map(self.id, numbers)) == len(numbers)

    def backdate(self, number: int, *, consumer: str, seconds: int, deliveries: int) -> None:
        """Make a pending entry look delivered that long ago, and that often."""
        self._server.command(
            *("XCLAIM", "orders", "billing", consumer, 0, self.id(number)),
            *("IDLE", seconds * 1000, "RETRYCOUNT", deliveries, "JUSTID"),
        )

    def trim(self, length: int) -> None:
        """Keep the newest entries alone."""
        self._client.xtrim("orders", maxlen=length, approximate=False)

    def delete(self, number: int) -> None:
        """Delete one entry."""
        assert self._client.xdel("orders", self.id(number)) == 1

    def set_back(self, group: str) -> None:
        """Set a group back to the stream's beginning."""
        self._client.xgroup_setid("orders", group, "0")

    def drop_consumer(self, name: str) -> None:
        """Remove a consumer of ``billing`` with what it holds."""
        self._client.xgroup_delconsumer("orders", "billing", name)

    def drop_group(self, name: str) -> None:
        """Destroy a group."""
        self._client.xgroup_destroy("orders", name)

    def drop(self) -> None:
        """Delete the stream."""
        self._client.delete("orders")
