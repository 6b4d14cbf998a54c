"""The console's keys by the names of what they do, and what a configuration may make of them. Pure.

The console's own bindings carry these names; a test holds the two together. Kept here because a configuration is judged
where nothing of the console is imported.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import Flag, auto
from typing import Final, NamedTuple

from streamops.model.removed import removed_hint


class Where(Flag):
    """Where a key means something. Keys of one place may not be another's there."""

    LIST = auto()
    MARKS = auto()
    TEXT = auto()
    ENTRY = auto()
    LETTERS = auto()
    JOBS = auto()
    AUDIT = auto()
    GROUP = auto()
    TOPIC = auto()
    POOL = auto()
    COLUMNS = auto()
    SEARCH = auto()
    TRACE = auto()
    CHARTS = auto()
    LISTS = LIST | MARKS | LETTERS | JOBS | AUDIT | GROUP | TOPIC | POOL | SEARCH
    EVERYWHERE = LISTS | CHARTS | TEXT | ENTRY | COLUMNS | TRACE


class Key(NamedTuple):
    """What is pressed for something.

    Attributes:
        keys: The keys, as Textual names them, several with commas.
        where: Where.
    """

    keys: str
    where: Where


PLANS: Final = "ACDELNOPRSTWX"
"""The capitals that open a plan."""
_ALL: Final = Where.EVERYWHERE
_LISTS: Final = Where.LISTS
KEYS: Final[Mapping[str, Key]] = {
    "quit": Key("q", _ALL),
    "help": Key("question_mark", _ALL),
    "back": Key("escape", _ALL),
    "go_to": Key("colon", _ALL),
    "pulse": Key("1", _ALL),
    "streams": Key("2", _ALL),
    "groups": Key("3", _ALL),
    "dead_letters": Key("4", _ALL),
    "workers": Key("5", _ALL),
    "alerts": Key("6", _ALL),
    "audit": Key("at,7", _ALL),
    "views": Key("w", _ALL),
    "charts": Key("g", _ALL & ~Where.SEARCH),
    "tail": Key("t", _ALL),
    "trace": Key("a", _ALL),
    "search": Key("s", _ALL),
    "letters_of": Key("d", _ALL & ~Where.ENTRY),
    "accept_server": Key("ctrl+y", _ALL),
    "read_now": Key("r", _ALL),
    "freeze": Key("p", _ALL),
    "slower": Key("plus", _ALL),
    "faster": Key("minus", _ALL),
    "copy_id": Key("y", _ALL),
    "copy_command": Key("c", _ALL),
    "up": Key("up,k", _ALL),
    "down": Key("down,j", _ALL),
    "page_up": Key("pageup", _ALL),
    "page_down": Key("pagedown", _ALL),
    "first": Key("home", _ALL),
    "last": Key("end", _ALL),
    "open": Key("enter", _ALL & ~Where.TRACE),
    "trace.entry": Key("enter", Where.TRACE),
    "filter": Key("slash", _LISTS),
    "find": Key("slash", Where.ENTRY),
    "next": Key("n", _LISTS | Where.ENTRY),
    "previous": Key("b", _LISTS | Where.ENTRY),
    "faults": Key("f", _LISTS),
    "sort": Key("o", _LISTS),
    "invert": Key("i", _LISTS),
    "headings": Key("h", _LISTS),
    "show_or_hide": Key("space", Where.COLUMNS),
    "own_columns": Key("u", Where.COLUMNS),
    "mark": Key("space", Where.MARKS),
    "mark_all": Key("asterisk", Where.MARKS),
    "mark_others": Key("exclamation_mark", Where.MARKS),
    "unmark": Key("u", Where.MARKS),
    "pending": Key("l", Where.GROUP),
    "waiting": Key("l", Where.TOPIC),
    "pool.group": Key("l", Where.POOL),
    "go_on": Key("g", Where.SEARCH),
    "raw": Key("v", Where.ENTRY),
    "decode": Key("d", Where.ENTRY),
    "next_field": Key("tab", Where.ENTRY),
    "previous_field": Key("shift+tab", Where.ENTRY),
    "copy_value": Key("x", Where.ENTRY),
    "copy_entry": Key("e", Where.ENTRY),
    "where": Key("equals_sign", Where.LETTERS),
    "resume": Key("R", Where.JOBS),
    "stop": Key("X", Where.JOBS),
    "span_less": Key("left,h", Where.CHARTS),
    "span_more": Key("right,l", Where.CHARTS),
    "undo": Key("z", _ALL),
    **{f"plan.{letter}": Key(letter, _ALL & ~Where.JOBS) for letter in PLANS},
}
FIXED: Final = frozenset({"ctrl+q", "ctrl+c", "ctrl+p"})
"""Keys that always do what they do: leave, and the palette."""
CHARACTERS: Final = {
    " ": "space", "!": "exclamation_mark", "#": "number_sign", "%": "percent_sign", "&": "ampersand", "'": "apostrophe",
    "(": "left_parenthesis", ")": "right_parenthesis", "*": "asterisk", "+": "plus", "-": "minus", ".": "full_stop",
    "/": "slash", ":": "colon", ";": "semicolon", "<": "less_than_sign", "=": "equals_sign", ">": "greater_than_sign",
    "?": "question_mark", "@": "at", "[": "left_square_bracket", "\\": "backslash", "]": "right_square_bracket",
    "^": "circumflex_accent", "_": "underscore", "`": "grave_accent", "{": "left_curly_bracket", "|": "vertical_line",
    "}": "right_curly_bracket", "~": "tilde", '"': "quotation_mark", "$": "dollar_sign",
}  # fmt: skip
"""How Textual names the keys of characters; letters and digits are their own names."""
_SIGNS: Final = {name: character for character, name in CHARACTERS.items() if character != " "}


def key_names(written: str) -> tuple[str, ...]:
    """The keys that somebody wrote with commas between, as Textual names them."""
    return tuple(CHARACTERS.get(key.strip(), key.strip()) for key in written.split(",") if key.strip())


def shown_keys(name: str, keymap: Mapping[str, str]) -> str:
    """The keys that do something, as a line of help shows them."""
    keys = key_names(keymap.get(name, KEYS[name].keys))
    return " ".join(_SIGNS.get(key, key) for key in keys)


def keymap_problems(keymap: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with keys of a configuration: names that do not exist, no key at all, two things on one key."""
    for name, written in keymap.items():
        if name not in KEYS:
            yield f"nothing is named {name!r}" + _unknown_hint(name)
        elif not key_names(written):
            yield f"{name}: no key"
        for key in set(key_names(written)) & FIXED:
            yield f"{name}: {key} cannot be given another meaning"
    yield from _clashes({name: keys for name, keys in keymap.items() if name in KEYS})


def _unknown_hint(name: str) -> str:
    if removed := removed_hint(f"console.keymap.{name}"):
        return f". {removed}"
    close = get_close_matches(name, KEYS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _clashes(keymap: Mapping[str, str]) -> Iterator[str]:
    pressed = {name: frozenset(key_names(keymap.get(name, key.keys))) for name, key in KEYS.items()}
    told = set()
    for name in keymap:
        for other, keys in pressed.items():
            both = pressed[name] & keys
            if other != name and both and KEYS[name].where & KEYS[other].where and (other, name) not in told:
                told.add((name, other))
                yield f"{min(both)} would mean both {name!r} and {other!r}"
