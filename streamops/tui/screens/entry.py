"""One entry with its payload, and what it refers to."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import json
from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.model.deliveries import KeptPayload
from streamops.model.entries import ZERO_ID, StreamEntry
from streamops.model.streams import StreamRole
from streamops.resources.entries import Reference, entry_json, references_of
from streamops.resources.payloads import Decoding, whole_text
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, size
from streamops.tui import routes
from streamops.tui.lines import words
from streamops.tui.lines.entry_text import CYCLE, SHOWN_BYTES, EntryPart, entry_text, parts_of, row_words
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.ordering import split_words
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.frame import Frame
from streamops.tui.terminal.output import is_in_browser
from streamops.tui.terminal.saving import FileThere, save, suggested_name
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.prompt import FILTER, OVERWRITE, SAVE, Prompt
from streamops.tui.widgets.text_view import TextView

if TYPE_CHECKING:  # What searches brings redis-py along.
    from streamops.monitor.search import PendingPage


class Searched(Frame):
    """Text; ``/`` finds words in it. Subclasses fill the view.

    Attributes:
        view: The text.
    """

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._text = ""
        self.view = TextView(id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self.view

    async def action_find(self) -> None:
        """Ask what to find."""
        await self.open_prompt(Prompt(FILTER, self._text))

    def prompted(self, text: str) -> None:
        """Find while typing."""
        self._text = text
        self.show_bars()

    def submitted(self) -> None:
        """Go to the first match."""
        self._go_to_match(self._matches(), 0)

    def cancel(self) -> bool:
        """Forget what was looked for."""
        if not self._text:
            return False
        self.prompted("")
        return True

    def action_match(self, step: int) -> None:
        """Go to the next or the previous match, around the ends."""
        at = self.view.scroll_offset.y + 2
        matches = self._matches()
        if step > 0:
            self._go_to_match([line for line in matches if line > at] or matches, 0)
        else:
            self._go_to_match([line for line in matches if line < at] or matches, -1)

    def selection_words(self) -> Line:
        """What is looked for, and how often it is there."""
        if not self._text.strip():
            return BLANK_LINE
        return (
            Cell(f"/{safe(self._text)}  ", Tone.WARN),
            Cell(f"{count(len(self._matches()))} lines ", Tone.DIM),
        )

    def _matches(self) -> list[int]:
        wanted, unwanted = split_words(self._text)
        if not wanted:
            return []
        texts = ("".join(cell.text for cell in line).casefold() for line in self.view.lines)
        return [
            number
            for number, text in enumerate(texts)
            if all(word in text for word in wanted) and not any(word in text for word in unwanted)
        ]

    def _go_to_match(self, matches: list[int], which: int) -> None:
        if matches:
            self.view.scroll_to_line(matches[which])


READING: Final = "reading"
PAGED_BYTES: Final = 64 * 1024 * 1024
"""The most of a payload that is read to be paged."""


class EntryScreen(Searched):
    """An entry's fields; ``/`` finds words in them, Tab goes from one to the next."""

    place: routes.EntryRoute

    HINTS = (
        ("next_field", "field"),
        ("open", "show all, follow"),
        ("decode", "decode"),
        ("copy_value copy_entry", "copy value, JSON"),
        ("save_value", "save"),
        ("raw", "raw"),
        ("trace", "trace"),
        "find",
        "back",
    )

    def __init__(self, place: routes.EntryRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._entry = place.entry
        self._note = READING
        self._every = Decoding.AUTO
        self._decodings: dict[int, Decoding] = {}
        self._payloads: dict[str, KeptPayload | str] = {}
        self._at = 0
        self._anchors: tuple[int, ...] = ()
        self._pending = ""
        self._to_save: EntryPart | None = None
        self._there = ("", "")

    def on_mount(self) -> None:
        """Read the entry if it was not handed over, and who owns it if it is pending."""
        self._show_entry()
        if self._entry is None:
            self.reread()
        else:
            self._read_row()

    def reread(self) -> None:
        """Read the entry again."""
        place = self.place
        self.fetch(lambda source: source.read_entry(place.stream, place.id), self._take)
        self._read_row()

    def _read_row(self) -> None:
        place, group = self.place, self.place.group
        if group is not None:
            after = place.id.previous() if place.id > ZERO_ID else None
            self.fetch(
                lambda source: source.read_pending(place.stream, group, after=after, count=1),
                self._take_row,
                lambda error: self._show_pending(words.error_text(error)),
            )

    def _take_row(self, page: "PendingPage") -> None:
        row = next((row for row in page.rows if row.id == self.place.id), None)
        self._show_pending("no longer pending" if row is None else row_words(row))

    def _show_pending(self, text: str) -> None:
        self._pending = f"group {self.place.group}: {text}"
        self._show_entry()

    def _take(self, entry: StreamEntry | None) -> None:
        if entry is not None:
            self._entry = entry
        else:
            place = self.place
            known = self._entry is not None or place.group is not None
            self._note = (
                f"{place.id} is no longer in the stream: it was trimmed or deleted"
                if known
                else f"{place.id} is not in {safe(place.stream)}; a traces it"
            )
        self._show_entry()
        self.show_bars()

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read."""
        self._note = safe(words.error_text(error))
        self._show_entry()

    def _take_payload(self, key: str, limit: int, payload: KeptPayload | None) -> None:
        gone = "it is gone: acknowledged by the last group, or expired"
        self._payloads[key] = gone if payload is None else payload
        if payload is not None and limit > SHOWN_BYTES:
            self.console.show_in_pager(whole_text(payload.head), safe(key))
        self._show_entry()
        self.show_bars()

    def _lack_payload(self, key: str, error: StreamopsError) -> None:
        self._payloads[key] = words.error_text(error)
        self._show_entry()

    def selection(self) -> Selection | None:
        """The entry, as it is pending if it was opened from such a list."""
        return self.selection_of(None)

    def copyable(self) -> str:
        """The entry's ID."""
        return str(self.place.id)

    # -- its parts -----------------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[EntryPart, ...]:
        """What it refers to, and its fields."""
        if self._entry is None:
            return ()
        return parts_of(self._entry, self._references(self._entry), self._payloads)

    @property
    def part(self) -> EntryPart | None:
        """The part one stands on."""
        parts = self.parts
        return parts[min(self._at, len(parts) - 1)] if parts else None

    def action_part(self, step: int) -> None:
        """Go to the next part or the one before, around the ends."""
        parts = len(self.parts)
        if parts:
            self._at = (self._at + step) % parts
            self._show_entry()
            if self._at < len(self._anchors):
                self.view.scroll_to_line(self._anchors[self._at])

    def action_decode(self) -> None:
        """Take the part for something else: JSON, MessagePack, text, bytes, and what it looks like again."""
        if self.part is not None:
            now = self._decodings.get(self._at, self._every)
            self._decodings[self._at] = CYCLE[(CYCLE.index(now) + 1) % len(CYCLE)]
            self._show_entry()

    def action_open(self) -> None:
        """Follow a reference; show a value in full with the person's own pager."""
        part = self.part
        reference = None if part is None else part.reference
        if reference is not None and reference.id is not None:
            self.console.go(routes.EntryRoute(reference.stream, reference.id))
        elif reference is not None and (kept := self._payloads.get(reference.key)) is not READING:
            self._open_payload(reference.key, kept)
        elif part is not None and part.value is not None:
            decoding = self._decodings.get(self._at, self._every)
            self.console.show_in_pager(whole_text(part.value, decoding), part.name)

    def action_copy_value(self) -> None:
        """Copy the value of the part, as it is if it is text, else in hex."""
        part = self.part
        if part is None or part.value is None:
            return
        try:
            text, kind = part.value.decode(), ""
        except UnicodeDecodeError:
            text, kind = part.value.hex(), " in hex"
        self.console.copy(text, f"{part.name}{kind}, {size(len(part.value))}")

    async def action_save_value(self) -> None:
        """Ask for a path to save the part's bytes to."""
        part = self.part
        if part is None or part.value is None:
            return
        kept = None if part.reference is None else self._payloads.get(part.reference.key)
        if is_in_browser(os.environ):
            self.console.say(
                "a browser's console saves nothing: the file would be on the server", warning=True
            )
        elif isinstance(kept, KeptPayload) and len(kept.head) < kept.size:
            self.console.say(
                f"{size(len(kept.head))} of {size(kept.size)} are read: nothing is saved. "
                f"Enter reads up to {size(PAGED_BYTES)}"
            )
        else:
            self._to_save = part
            name = suggested_name(self.place.id, part.name)
            await self.open_prompt(Prompt(SAVE, name, typed=self.app_state.typed.get(SAVE, ())))

    def complaint(self, sign: str, text: str) -> str:
        """Ask before a file is overwritten."""
        if sign == OVERWRITE and text.strip() != "yes":
            return f"type yes to overwrite; Esc leaves it: {self._there[1]}"
        return super().complaint(sign, text)

    def entered(self, sign: str, text: str) -> None:
        """Save the value to the path that was typed, or over the file that is there."""
        part = self._to_save
        if sign not in {SAVE, OVERWRITE} or part is None or part.value is None:
            super().entered(sign, text)
            return
        path = text if sign == SAVE else self._there[0]
        # The console waits for it: what is written is told even if the entry has been left.
        self.console.run_worker(
            self._save(part.value, path, overwrite=sign == OVERWRITE), exit_on_error=False
        )

    async def _save(self, value: bytes, path: str, *, overwrite: bool) -> None:
        try:
            written = await asyncio.to_thread(save, value, path, overwrite=overwrite)
        except FileThere as error:
            if not self.is_current:
                self.console.say(f"not saved: {error.message}", warning=True)
                return
            self._there = (path, error.message)
            await self.open_prompt(Prompt(OVERWRITE))
            self._complaint = self.complaint(OVERWRITE, "")
            self.show_bars()
        except StreamopsError as error:
            self.console.say(f"not saved: {error.message}", warning=True)
        else:
            self.console.say(f"{count(len(value))} B saved to {written}")

    def action_copy_entry(self) -> None:
        """Copy the entry as JSON, as ``streams search -o json`` has it."""
        if self._entry is not None:
            document = json.encode(entry_json(self.place.stream, self._entry))
            text = json.format(document, indent=2).decode()
            self.console.copy(text, f"{self._entry.id} as JSON, {size(len(text))}")

    def _open_payload(self, key: str, kept: KeptPayload | str | None) -> None:
        """Read the beginning of a payload; once that is here, page all of it."""
        if isinstance(kept, KeptPayload) and len(kept.head) == kept.size:
            self.console.show_in_pager(whole_text(kept.head), safe(key))
            return
        limit = PAGED_BYTES if isinstance(kept, KeptPayload) else SHOWN_BYTES
        self._payloads[key] = READING
        self._show_entry()
        self.fetch(
            lambda source: source.read_payload(key, limit),
            partial(self._take_payload, key, limit),
            partial(self._lack_payload, key),
        )

    def _references(self, entry: StreamEntry) -> Sequence[Reference]:
        """What it refers to, by what is known of its stream."""
        name = self.place.stream
        states = [view.stream for view in self.app_state.observed]
        queues = (one.name for one in states if one.role is StreamRole.DEAD_LETTERS and one.source == name)
        queue, state = next(queues, None), next((one for one in states if one.name == name), None)
        if state is None:
            return references_of(entry, name, queue=queue)
        return references_of(entry, name, state.role, state.source, queue)

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._every = Decoding.TEXT if self._every is Decoding.AUTO else Decoding.AUTO
        self._decodings.clear()
        self._show_entry()

    def _show_entry(self) -> None:
        entry, note, pending = self._entry, self._note, safe(self._pending)
        if entry is None:
            texts = filter(None, (note, pending))
            lines = [BLANK_LINE, *((Cell(f" {text}", Tone.DIM),) for text in texts)]
            self.view.show(lambda _width: lines)
            return
        now, parts = self.app_state.now, self.parts

        def build(width: int) -> Sequence[Line]:
            built = entry_text(
                entry,
                parts,
                now,
                width,
                pending=pending,
                at=self._at,
                decodings=self._decodings,
                every=self._every,
            )
            gone = [(Cell(f" ▲ {note}", Tone.WARN),), BLANK_LINE] if note != READING else []
            self._anchors = tuple(anchor + len(gone) for anchor in built.anchors)
            return [*gone, *built.lines]

        self.view.show(build)
