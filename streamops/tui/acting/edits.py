"""Fields of dead letters as lines to edit, and what was changed as edits of a replay. Pure, and safe for any bytes."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from streamops.model.dead_letters import DeadLetter
from streamops.model.text import name_bytes
from streamops.operations.replay.intent import RESERVED
from streamops.resources.text import safe_bytes
from streamops.resources.units import size

LONGEST: Final = 8 * 1024
NAME_BYTES: Final = 200
ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
BACK: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


class Editable(Struct, frozen=True, kw_only=True):
    r"""One field of some letters.

    Attributes:
        name: Its name.
        label: The name, safe to show.
        text: Its value as it is shown, safe to show; empty where the letters' values differ.
        escaped: Whether line ends, tabs and backslashes stand in it as escapes: ``\n``, ``\t``, ``\\``.
        kept: Why it cannot be edited; empty where it can.
        hint: What has to be known about it.
    """

    name: bytes
    label: str
    text: str = ""
    escaped: bool = False
    kept: str = ""
    hint: str = ""

    def edit(self, text: str) -> tuple[bytes, bytes] | None:
        """The edit that a text stands for; none where nothing was changed, or it cannot be.

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
    """A value as text that can be shown and typed, but for line ends and tabs; none where it is none."""
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
