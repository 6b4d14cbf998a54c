"""One entry's story as lines. Pure."""

from typing import Final

from streamops.model.stories import Story, StoryEvent, StoryKind
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import duration, timestamp
from streamops.tui.details import paragraph
from streamops.tui.paint import BLANK_LINE, Line, wrap

GLYPHS: Final = {
    StoryKind.ADDED: ("+", Tone.OK),
    StoryKind.GONE: ("✗", Tone.WARN),
    StoryKind.WAITING: ("·", Tone.DIM),
    StoryKind.PENDING: ("▸", Tone.WARN),
    StoryKind.DONE: ("✓", Tone.PLAIN),
    StoryKind.MARKED: ("▲", Tone.WARN),
    StoryKind.RETRY: ("↻", Tone.WARN),
    StoryKind.DEAD: ("✗", Tone.CRITICAL),
    StoryKind.AGAIN: ("↻", Tone.OK),
    StoryKind.ACTION: ("◆", Tone.PLAIN),
}
WHEN: Final = 21
"""Width of an instant; on narrow screens the text begins below it."""
NARROW: Final = 56


def story_lines(story: Story, width: int) -> list[Line]:
    """What happened to it, and what is not known of that."""
    lines: list[Line] = []
    for event in story.events:
        lines += _event(story, event, width)
    if story.unknown:
        lines += [BLANK_LINE, (Cell(" Not known", Tone.STRONG),)]
        for sentence in story.unknown:
            lines += paragraph(f"? {safe(sentence)}", width, Tone.UNKNOWN, hang=2)
    return lines


def _event(story: Story, event: StoryEvent, width: int) -> list[Line]:
    glyph, tone = GLYPHS[event.kind]
    when = "" if event.at is None else timestamp(event.at)
    if width < NARROW:
        head: list[Line] = [(Cell(f" {when} {_ago(story, event)}".rstrip(), Tone.DIM),)] if when else []
        return [*head, *paragraph(f"{glyph} {safe(event.text)}", width, tone, hang=2)]
    first, *rest = wrap(safe(event.text), width - WHEN - 5)
    lines: list[Line] = [
        (Cell(f" {when.ljust(WHEN)} ", Tone.DIM), Cell(f"{glyph} ", tone), Cell(first, tone))
    ]
    return lines + [(Cell(" " * (WHEN + 4)), Cell(piece, tone)) for piece in rest]


def _ago(story: Story, event: StoryEvent) -> str:
    if story.now is None or event.at is None:
        return ""
    age = story.now - event.at
    return f"in {duration(-age)}" if age.total_seconds() < 0 else f"{duration(age)} ago"
