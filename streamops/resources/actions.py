"""What a key of the console does: one row makes the binding, its hint, its line of help and of the palette. Pure.

Light, because a configuration's keymap is judged by it where nothing of the console is imported.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import Flag, StrEnum, auto
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


class HelpTopic(StrEnum):
    """What help lists an action under."""

    MOVE = "Move"
    GO = "Go to"
    FIND = "Find"
    LOOK = "Look"
    ACT = "Act"


class ConsoleAction(NamedTuple):
    """One thing that can be done with a key, or from the palette alone.

    Attributes:
        name: Its name in ``[console.keymap]``.
        keys: The keys, as Textual names them, several with commas; empty for what only the palette has.
        where: Where they mean it.
        topic: What help lists it under.
        word: What it does, in a word or two, for the line at the bottom; those of one word share a line of help.
        help: What it does, in a sentence.
        runs: The action as Textual writes it; its name where empty.
        title: Its name in the command palette; empty if it is not there.
    """

    name: str
    keys: str
    where: Where
    topic: HelpTopic
    word: str
    help: str
    runs: str = ""
    title: str = ""

    @property
    def method(self) -> str:
        """The method that does it, of a screen or of the console."""
        return f"action_{(self.runs or self.name).removeprefix('app.').partition('(')[0]}"


PLANS: Final = "ACDELNOPRSTWX"
"""The capitals that open a plan."""
_ALL: Final = Where.EVERYWHERE
_LISTS: Final = Where.LISTS
_PLAN: Final = {
    "A": "on pending entries: acknowledge; on a pool: pause scaling, resume scaling",
    "C": "claim the pending entries of a dead consumer",
    "D": "delete entries; purge a dead-letter queue or delete a dead letter; cancel a delayed message",
    "E": "on a dead letter: edit, replay",
    "L": "on a pool: limits of its policy",
    "N": "on pending entries: release to the group, for other consumers",
    "O": "on a pool: override its worker count for a time",
    "P": "pause pool, resume pool; on a topic: pause topic, resume topic",
    "R": "replay dead letters; on delayed messages: run now",
    "S": "on a pool: scale it",
    "T": "trim a stream",
    "W": "on a group: rewind it",
    "X": "destroy a group; remove a consumer or a topic; on pending entries: dead letter",
}
ACTIONS: Final[tuple[ConsoleAction, ...]] = (
    ConsoleAction("up", "up,k", _ALL, HelpTopic.MOVE, "move", "up by a row or line"),
    ConsoleAction("down", "down,j", _ALL, HelpTopic.MOVE, "move", "down by a row or line"),
    ConsoleAction("page_up", "pageup", _ALL, HelpTopic.MOVE, "move", "up by a page"),
    ConsoleAction("page_down", "pagedown", _ALL, HelpTopic.MOVE, "move", "down by a page"),
    ConsoleAction("first", "home", _ALL, HelpTopic.MOVE, "move", "to the first"),
    ConsoleAction("last", "end", _ALL, HelpTopic.MOVE, "move", "to the last"),
    ConsoleAction("open", "enter", _ALL & ~Where.TRACE, HelpTopic.MOVE, "open", "open the row: stream, group, consumer, pending entry, entry"),
    ConsoleAction("trace.entry", "enter", Where.TRACE, HelpTopic.MOVE, "the entry", "on a trace: open the entry", "entry"),
    ConsoleAction("back", "escape", _ALL, HelpTopic.MOVE, "back", "go back; first stop what runs, or clear marks and filter"),
    ConsoleAction("overview", "1", _ALL, HelpTopic.GO, "overview", "totals, rates and findings on one page", "go('Overview')", "Overview"),
    ConsoleAction("streams", "2", _ALL, HelpTopic.GO, "streams", "all streams, one row each", "go('Streams')", "All streams"),
    ConsoleAction("groups", "3", _ALL, HelpTopic.GO, "groups", "every stream with every group: the first screen", "root", "All groups"),
    ConsoleAction("dead_letters", "4", _ALL, HelpTopic.GO, "dead letters; again: jobs", "all dead-letter queues, with the reasons; again: jobs", "go('DeadLetters', 'Jobs')", "Dead letters"),
    ConsoleAction("jobs", "", _ALL, HelpTopic.GO, "jobs", "running, interrupted and finished jobs (4 4)", "go('Jobs')", "Jobs"),
    ConsoleAction("workers", "5", _ALL, HelpTopic.GO, "workers; again: pools", "worker processes with a heartbeat; again: pools", "go('Workers', 'Pools')", "Workers"),
    ConsoleAction("pools", "", _ALL, HelpTopic.GO, "pools", "ready and desired workers, and why (5 5)", "go('Pools')", "Pools"),
    ConsoleAction("alerts", "6", _ALL, HelpTopic.GO, "alerts", "findings, since when, and the fix", "go('Alerts')", "Alerts"),
    ConsoleAction("audit", "7,at", _ALL, HelpTopic.GO, "audit log", "who did what, when and why", "go('Audit')", "Audit log"),
    ConsoleAction("delayed", "8", _ALL, HelpTopic.GO, "delayed", "messages that become entries later", "go('DelayedQueues')", "Delayed messages"),
    ConsoleAction("topics", "", _ALL, HelpTopic.GO, "topics", "webhooks that messages are sent to (:topics)", "go('Topics')", "Topics"),
    ConsoleAction("contexts", "", _ALL, HelpTopic.GO, "contexts", "connect to another server (:ctx)", "go('Contexts')", "Contexts"),
    ConsoleAction("views", "w", _ALL, HelpTopic.GO, "saved views", "open a saved view; :save NAME saves this list", "go('Views')", "Saved views"),
    ConsoleAction("go_to", "colon", _ALL, HelpTopic.GO, "go to", "go to: stream [group [consumer]], stream ID, view NAME, ctx NAME, or a screen"),
    ConsoleAction("tail", "t", _ALL, HelpTopic.GO, "tail", "follow the stream under the cursor as entries are added", title="Tail"),
    ConsoleAction("charts", "g", _ALL & ~Where.SEARCH, HelpTopic.GO, "charts", "charts of the group under the cursor, minutes to hours", title="Charts"),
    ConsoleAction("letters_of", "d", _ALL & ~Where.ENTRY, HelpTopic.GO, "its dead letters", "dead letters of the stream under the cursor"),
    ConsoleAction("trace", "a", _ALL, HelpTopic.GO, "its trace", "trace the entry under the cursor"),
    ConsoleAction("pending", "l", Where.GROUP, HelpTopic.GO, "all pending", "in a group: all its pending entries"),
    ConsoleAction("waiting", "l", Where.TOPIC, HelpTopic.GO, "its messages", "on a topic: its messages not sent yet"),
    ConsoleAction("pool.group", "l", Where.POOL, HelpTopic.GO, "its group", "on a pool: its group", "group"),
    ConsoleAction("filter", "slash", _LISTS, HelpTopic.FIND, "filter", "filter: words, !word, lag>1000, idle>5m, health:crit, lag=? for unknown", title="Filter"),
    ConsoleAction("find", "slash", Where.ENTRY, HelpTopic.FIND, "find", "in an entry: find text"),
    ConsoleAction("next", "n", _LISTS | Where.ENTRY, HelpTopic.FIND, "next, previous match", "next match", "match(1)"),
    ConsoleAction("previous", "b", _LISTS | Where.ENTRY, HelpTopic.FIND, "next, previous match", "previous match", "match(-1)"),
    ConsoleAction("faults", "f", _LISTS, HelpTopic.FIND, "faults", "faults only; again: all rows", title="Faults only"),
    ConsoleAction("sort", "o", _LISTS, HelpTopic.FIND, "sort", "sort by the next column", title="Sort by the next column"),
    ConsoleAction("invert", "i", _LISTS, HelpTopic.FIND, "sort", "invert the order", title="Invert the order"),
    ConsoleAction("headings", "h", _LISTS, HelpTopic.FIND, "columns", "columns: sort by any, show and hide", "app.headings", title="Columns"),
    ConsoleAction("search", "s", _ALL, HelpTopic.FIND, "search payloads", "search payloads of the stream: words, or where EXPRESSION", title="Search payloads"),
    ConsoleAction("go_on", "g", Where.SEARCH, HelpTopic.FIND, "continue", "in a search: continue"),
    ConsoleAction("where", "equals_sign", Where.LETTERS, HelpTopic.FIND, "query", "on dead letters: only those that match an expression"),
    ConsoleAction("mark", "space", Where.MARKS, HelpTopic.FIND, "mark", "mark an entry; plans take what is marked, else what a filter shows"),
    ConsoleAction("mark_all", "asterisk", Where.MARKS, HelpTopic.FIND, "mark all, others, none", "mark all shown; again: mark the whole list"),
    ConsoleAction("mark_others", "exclamation_mark", Where.MARKS, HelpTopic.FIND, "mark all, others, none", "invert the marks"),
    ConsoleAction("unmark", "u", Where.MARKS, HelpTopic.FIND, "mark all, others, none", "unmark all"),
    ConsoleAction("show_or_hide", "space", Where.COLUMNS, HelpTopic.FIND, "show or hide", "in columns: show or hide one"),
    ConsoleAction("own_columns", "u", Where.COLUMNS, HelpTopic.FIND, "reset", "in columns: back to default columns and order", "own"),
    ConsoleAction("freeze", "p", _ALL, HelpTopic.LOOK, "freeze", "freeze the screen; again: unfreeze", title="Freeze"),
    ConsoleAction("slower", "plus", _ALL, HelpTopic.LOOK, "refresh slower, faster", "refresh slower: 1, 2, 5, 10, 30 s, off", title="Refresh slower"),
    ConsoleAction("faster", "minus", _ALL, HelpTopic.LOOK, "refresh slower, faster", "refresh faster", title="Refresh faster"),
    ConsoleAction("read_now", "r", _ALL, HelpTopic.LOOK, "read now", "refresh now", title="Read now"),
    ConsoleAction("copy_id", "y", _ALL, HelpTopic.LOOK, "copy ID, command", "copy the ID or name of the row under the cursor", title="Copy ID"),
    ConsoleAction("copy_command", "c", _ALL, HelpTopic.LOOK, "copy ID, command", "copy the equivalent command", title="Copy command"),
    ConsoleAction("raw", "v", Where.ENTRY, HelpTopic.LOOK, "decoded or raw", "on an entry: decoded or raw"),
    ConsoleAction("decode", "d", Where.ENTRY, HelpTopic.LOOK, "other decoder", "in an entry: choose another decoder"),
    ConsoleAction("next_field", "tab", Where.ENTRY, HelpTopic.MOVE, "next, previous field", "in an entry: next field", "part(1)"),
    ConsoleAction("previous_field", "shift+tab", Where.ENTRY, HelpTopic.MOVE, "next, previous field", "in an entry: previous field", "part(-1)"),
    ConsoleAction("copy_value", "x", Where.ENTRY, HelpTopic.LOOK, "copy value, JSON", "in an entry: copy the value"),
    ConsoleAction("save_value", "f", Where.ENTRY, HelpTopic.LOOK, "save to file", "in an entry: save the bytes of the value to a file"),
    ConsoleAction("copy_entry", "e", Where.ENTRY, HelpTopic.LOOK, "copy value, JSON", "in an entry: copy the entry as JSON"),
    ConsoleAction("span_less", "left,h", Where.CHARTS, HelpTopic.LOOK, "span", "on charts: shorter time span", "span(-1)"),
    ConsoleAction("span_more", "right,l", Where.CHARTS, HelpTopic.LOOK, "span", "on charts: longer time span", "span(1)"),
    ConsoleAction("colours", "", _ALL, HelpTopic.LOOK, "colours", "dark, light, colour-blind", "toggle_theme", "Other colours"),
    ConsoleAction("help", "question_mark", _ALL, HelpTopic.LOOK, "help", "keys that work here; again: explain the row and its findings", title="Help"),
    ConsoleAction("quit", "q", _ALL, HelpTopic.LOOK, "quit", "quit, from the first screen; ^q from anywhere", "quit_at_root", "Quit"),
    ConsoleAction("accept_server", "ctrl+y", _ALL, HelpTopic.ACT, "accept the server", "accept the other server, after a restart or replacement"),
    ConsoleAction("skip_guide", "ctrl+g", _ALL, HelpTopic.LOOK, "skip the guide", "skip the demo's guided minute"),
    ConsoleAction("resume", "R", Where.JOBS, HelpTopic.ACT, "plan the rest", "on a job: plan the rest of it"),
    ConsoleAction("stop", "X", Where.JOBS, HelpTopic.ACT, "stop it", "on a job: stop it, pressed twice"),
    ConsoleAction("undo", "z", _ALL, HelpTopic.ACT, "undo", "plan to undo this console's last action; in the audit log: the action under the cursor"),
    *(
        ConsoleAction(f"plan.{key}", key, _ALL & ~Where.JOBS, HelpTopic.ACT, "plan", f"plan: {_PLAN[key]}", f"act('{key}')")
        for key in PLANS
    ),
)  # fmt: skip
ACTION_OF: Final[Mapping[str, ConsoleAction]] = {action.name: action for action in ACTIONS}
KEYS: Final[Mapping[str, ConsoleAction]] = {action.name: action for action in ACTIONS if action.keys}
"""What has a key, and so may be given another."""
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
SIGNS: Final = {name: character for character, name in CHARACTERS.items() if character != " "}
"""Characters by how Textual names their keys."""


def key_names(written: str) -> tuple[str, ...]:
    """The keys of a comma-separated text, as Textual names them."""
    return tuple(CHARACTERS.get(key.strip(), key.strip()) for key in written.split(",") if key.strip())


def shown_keys(name: str, keymap: Mapping[str, str]) -> str:
    """The keys that do something, as a line of help shows them."""
    keys = key_names(keymap.get(name, KEYS[name].keys))
    return " ".join(SIGNS.get(key, key) for key in keys)


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
