"""The half of a source that reads what stands beside streams: it hands out what a test put there."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # As in the console, the first screen needs none of it.
    from streamops.model.pending import PendingProfile
    from streamops.monitor.delayed import DelayedQueues
    from streamops.monitor.search import PendingSummary
    from tests.support.tui import invented_beside
    from tests.support.tui.invented_pools import InventedPools


class InventedBeside:
    """Dead letters, delayed messages, topics, workers and traces as a test wants them."""

    _beside: "invented_beside.Beside | None" = None

    @property
    def beside(self) -> "invented_beside.Beside":
        """What there is; a test changes it."""
        from tests.support.tui.invented_beside import Beside  # noqa: PLC0415 - see above

        if self._beside is None:
            self._beside = Beside()
        return self._beside

    @property
    def dead_letters(self) -> "invented_beside.InventedLetters":
        from tests.support.tui.invented_beside import InventedLetters  # noqa: PLC0415 - see above

        return InventedLetters(self.beside)

    @property
    def delayed(self) -> "invented_beside.InventedDelayed":
        from tests.support.tui.invented_beside import InventedDelayed  # noqa: PLC0415 - see above

        return InventedDelayed(self.beside)

    @property
    def topics(self) -> "invented_beside.InventedTopics":
        from tests.support.tui.invented_beside import InventedTopics  # noqa: PLC0415 - see above

        return InventedTopics(self.beside)

    @property
    def workers(self) -> "invented_beside.InventedWorkers":
        from tests.support.tui.invented_beside import InventedWorkers  # noqa: PLC0415 - see above

        return InventedWorkers(self.beside)

    @property
    def pools(self) -> "InventedPools":
        from tests.support.tui.invented_pools import InventedPools  # noqa: PLC0415 - see above

        return InventedPools(self.beside)

    @property
    def tracer(self) -> "invented_beside.InventedTraces":
        from tests.support.tui.invented_beside import InventedTraces  # noqa: PLC0415 - see above

        return InventedTraces(self.beside)

    async def find_delayed(self) -> "DelayedQueues":
        return await self.beside.find_delayed()

    async def read_pending_summary(self, stream: str, group: str) -> "PendingSummary":
        return await self.beside.read_pending_summary(stream, group)

    async def scan_pending(
        self, stream: str, group: str, consumer: str | None = None, *, limit: int = 100_000
    ) -> "PendingProfile | None":
        return await self.beside.scan_pending(stream, group, consumer, limit)
