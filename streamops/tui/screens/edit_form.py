"""The form of editing and replaying: the fields of the letters as lines, then what a replay asks besides."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from textual.widget import Widget
from textual.widgets import Input

from streamops.errors import StreamopsError
from streamops.model.dead_letters import DeadLetter
from streamops.model.text import name_bytes
from streamops.model.wording import counted
from streamops.operations.operation import Operation
from streamops.operations.replay.intent import RESERVED, ReplayIntent
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe, safe_bytes
from streamops.resources.units import size
from streamops.tui.acting.questions import WrongAnswer
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.form import FormScreen, LabelledRow, Rows
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.paint import Line

LONGEST: Final = 8 * 1024
NAME_BYTES: Final = 200
ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
BACK: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


class Editable(Struct, frozen=True, kw_only=True):
    r"""One field of some letters.

    Attributes:
        name: Its name.
        label: The name, safe to show.
        text: Its value as it is shown, safe to show; empty if the letters' values differ.
        escaped: Whether line ends, tabs and backslashes stand in it as escapes: ``\n``, ``\t``, ``\\``.
        kept: Why it cannot be edited; empty if it can.
        hint: What has to be known about it.
    """

    name: bytes
    label: str
    text: str = ""
    escaped: bool = False
    kept: str = ""
    hint: str = ""

    def edit(self, text: str) -> tuple[bytes, bytes] | None:
        """The edit that a text stands for; None if nothing was changed, or it cannot be.

        Raises:
            ValueError: A backslash is followed by nothing that is known.
        """
        if self.kept or text == self.text:
            return None
        return self.name, name_bytes(_unescaped(text) if self.escaped else text)


def editables(letters: Sequence[DeadLetter]) -> tuple[Editable, ...]:
    """Every field of some letters, in the order in which they come."""
    names: dict[bytes, None] = {}
    for letter in letters:
        names |= dict.fromkeys(name for name, _ in letter.fields)
    return tuple(_editable(name, [_values(letter, name) for letter in letters]) for name in names)


def _values(letter: DeadLetter, name: bytes) -> list[bytes]:
    return [value for one, value in letter.fields if one == name]


def _editable(name: bytes, of_dead_letters: Sequence[Sequence[bytes]]) -> Editable:
    label = safe_bytes(name, NAME_BYTES)
    having = [values for values in of_dead_letters if values]
    if name.startswith(RESERVED):
        return Editable(name=name, label=label, kept="a field of streamops: it stays unchanged")
    if not (_text(name) or "").isprintable() or _text(name) is None:
        return Editable(name=name, label=label, kept="its name is not text: it stays unchanged")
    if any(len(values) > 1 for values in having):
        return Editable(name=name, label=label, kept="the entry has it more than once: all stay unchanged")
    lacking = len(of_dead_letters) - len(having)
    missing = (
        f"{lacking:,} of {len(of_dead_letters):,} dead letters lack it, and would get it. " if lacking else ""
    )
    values = {values[0] for values in having}
    if len(values) > 1:
        hint = f"{missing}Values differ: empty keeps each dead letter's own."
        return Editable(name=name, label=label, escaped=_has_lines(values), hint=hint)
    return _alike(name, label, having[0][0], missing)


def _alike(name: bytes, label: str, value: bytes, missing: str) -> Editable:
    text = _text(value)
    if text is None:
        return Editable(
            name=name, label=label, kept=f"{size(len(value))} that are not text: they stay unchanged"
        )
    if len(value) > LONGEST:
        return Editable(
            name=name,
            label=label,
            kept=f"{size(len(value))}: too long for a line: edit it with replay --edit",
        )
    escaped = not text.isprintable()
    lines = "\\n is a line end, \\t a tab, \\\\ a backslash. " if escaped else ""
    shown = "".join(ESCAPES.get(character, character) for character in text) if escaped else text
    return Editable(name=name, label=label, text=shown, escaped=escaped, hint=f"{missing}{lines}".rstrip())


def _text(value: bytes) -> str | None:
    """A value as text that can be shown and typed, but for line ends and tabs; None if it is none."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(one.isprintable() or one in ESCAPES for one in text) else None


def _has_lines(values: Iterable[bytes]) -> bool:
    return any(b"\n" in value or b"\t" in value or b"\r" in value for value in values)


def _unescaped(text: str) -> str:
    parts: list[str] = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            parts.append(character)
            continue
        follower = next(characters, "")
        if follower not in BACK:
            raise ValueError("a backslash begins \\n, \\t, \\r or \\\\ here")
        parts.append(BACK[follower])
    return "".join(parts)


MOST_READ: Final = 200
"""Letters whose fields are looked at."""
ABOUT: Final = "Changes apply to the replayed entries; all other fields keep their bytes."
CHANGED: Final = "edit"


class FieldRow(LabelledRow):
    """One field: its name, and its value to edit, or why it cannot be edited."""

    def __init__(self, field: Editable) -> None:
        self.field = field
        self.entry: Input | None = None if field.kept else _entry(field)
        kept = Bar(Background.PAGE)
        kept.show((Cell(f"  ‖ {field.kept}", Tone.DIM),))
        super().__init__(field.label, Tone.OK, kept if self.entry is None else self.entry)

    def edit(self) -> tuple[bytes, bytes] | None:
        """What was changed; raises ``WrongAnswer`` if what stands there means nothing."""
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
