"""Help: the row under the cursor, what each of its numbers means, and the keys."""

from collections.abc import Iterable
from typing import Final

from textual.widget import Widget

from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.tui.details import paragraph
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line, fit
from streamops.tui.places import Place, command
from streamops.tui.screens.frame import Frame
from streamops.tui.text_view import Builder, TextView

KEY_WIDTH: Final = 18
KEYS: Final[tuple[tuple[str, str], ...]] = (
    ("↑ ↓ j k", "move by a row"),
    ("PgUp PgDn Home End", "move by a page, to the first, to the last"),
    ("Enter", "open: stream, group, consumer, pending entry, entry"),
    ("Esc", "go back; drop a filter first"),
    ("1 2", "all groups; all streams"),
    ("t", "tail the stream under the cursor; follow again"),
    ("l", "on a group: all its pending entries"),
    ("/", "filter: words rows must hold, !word for one they must not"),
    ("n b", "next and previous match"),
    ("f", "faults only"),
    ("o i", "sort by the next column; invert"),
    ("v", "on an entry: decoded or as it came"),
    ("C A N", "plan to claim; on pending entries: to acknowledge, to give back"),
    ("T D R", "plan to trim; to delete entries; to replay dead letters"),
    ("W X", "plan to rewind a group; to destroy it, or remove a consumer"),
    ("Space * u", "on entries: mark one, all shown, none; a plan takes what is marked"),
    ("4 @", "jobs; the audit log: what was done"),
    ("z", "in the audit log and after an outcome: plan to undo it"),
    ("p", "freeze the screen, go on"),
    ("+ -", "refresh slower, faster: 1, 2, 5, 10, 30 s, off"),
    ("r", "read now"),
    ("y", "copy the ID or name under the cursor"),
    ("c", "copy the command that prints the same"),
    (":", "go to: stream [group], ctx [name], streams, status, audit, jobs"),
    ("^p", "everything there is to do, by name"),
    ("?", "this"),
    ("q ^q", "quit, from the first screen; from anywhere"),
)


class HelpScreen(Frame):
    """Text about a row, then the keys.

    Args:
        place: Where help was asked for.
        moment: What is known now.
        about: What that place says about its row.
    """

    HINTS = (("↑↓", "scroll"), ("esc", "back"))

    def __init__(self, place: Place, moment: Moment, about: Builder) -> None:
        super().__init__(place, moment)
        self._about = about
        self._view = TextView(self._build, id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def selection_words(self) -> Line:
        """That this is help."""
        return (Cell("help ", Tone.OK),)

    def _build(self, width: int) -> list[Line]:
        about = list(self._about(width))
        return [*about, *([BLANK_LINE] if about else []), *self._command(width), BLANK_LINE, *key_lines()]

    def _command(self, width: int) -> list[Line]:
        line = command(self.moment.context, self.place)
        return [
            (Cell(" The same as a command", Tone.STRONG),),
            *paragraph(safe(line), width, Tone.PLAIN, indent=3),
        ]


def key_lines() -> list[Line]:
    """All keys and what they do."""
    lines: list[Line] = [(Cell(" Keys", Tone.STRONG),)]
    lines += [(Cell(f" {fit(key, KEY_WIDTH)} ", Tone.OK), Cell(words)) for key, words in KEYS]
    return lines
