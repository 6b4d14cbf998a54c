"""The form of editing and replaying: the fields of the letters as lines, then what a replay asks besides."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from streamops.errors import StreamopsError
from streamops.model.dead_letters import DeadLetter
from streamops.model.wording import counted
from streamops.operations.operation import Operation
from streamops.operations.replay.intent import ReplayIntent
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.acting.edits import Editable, editables
from streamops.tui.acting.questions import WrongAnswer
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.form import LABEL, FormScreen, Rows
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.paint import Line, fit

MOST_READ: Final = 200
"""Letters whose fields are looked at."""
ABOUT: Final = "Changes apply to the replayed entries; all other fields keep their bytes."
CHANGED: Final = "edit"


class FieldRow(Horizontal):
    """One field: its name, and its value to edit, or why it cannot be edited."""

    DEFAULT_CSS = f"""
    FieldRow {{ height: 1; }}
    FieldRow #name {{ width: {LABEL}; }}
    FieldRow Input {{ background: $background; background-tint: 0%; width: 1fr; }}
    FieldRow Input:focus {{ background: $surface; background-tint: 0%; }}
    """

    def __init__(self, field: Editable) -> None:
        super().__init__()
        self.field = field
        self._label = Bar(Background.PAGE, id="name")
        self._kept = Bar(Background.PAGE)
        self.entry: Input | None = None if field.kept else _entry(field)

    def compose(self) -> ComposeResult:
        """The name and the value."""
        self._label.show((Cell(fit(f" {self.field.label}", LABEL), Tone.OK),))
        yield self._label
        if self.entry is not None:
            yield self.entry
        else:
            self._kept.show((Cell(f"  ‖ {self.field.kept}", Tone.DIM),))
            yield self._kept

    def edit(self) -> tuple[bytes, bytes] | None:
        """What was changed; raises ``WrongAnswer`` where what stands there means nothing."""
        if self.entry is None:
            return None
        try:
            return self.field.edit(self.entry.value)
        except ValueError as error:
            raise WrongAnswer(CHANGED, f"{self.field.label}: {error}") from None


class EditFormScreen(FormScreen):
    """A replay whose letters' fields can be edited.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        operation: The replay.
        selection: The letters.
    """

    def __init__(
        self, place: Route, app_state: AppState, operation: Operation[Any, Any], selection: Selection
    ) -> None:
        super().__init__(place, app_state, operation, selection, {})
        self.title_word = "edit and replay"
        self._letters = selection
        self._fields: Sequence[FieldRow] = ()
        self._heading = Bar(Background.PAGE)
        self._below = Bar(Background.PAGE)
        self._below.show((Cell(f" {safe(operation.summary)}", Tone.STRONG),))

    def compose_body(self) -> Iterable[Widget]:
        """As every form, with room for the fields to come."""
        ids = len(self._letters.ids)
        words = "reading their fields" if ids else "all dead letters: write changes as FIELD=VALUE under edit"
        self._heading.show((Cell(f" {words}", Tone.DIM),))
        yield self._heading
        with Rows(can_focus=False, id="rows"):
            yield self._below
            yield from self._rows
        yield self._help_view

    def on_mount(self) -> None:
        """Read the letters, and what they died of."""
        self.read_state()
        ids = self._letters.ids[:MOST_READ]
        if ids:
            self.fetch(lambda source: source.dead_letters.read_many(self._letters.stream, ids), self._take)

    async def _take(self, letters: Sequence[DeadLetter]) -> None:
        """Put their fields before the other rows."""
        self._fields = [FieldRow(field) for field in editables(letters)]
        rows = self.query_one("#rows", Rows)
        await rows.mount_all(self._fields, before=0)
        first = next((row.entry for row in self._fields if row.entry is not None), None)
        if first is not None:
            first.focus()
        # Whoever reads this may type.
        self._heading.show((Cell(f" {self._about(letters)}", Tone.STRONG),))

    def unread(self, error: StreamopsError) -> None:
        """Say why they could not be read; FIELD=VALUE can be written all the same."""
        self._heading.show((Cell(f" ✗ {safe(error.message)}", Tone.CRITICAL),))

    def finish(self, intent: Struct) -> Struct:
        """Add what was changed to what was written under edit."""
        if not isinstance(intent, ReplayIntent):
            return intent
        changed = tuple(pair for row in self._fields if (pair := row.edit()) is not None)
        both = {name for name, _ in changed} & {name for name, _ in intent.edit}
        if both:
            raise WrongAnswer(CHANGED, "a field is changed above and under edit: use one of them")
        if changed and intent.mode == "redeliver":
            raise WrongAnswer("mode", "redeliver delivers the stream's own entry, which cannot be edited")
        return replace(intent, edit=(*changed, *intent.edit))

    def copyable(self) -> str | None:
        """What stands in the focused row."""
        focused = self._focused_field()
        return super().copyable() if focused is None or focused.entry is None else focused.entry.value

    def _about(self, letters: Sequence[DeadLetter]) -> str:
        asked = len(self._letters.ids)
        which = counted(len(letters), "dead letter", "dead letters")
        if asked > MOST_READ:
            return f"Fields of the first {which} of {asked:,}: an edit applies to all of them"
        gone = f"; {asked - len(letters):,} are gone" if len(letters) < asked else ""
        return f"Fields of {which}{gone}"

    def _show_help(self) -> None:
        focused = self._focused_field()
        if focused is None or self._wrong is not None:
            super()._show_help()
            return
        text = " ".join(filter(None, (f"{focused.field.label}.", focused.field.hint, ABOUT)))
        self._help_view.show(lambda width: _help(text, width))

    def _focused_field(self) -> FieldRow | None:
        return next((row for row in self._fields if row.entry is not None and row.entry.has_focus), None)


def _entry(field: Editable) -> Input:
    entry = Input(
        field.text,
        placeholder="differs: empty keeps each dead letter's own"
        if not field.text and "differ" in field.hint
        else "",
        compact=True,
        select_on_focus=False,
    )
    entry.cursor_blink = False
    return entry


def _help(text: str, width: int) -> list[Line]:
    return paragraph(text, width, Tone.DIM)
