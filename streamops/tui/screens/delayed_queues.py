"""All queues of delayed messages: how many wait, how many are due, and when the next one is."""

from streamops.monitor.delayed import DelayedQueues
from streamops.present.columns.delayed import DELAYED_QUEUE_COLUMNS
from streamops.present.delayed import DelayedQueueRow
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.beside.delayed_lines import delayed_queue_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import Line
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.source import Source
from streamops.tui.text_view import Builder


class DelayedQueuesScreen(ReadListing[DelayedQueueRow]):
    """The queues; Enter leads to a queue's messages. Finding them goes through all keys, so it is done at leisure."""

    AGAIN = 15.0
    HINTS = (("enter", "messages"), ("t", "tail"), ("/", "filter"), ("o i", "sort"), ("esc", "back"))

    def __init__(self, place: places.DelayedQueues, moment: Moment) -> None:
        super().__init__(place, moment, DELAYED_QUEUE_COLUMNS)
        self._complete = True

    async def read(self, source: Source) -> DelayedQueues:
        """Find all of them."""
        return await source.find_delayed()

    def take(self, found: DelayedQueues) -> None:
        """Take the queues."""
        self.rows = tuple(DelayedQueueRow(queue, found.now) for queue in found.queues)
        self.gaps, self._complete = found.gaps, found.complete

    def nothing(self) -> str:
        """Why there is none."""
        return "no delayed messages beside the streams that are known"

    def identify(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def text_of(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def is_fault(self, row: DelayedQueueRow) -> bool:
        """Whether messages are due and not moved, or lack their other half."""
        return row.queue.due > 0 or row.queue.bodies != row.queue.messages

    def place_of(self, row: DelayedQueueRow) -> Place:
        """Its messages."""
        return places.Delayed(row.queue.stream)

    def detail(self, row: DelayedQueueRow) -> Builder:
        """The queue in full."""
        return lambda width: delayed_queue_lines(row, width)

    def name_of(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def position_words(self) -> Line:
        """Whether there may be others, and the rest as everywhere."""
        partly = () if self._complete or not self.rows else (Cell("not all looked for  ", Tone.UNKNOWN),)
        return (*partly, *super().position_words())
