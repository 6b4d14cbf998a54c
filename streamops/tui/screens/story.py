"""One entry's story: added, delivered, tried, given up, replayed, as far as Redis knows."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.model.stories import Story
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.asking import Go
from streamops.tui.beside.reads import ReadStory
from streamops.tui.beside.story_lines import story_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.reads import Answered
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.subjects import Subject, holds_dead_letters, subject_at


class StoryScreen(ReadingFrame):
    """What became of an entry; Enter shows the entry itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "entry", "the entry", show=False, id="story.entry")
    ]
    HINTS = (("enter", "the entry"), ("r", "read again"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.Story, moment: Moment) -> None:
        super().__init__(place, moment)
        self._story_place = place
        self._story: Story | None = None

    def wanted(self) -> ReadStory:
        """The story."""
        return ReadStory(self._story_place.stream, self._story_place.id)

    def on_answered(self, message: Answered) -> None:
        """Take it."""
        self._story, self.error = message.answer, ""
        self.tell()

    def lines(self, width: int) -> Sequence[Line]:
        """What happened, and what is not known."""
        if self._story is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        title: Line = (Cell(f" {self._story_place.id}", Tone.STRONG),)
        return [title, BLANK_LINE, *story_lines(self._story, width)]

    def copyable(self) -> str:
        """The entry's ID."""
        return str(self._story_place.id)

    def subject(self) -> Subject | None:
        """The entry."""
        dead = holds_dead_letters(self.moment.observation, self._story_place.stream)
        return subject_at(self._story_place, dead_letters=dead)

    def action_entry(self) -> None:
        """Show the entry."""
        place = self._story_place
        self.post_message(Go(places.OneEntry(place.stream, place.id)))
