"""All topics of HTTP callbacks: on or off, where they are called back to, how much waits."""

from collections.abc import Mapping

from msgspec.structs import replace

from streamops.present.columns.topics import TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS
from streamops.present.topics import TopicRow
from streamops.tui import places
from streamops.tui.beside.reads import read_topics
from streamops.tui.beside.topic_lines import topic_lines
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.source import Source
from streamops.tui.subjects import Sort, Subject
from streamops.tui.text_view import Builder

URL_WIDTH = 34
PRIORITIES: Mapping[str, int] = {"priority": 5, "next_due_in_seconds": 1, "origin": 4}
COLUMNS = tuple(
    replace(
        column,
        width=URL_WIDTH if column.key == "url" else column.width,
        priority=PRIORITIES.get(column.key, column.priority),
    )
    for column in TOPIC_COLUMNS
)


class TopicsScreen(ReadListing[TopicRow]):
    """The topics; Enter leads to a topic with its counters and what failed last."""

    HINTS = (("enter", "topic"), ("t", "tail"), ("/", "filter"), ("o i", "sort"), ("esc", "back"))

    def __init__(self, place: places.Topics, moment: Moment) -> None:
        super().__init__(place, moment, COLUMNS, TOPIC_DETAIL_COLUMNS)

    async def read(self, source: Source) -> list[TopicRow]:
        """All of them."""
        return await read_topics(source, in_use(self.moment))

    def take(self, answer: list[TopicRow]) -> None:
        """Take them."""
        self.rows = tuple(answer)

    def nothing(self) -> str:
        """Why there is none."""
        return "there are no topics; ^p and `topics add` keep one in Redis"

    def identify(self, row: TopicRow) -> tuple[str, str]:
        """The name, and the context that it names."""
        return row.name, row.context

    def text_of(self, row: TopicRow) -> str:
        """Name, URL and problem."""
        url = "" if row.topic is None else row.topic.shown_url
        return f"{row.name} {url} {row.problem} {row.context}"

    def is_fault(self, row: TopicRow) -> bool:
        """Whether it is wrong, or off."""
        return bool(row.problem) or row.topic is None or not row.topic.enabled

    def place_of(self, row: TopicRow) -> Place:
        """The topic."""
        return places.OneTopic(row.name)

    def subject(self) -> Subject | None:
        """The topic, where it is kept in Redis."""
        row = self.list.highlighted
        return None if row is None else subject_of_topic(row)

    def stream_name(self) -> str | None:
        """The stream of its messages."""
        row = self.list.highlighted
        return None if row is None or row.topic is None else row.topic.key

    def detail(self, row: TopicRow) -> Builder:
        """The topic in full."""
        return lambda width: topic_lines(row, width)

    def name_of(self, row: TopicRow) -> str:
        """Its name."""
        return row.name


def in_use(moment: Moment) -> str | None:
    """The name of the context in use; none where it is no configured one."""
    return None if moment.context.url else moment.context.name


def subject_of_topic(row: TopicRow) -> Subject | None:
    """A topic as what is acted on; none where it stands in a file."""
    if row.file:
        return None
    on = row.topic is not None and row.topic.enabled
    return Subject(sort=Sort.TOPIC if on else Sort.TOPIC_OFF, topic=row.name)
