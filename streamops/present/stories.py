"""Stories of entries as rows and as documents."""

from typing import Final

from streamops.model.stories import Story, StoryEvent
from streamops.present.cells import NOT_THERE
from streamops.present.documents import Json, text_json
from streamops.present.table import Cell, Column
from streamops.present.text import safe
from streamops.present.units import rfc3339, timestamp

TEXT_WIDTH: Final = 80

STORY_COLUMNS: Final[tuple[Column[StoryEvent], ...]] = (
    Column(
        key="at",
        title="AT",
        help="When it happened, or is due, in UTC; a dash where Redis does not keep that.",
        cell=lambda row: NOT_THERE if row.at is None else Cell(timestamp(row.at)),
        value=lambda row: None if row.at is None else rfc3339(row.at),
        width=21,
        priority=0,
    ),
    Column(
        key="kind",
        title="WHAT",
        help="added, gone, waiting, pending, done, marked, retry, dead, again (a replay), action (an operator's).",
        cell=lambda row: Cell(row.kind),
        value=lambda row: row.kind.value,
        width=8,
        priority=0,
    ),
    Column(
        key="text",
        title="STORY",
        help="What happened, in a sentence.",
        cell=lambda row: Cell(safe(row.text)),
        value=lambda row: row.text,
        width=TEXT_WIDTH,
        flexible=True,
        priority=0,
    ),
)


def event_json(event: StoryEvent) -> Json:
    """One event."""
    return {
        "kind": event.kind.value,
        "at": None if event.at is None else rfc3339(event.at),
        "text": text_json(event.text),
        "stream": text_json(event.stream) if event.stream else None,
        "id": None if event.id is None else str(event.id),
    }


def story_json(story: Story) -> Json:
    """A story, and what of it is not known."""
    return {
        "stream": text_json(story.stream),
        "id": str(story.id),
        "events": [event_json(event) for event in story.events],
        "unknown": [text_json(sentence) for sentence in story.unknown],
    }
